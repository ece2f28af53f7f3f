from typing import Any

import numpy as np
import pytest

from rolecast.envs.registry import make_task
from tests.envs.adapters.plain_team import PlainTeam

MEMBERS = 12


class Crew(PlainTeam):
    """Agents whose rewards have no exact sum, so that it depends on the order of adding."""

    possible_agents = [f"sailor_{i}" for i in range(MEMBERS)]  # noqa: RUF012 - its own form
    max_cycles = 5

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.random = np.random.default_rng(seed)
        return super().reset(seed, options)

    def step(self, actions: dict[str, Any]) -> Any:
        self.steps += 1
        acted = list(self.agents)
        over = dict.fromkeys(acted, self.steps >= self.max_cycles)
        if self.steps >= self.max_cycles:
            self.agents = []
        rewards = {agent: float(self.random.normal()) for agent in acted}
        seen = {agent: np.zeros(1) for agent in acted}
        return seen, rewards, dict.fromkeys(acted, False), over, {agent: {} for agent in acted}


@pytest.mark.parametrize("team_reward", ["sum", "mean"])
def test_a_team_of_many_is_paid_the_same_alone_and_beside_others(team_reward: str) -> None:
    seeds = np.arange(16, dtype=np.uint64)
    task = make_task(Crew, team_reward=team_reward)

    def paid(seeds: Any) -> Any:
        task.reset(seeds)
        actions = np.zeros((len(seeds), MEMBERS, 1))
        return np.stack([task.step(actions)[1] for _ in range(Crew.max_cycles)], axis=1)

    alone = np.concatenate([paid(seeds[i : i + 1]) for i in range(16)])
    np.testing.assert_array_equal(alone, paid(seeds))
    of_agents = task.agent_rewards  # type: ignore[attr-defined]  # of an adapted task
    expected = of_agents.sum(axis=1) if team_reward == "sum" else of_agents.mean(axis=1)
    np.testing.assert_allclose(alone[:, -1], expected, rtol=1e-12)
