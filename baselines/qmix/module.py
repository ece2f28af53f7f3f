"""The networks of IQL, VDN and QMIX: a utility of each choice, and a mixer of utilities."""

from typing import Any

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.actor_graph import in_graph
from rolecast.baselines.rllib.mixing import mixer_of
from rolecast.baselines.rllib.module import JointModule
from rolecast.policies.export.onnx.graph import FLOAT_ELEMENTS, Graph


class ChoiceModule(JointModule):
    """The network that acts has a utility for each choice; an agent takes its greatest.

    A choice is an action vector [da] with a 1 at its place, which the task's codec reads as that
    element of its Discrete space.
    """

    def build_critics(self) -> nn.Module:
        """Return the mixer; of independent learners there is none."""
        return nn.Identity() if self.settings["mixer"] == "none" else mixer_of(self)

    def act(self, observations: Tensor, actor: nn.Module | None = None) -> Tensor:
        """Return the greedy choices [..., n, da] for observations [..., n, do]."""
        utilities = (self.actor if actor is None else actor)(observations)
        return self.chosen(utilities.argmax(dim=-1)).to(utilities.dtype)

    def act_in_graph(self, graph: Graph, observations: str) -> str:
        """Add greedy choices [N, n, da] of observations [N, n, do] to an ONNX graph."""
        utilities = in_graph(graph, self.actor, observations)
        choice = graph.add("ArgMax", utilities, axis=2, keepdims=1)
        places = graph.constant(np.arange(self.action_size))
        return graph.add("Cast", graph.add("Equal", choice, places), to=FLOAT_ELEMENTS)

    def chosen(self, choices: Tensor) -> Tensor:
        """Return action vectors [..., da] of choices [...] in 0 to da - 1."""
        return functional.one_hot(choices, self.action_size)

    def exploration_rate(self, step: int | None) -> float:
        """Return epsilon, the share of uniform choices, at an env step of training.

        It falls along a line from 1 to `final_epsilon` in `epsilon_steps`. None is past all steps.
        """
        final, steps = float(self.settings["final_epsilon"]), int(self.settings["epsilon_steps"])
        if step is None or step >= steps:
            return final
        return 1.0 + (final - 1.0) * step / steps

    def _forward_exploration(
        self,
        batch: dict[str, Any],
        *,
        step: int | None = None,
        generator: torch.Generator | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Choose greedily, or with probability epsilon uniformly, each agent for itself."""
        observations = batch[Columns.OBS]
        shape = observations.shape[:-1]
        with torch.no_grad():
            uniform = torch.randint(self.action_size, shape, generator=generator)
            explores = torch.rand(shape, generator=generator) < self.exploration_rate(step)
            greedy = self.act(observations)
            actions = torch.where(
                explores.unsqueeze(-1), self.chosen(uniform).to(greedy.dtype), greedy
            )
            return {Columns.ACTIONS: actions}
