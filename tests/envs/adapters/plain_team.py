"""What teams of PettingZoo in these tests share: spaces of one number, and a reset to zeros."""

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv


class PlainTeam(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """Agents that see and choose one number; `step` is the inheriting class's."""

    metadata = {"name": "plain"}  # noqa: RUF012 - the interface's own form
    possible_agents: list[str]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-1.0, 1.0, (1,))

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.steps = list(self.possible_agents), 0
        return {agent: np.zeros(1) for agent in self.agents}, {}
