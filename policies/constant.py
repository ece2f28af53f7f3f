"""Policy `constant`: the same action of each agent, whatever it observes.

Its weights are the actions themselves, so that the cube of a search is that of the actions. It
suits tasks whose action is a choice made once, such as an intervention in a causal graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.core.types import Float, Float32
from rolecast.envs.spec import TaskSpec
from rolecast.policies.network import check_shapes
from rolecast.policies.protocol import LanePolicy
from rolecast.policies.space import Block, ParameterSpace


@dataclass(frozen=True, kw_only=True)
class ConstantConfig:
    """Constant action of each agent, whatever it observes; for choices made once."""

    def build(self, task: TaskSpec, seed: int) -> "ConstantPolicy":
        """Return the policy for a task of these sizes; its centre is 0 for every seed."""
        return ConstantPolicy(task, {"seed": seed})


class ConstantPolicy:
    """Policy `constant`; see `rolecast.policies.protocol.Policy`."""

    name = "constant"

    def __init__(self, task: TaskSpec, options: Mapping[str, Any]) -> None:
        self.options = options
        self._sizes = (task.agents, task.observation_size, task.action_size)
        centre = np.zeros(task.agents * task.action_size)
        block = Block(net="action", layer=0, kind="bias", centre=centre, half_range=1.0)
        self.space = ParameterSpace((block,))

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] for weights [P, n da] and observations [P, B, n, do].

        An agent that observes what is no number acts by what is none.

        Raises:
            ValueError: a shape does not fit.
        """
        agents, observed, acted = self._sizes
        weights, observations = check_shapes(
            weights,
            observations,
            parameters=self.space.size,
            agents=agents,
            observation_size=observed,
        )
        actions = weights.reshape(-1, 1, agents, acted)
        return np.asarray(actions + (0.0 * observations).sum(-1, keepdims=True))

    def lanes(self) -> LanePolicy:
        """Return the compiled form."""
        return _ConstantLanes()


class _ConstantLanes:
    """Copies weights to actions."""

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, n da, W]."""
        np.add(
            weights.reshape(actions.shape),
            (np.float32(0.0) * observations).sum(axis=2, keepdims=True),
            out=actions,
        )
