"""The networks of PPO over joint observations: a policy that all agents share, and a critic."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchDiagGaussian
from ray.rllib.core.rl_module.apis import InferenceOnlyAPI, ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import Tensor, nn

from rolecast.baselines.ppo.normaliser import RunningNormaliser, ValueScale
from rolecast.baselines.rllib.actor_graph import in_graph
from rolecast.baselines.rllib.module import own_action_numbers
from rolecast.baselines.rllib.networks import policy_widths
from rolecast.policies.export.onnx.graph import Graph

QUIET_GAIN: Final = 0.01
"""Gain of the policy's last layer: first actions hardly depend on the observation."""


STATES_COLUMN: Final = "states"
"""Column of a batch for the task's states [..., S]."""


def tanh_layers(widths: Sequence[int], last_gain: float) -> nn.Sequential:
    """Return an MLP with tanh between its layers, orthogonal weights and no biases at first.

    Args:
        widths: of input, hidden layers and output.
        last_gain: of the output layer; the others have sqrt(2).
    """
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(widths)):
        layer = nn.Linear(inputs, outputs)
        last = index == len(widths) - 2
        nn.init.orthogonal_(layer.weight, last_gain if last else float(np.sqrt(2.0)))
        nn.init.zeros_(layer.bias)
        layers += [layer] if last else [layer, nn.Tanh()]
    return nn.Sequential(*layers)


class PPOModule(TorchRLModule, InferenceOnlyAPI, ValueFunctionAPI):
    """Gaussian policy shared by n agents, deviations apart from observations, and its critic.

    Settings (`model_config`): `size`, `hidden`, `paper_hidden`, `critic_hidden`,
    `centralised_critic`, `initial_log_std`, `normalise_observations`, `value_decay`.
    """

    observation_space: Any
    action_space: Any
    model_config: Any

    agents: int
    """n."""

    own_numbers: Tensor | None
    """[n, da], true where a number is no padding; None where none is."""

    def setup(self) -> None:
        """Build the networks for observations [n, do] and actions [n, da]."""
        self.agents, seen = self.observation_space.shape
        acts = self.action_space.shape[1]
        self.register_buffer(
            "own_numbers", own_action_numbers(self.action_space)[1], persistent=False
        )
        settings = self.model_config
        self.centralised = bool(settings["centralised_critic"])
        self.normalise = bool(settings["normalise_observations"])
        self.normaliser = RunningNormaliser(seen)
        told = int(getattr(self.observation_space, "state_size", 0)) if self.centralised else 0
        self.reads_state = told > 0
        if self.reads_state:
            self.state_normaliser = RunningNormaliser(told)
        hidden = settings["hidden"] or policy_widths(
            settings["size"], self.agents, tuple(settings["paper_hidden"])
        )
        self.policy = tanh_layers([seen, *hidden, acts], QUIET_GAIN)
        self.log_std = nn.Parameter(torch.full((acts,), float(settings["initial_log_std"])))
        self.critic = self.new_critic()
        self.value_scale = ValueScale(float(settings["value_decay"]))

    def new_critic(self) -> nn.Sequential:
        """Return a critic: of each agent's observation, or of the state with a value for each.

        The state is the task's, or all observations, laid end to end.
        """
        wide, values = self.observation_space.shape[1], 1
        if self.centralised:
            told = int(getattr(self.observation_space, "state_size", 0))
            wide, values = told or self.agents * wide, self.agents
        free = (400, 400) if self.model_config["size"] == "xl" else (64, 64)
        hidden = self.model_config["critic_hidden"] or free
        return tanh_layers([wide, *hidden, values], 1.0)

    def get_non_inference_attributes(self) -> list[str]:
        """Return what the runners have no use for."""
        unused = ["critic", "value_scale"]
        return [*unused, "state_normaliser"] if self.reads_state else unused

    def see(self, observations: Tensor, states: Tensor) -> None:
        """Take observations [N, do] and states [M, S] into the running means and deviations."""
        self.normaliser.see(observations)
        if self.reads_state:
            self.state_normaliser.see(states)

    def seen(self, observations: Tensor) -> Tensor:
        """Return observations [..., do] as the networks read them."""
        return self.normaliser(observations) if self.normalise else observations

    def distribution_inputs(self, observations: Tensor) -> Tensor:
        """Return means and logarithms of deviations [..., n, 2 da] of observations [..., n, do].

        Numbers that are padding have a normal distribution: no loss then depends on them.
        """
        means = self.policy(self.seen(observations))
        log_stds = self.log_std.expand_as(means)
        if self.own_numbers is not None:
            means = torch.where(self.own_numbers, means, 0.0)
            log_stds = torch.where(self.own_numbers, log_stds, 0.0)
        return torch.cat([means, log_stds], dim=-1)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Return values [..., n] in the critic's own unit, in which the loss compares them."""
        return self.outputs_of(self.critic, batch[Columns.OBS], batch.get(STATES_COLUMN))

    def outputs_of(self, critic: nn.Module, observations: Tensor, states: Tensor | None) -> Tensor:
        """Return a critic's values [..., n].

        Args:
            critic: of `new_critic`.
            observations: [..., n, do].
            states: [..., S], needed where the critic reads the task's state.
        """
        if self.reads_state:
            assert states is not None
            rows = self.state_normaliser(states) if self.normalise else states
            return torch.as_tensor(critic(rows))
        seen = self.seen(observations)
        outputs: Tensor = critic(seen.flatten(start_dim=-2) if self.centralised else seen)
        return outputs if self.centralised else outputs.squeeze(-1)

    def state_values(self, observations: Tensor, states: Tensor | None = None) -> Tensor:
        """Return values [..., n] in the unit of the return; see `outputs_of`."""
        outputs = self.compute_values({Columns.OBS: observations, STATES_COLUMN: states})
        return self.value_scale.from_unit(outputs)

    def acting_modules(self) -> list[nn.Module]:
        """Return the network of the means: the policy's parameters, deviations left out."""
        return [self.policy]

    def acting_layers(self) -> nn.Sequential:
        """Return the network of the greedy policy on raw observations, normalisation folded in."""
        first, *others = self.policy
        return nn.Sequential(self.normaliser.folded(first) if self.normalise else first, *others)

    def act(self, observations: Tensor) -> Tensor:
        """Return greedy actions [..., n, da] in [-1, 1]: the means, clipped as a task would."""
        means: Tensor = self.policy(self.seen(observations))
        return means.clamp(-1.0, 1.0)

    def act_in_graph(self, graph: Graph, observations: str) -> str:
        """Add greedy actions [N, n, da] of observations [N, n, do] to an ONNX graph."""
        means = in_graph(graph, self.acting_layers(), observations)
        return graph.add("Clip", means, graph.constant(-1.0), graph.constant(1.0))

    def _forward_inference(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        with torch.no_grad():
            inputs = self.distribution_inputs(batch[Columns.OBS])
            means = inputs.chunk(2, dim=-1)[0]
            return {Columns.ACTION_DIST_INPUTS: inputs, Columns.ACTIONS: means.clamp(-1.0, 1.0)}

    def _forward_exploration(
        self, batch: dict[str, Any], *, generator: torch.Generator | None = None, **_: Any
    ) -> dict[str, Any]:
        """Draw actions, which tasks clip; unclipped, as their probability is needed."""
        with torch.no_grad():
            inputs = self.distribution_inputs(batch[Columns.OBS])
            means, log_stds = inputs.chunk(2, dim=-1)
            noise = torch.randn(means.shape, generator=generator)
            actions = means + log_stds.exp() * noise
            return {Columns.ACTION_DIST_INPUTS: inputs, Columns.ACTIONS: actions}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.distribution_inputs(batch[Columns.OBS])}

    def get_train_action_dist_cls(self) -> type[TorchDiagGaussian]:
        """Return the class of the actions' distribution."""
        return TorchDiagGaussian

    get_exploration_action_dist_cls = get_train_action_dist_cls
    get_inference_action_dist_cls = get_train_action_dist_cls
