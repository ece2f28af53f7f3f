"""The networks of COMIX and COVDN: a utility that chooses by search, and a mixer of utilities."""

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from rolecast.baselines.rllib.actor_graph import in_graph, numbers
from rolecast.baselines.rllib.cross_entropy import CrossEntropySettings, best_actions
from rolecast.baselines.rllib.cross_entropy_graph import best_in_graph
from rolecast.baselines.rllib.mixing import mixer_of
from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import mlp
from rolecast.policies.export.onnx.graph import Graph

GREEDY_SEED = 0
"""Of the numbers with which the greedy policy searches; they belong to the policy."""


class COMIXModule(JointModule):
    """The network that acts is the utility: each agent takes the best action it finds in it."""

    def setup(self) -> None:
        """Build the networks, and draw the numbers of the greedy policy."""
        super().setup()
        self.search = CrossEntropySettings(
            samples=self.settings["cem_samples"],
            elites=self.settings["cem_elites"],
            iterations=self.settings["cem_iterations"],
        )
        generator = torch.Generator().manual_seed(GREEDY_SEED)
        numbers = self.search.draw(self.action_size, generator)
        self.register_buffer("greedy_numbers", numbers, persistent=False)

    def build_actor(self) -> nn.Module:
        """Return the utility: [..., do + da] to [..., 1]."""
        return mlp(self.observation_size + self.action_size, self.hidden, 1)

    def build_critics(self) -> nn.Module:
        """Return the mixer."""
        return mixer_of(self)

    def act(
        self, observations: Tensor, actor: nn.Module | None = None, numbers: Tensor | None = None
    ) -> Tensor:
        """Return the best actions [..., n, da] found for observations [..., n, do].

        Args:
            observations: [..., n, do].
            actor: the utility to search; None for the module's own.
            numbers: of the search, from `CrossEntropySettings.draw`; None for those of the greedy
                policy, which never change.
        """
        utility = cast(nn.Sequential, self.actor if actor is None else actor)
        numbers = cast(Tensor, self.greedy_numbers) if numbers is None else numbers
        rows = observations.reshape(-1, self.observation_size)
        first = cast(nn.Linear, utility[0])
        # The first layer's share of an observation is the same for all actions tried on it.
        seen = first.weight[:, : self.observation_size]
        acted = first.weight[:, self.observation_size :]
        with torch.no_grad():
            rest = utility[1:]
            known = torch.addmm(first.bias, rows, seen.T)
            found = best_actions(
                lambda actions: rest(known + actions @ acted.T).squeeze(-1),
                numbers,
                rows=len(rows),
                elites=self.search.elites,
            )
        return found.view(*observations.shape[:-1], self.action_size)

    def act_in_graph(self, graph: Graph, observations: str) -> str:
        """Add the best actions [N, n, da] found for observations [N, n, do] to an ONNX graph."""
        utility = cast(nn.Sequential, self.actor)
        first, size = cast(nn.Linear, utility[0]), self.observation_size
        seen, acted = numbers(first.weight[:, :size].T), numbers(first.weight[:, size:].T)
        known = graph.add("MatMul", observations, graph.constant(seen))
        known = graph.add("Add", known, graph.constant(numbers(first.bias)))
        known = graph.add("Unsqueeze", known, graph.constant(np.array([2])))

        def value(actions: str) -> str:
            """Values [N, n, K, 1] of actions [N, n, K, da]."""
            tried = graph.add("MatMul", actions, graph.constant(acted))
            return in_graph(graph, utility[1:], graph.add("Add", known, tried))

        fixed = numbers(self.greedy_numbers)[:, :, 0]
        return best_in_graph(graph, value, fixed, elites=self.search.elites)

    def explore(
        self, observations: Tensor, memory: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return actions [B, n, da] of a search of their own, with noise on them."""
        numbers = self.search.draw(self.action_size, generator)
        return self.perturbed(self.act(observations, None, numbers), memory, generator)

    def value(
        self,
        observations: Tensor,
        actions: Tensor,
        state: Tensor,
        utility: nn.Module | None = None,
        mixer: nn.Module | None = None,
    ) -> Tensor:
        """Return values [N] of joint actions [N, n, da], given observations [N, n, do].

        Args:
            observations: [N, n, do].
            actions: [N, n, da].
            state: [N, S], which the mixer reads.
            utility: None for the module's own.
            mixer: None for the module's own.
        """
        utility = self.actor if utility is None else utility
        mixer = self.critic if mixer is None else mixer
        utilities = utility(torch.cat((observations, actions), dim=-1)).squeeze(-1)
        value: Tensor = mixer(utilities, state)
        return value
