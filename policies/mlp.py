"""Policy `mlp`: one small network, applied by every agent to its own observation.

With one agent it is the single-agent policy of the paper (Table 2, 10-10). With several it is the
team-shared "CTDE" policy of section 5.2 (14-14), without role assignment and interaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.envs.symmetry import Symmetry
from rolecast.policies.network import check_shapes, forward, squashed, unpack
from rolecast.policies.parameterisation import (
    Net,
    Parameterisation,
    PolicySettings,
    net_blocks,
)
from rolecast.policies.protocol import LanePolicy
from rolecast.policies.space import ParameterSpace
from rolecast.policies.symmetry import NetSymmetry, vector_units

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class MlpConfig(PolicySettings):
    """Multi-layer perceptron for each agent, with weights shared by all agents."""

    hidden: Sequence[int] | None = None
    """Widths of the hidden layers; none of them (`[]`) is a linear map, as of policy `linear`.
    None: 10, 10 for one agent, 14, 14 for several."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden is not None and not (
            isinstance(self.hidden, Sequence)
            and not isinstance(self.hidden, str)
            and all(type(width) is int and width > 0 for width in self.hidden)
        ):
            raise ConfigError("MlpConfig.hidden", self.hidden, "integers >= 1, or none")

    def build(self, task: TaskSpec, seed: int) -> "MlpPolicy":
        """Return the policy for a task of these sizes; the seed decides its centre."""
        task = self.informed(task)
        default = (10, 10) if task.agents == 1 else (14, 14)
        hidden = default if self.hidden is None else tuple(self.hidden)
        net = Net(
            name="mlp",
            inputs=tuple(f"obs[{k}]" for k in range(task.observation_size)),
            hidden=hidden,
            outputs=task.action_size,
        )
        gain = 1.0 if task.agents == 1 else 10.0
        settings = self.resolve(task, gain, "symmetric" if task.symmetries else "orthogonal")
        options = {"hidden": list(hidden), **self.recorded(settings, seed)}
        return MlpPolicy(task, net, shared_space(self, task, net, settings, seed), options)


def shared_space(
    owner: PolicySettings, task: TaskSpec, net: Net, settings: Parameterisation, seed: int
) -> ParameterSpace:
    """Return the parameter space of one net that all agents share; `owner` may tie weights."""
    symmetries = [net_symmetry(net, symmetry) for symmetry in task.symmetries]
    blocks = net_blocks(net, settings, np.random.default_rng(seed), symmetries)
    return owner.space(blocks, [symmetry.moved() for symmetry in symmetries])


def net_symmetry(net: Net, symmetry: Symmetry) -> NetSymmetry:
    """Return a symmetry of the net: hidden units are copies of the action."""
    return NetSymmetry(
        inputs=symmetry.observation,
        hidden=tuple(vector_units(symmetry.action, width) for width in net.hidden),
        outputs=symmetry.action,
    )


class MlpPolicy:
    """Policy `mlp`; see `rolecast.policies.protocol.Policy`."""

    name = "mlp"

    def __init__(
        self,
        task: TaskSpec,
        net: Net,
        space: ParameterSpace,
        options: Mapping[str, Any],
    ) -> None:
        self.options = options
        self.agents = task.agents
        self.net, self.space = net, space
        self.output_gain: float = options["output_gain"]
        self.observation_clip: float = options["observation_clip"]

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] for weights [P, D] and observations [P, B, n, do].

        Raises:
            ValueError: a shape does not fit.
        """
        weights, observations = check_shapes(
            weights,
            observations,
            parameters=self.space.size,
            agents=self.agents,
            observation_size=len(self.net.inputs),
        )
        clipped = np.clip(observations, -self.observation_clip, self.observation_clip)
        outputs = forward(unpack(weights, [self.net])[self.net.name], clipped)
        return squashed(outputs, self.output_gain)

    def relaxed_act(self, weights: "Tensor", observations: "Tensor") -> "Tensor":
        """Return actions [S, n, da] for weights [D] and observations [S, n, do].

        The same function as `act`, in torch.
        """
        from rolecast.policies.relaxation import mlp_actions

        return mlp_actions(
            weights,
            observations,
            net=self.net,
            observation_clip=self.observation_clip,
            output_gain=self.output_gain,
        )

    def lanes(self) -> LanePolicy:
        """Return the compiled form."""
        from rolecast.policies.mlp_fused import MlpLanes

        return MlpLanes(
            widths=self.net.widths,
            observation_clip=self.observation_clip,
            output_gain=self.output_gain,
        )
