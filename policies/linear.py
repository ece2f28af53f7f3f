"""Policy `linear`: one linear map of its own observation, shared by all agents.

The policy of augmented random search (Mania, Guy and Recht 2018), which walks with some hundred
weights. Differs: there are biases, and the action is tanh(gain (W o + b)) rather than clipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from rolecast.envs.spec import TaskSpec
from rolecast.policies.mlp import MlpPolicy, shared_space
from rolecast.policies.parameterisation import LINEAR_RANGES, Net, PolicySettings

SINGLE_AGENT_HINTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "outcome_transform": "none",
        "restart_at_centre": False,
        "batch_plan": (1, 8),
    }
)
"""Settings of a search of one agent's few weights (docs/notebook/2026-11-robots.md)."""

HOPPER_RADIUS: Final = 0.2
HOPPER_DIMENSION: Final = 36
"""Radius of the first candidates on a hopper, in sides of the cube, and its weights.

It is in proportion to 1 / sqrt(D): 0.28 for the 18 weights of a swimmer, 0.12 for the 108 of a
walker, which falls in wider clouds.
"""

LONG_BUDGET_EPISODES: Final = 25
LONG_BUDGET_STARTS: Final = 4
"""Budget, in episodes of full length for each weight, from which on there are several starts.

A hopper of 36 weights gains with 28 of them, and does not with 7.
"""


@dataclass(frozen=True, kw_only=True)
class LinearConfig(PolicySettings):
    """Linear map of each agent's observation, with weights shared by all agents."""

    normalise_share: float = 0.3
    """Share of the budget, in (0, 1], whose observations `normalise` counts; then it stays."""

    def build(self, task: TaskSpec, seed: int) -> "LinearPolicy":
        """Return the policy for a task of these sizes; its centre is 0 for every seed."""
        task = self.informed(task)
        net = Net(
            name="linear",
            inputs=tuple(f"obs[{k}]" for k in range(task.observation_size)),
            hidden=(),
            outputs=task.action_size,
        )
        settings = self.resolve(task, 1.0 if task.agents == 1 else 10.0, "zero", LINEAR_RANGES)
        space = shared_space(self, task, net, settings, seed)
        return LinearPolicy(task, net, space, self.recorded(settings, seed))


class LinearPolicy(MlpPolicy):
    """Policy `linear`: an MLP without hidden layers; see `rolecast.policies.protocol.Policy`."""

    name = "linear"

    @property
    def search_hints(self) -> Mapping[str, Any]:
        """Settings for one agent; each weight is a relevance group of its own."""
        if self.agents > 1:
            return {}
        dimension = self.space.dimension
        return {
            **SINGLE_AGENT_HINTS,
            "groups": tuple(range(dimension)),
            "radius": HOPPER_RADIUS * (HOPPER_DIMENSION / dimension) ** 0.5,
        }

    def budget_hints(self, budget_episodes: int) -> Mapping[str, Any]:
        """Return several starts where a budget is long enough for them, and one agent acts."""
        least = LONG_BUDGET_EPISODES * self.space.dimension
        if self.agents > 1 or budget_episodes < least:
            return {}
        return {"starts": LONG_BUDGET_STARTS}
