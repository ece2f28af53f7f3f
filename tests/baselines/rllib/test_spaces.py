"""Learners that act by numbers learn in Discrete and unequal spaces, encoded as in searches."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

from rolecast.baselines.methods import METHODS
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    # RLlib, about its own code and about the machine.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

HORIZON = 8
TASK = f"python:{__name__}:Switches"
SMALL: dict[str, Any] = {"size": "small"}


class Switches(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """One agent picks of three, the other sets a lever; each is paid 1 for what it was shown."""

    metadata = {"name": "switches"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["picker", "lever"]  # noqa: RUF012 - the interface's own form

    def __init__(self) -> None:
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(3) if agent == "picker" else spaces.Box(0.0, 1.0, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(3) if agent == "picker" else spaces.Box(0.0, 1.0, (1,))

    def look(self) -> dict[str, Any]:
        self.shown = int(self.rng.integers(3))
        self.level = float(self.rng.integers(2))
        return {"picker": self.shown, "lever": np.array([self.level], np.float32)}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.rng, self.steps = np.random.default_rng(seed), 0
        self.agents = list(self.possible_agents)
        return self.look(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.steps += 1
        right = abs(float(actions["lever"][0]) - self.level) < 0.5
        rewards = {"picker": float(actions["picker"] == self.shown), "lever": float(right)}
        over = dict.fromkeys(self.agents, self.steps >= HORIZON)
        self.agents = [] if self.steps >= HORIZON else self.agents
        return self.look(), rewards, over, dict.fromkeys(over, False), {a: {} for a in over}


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("maddpg", {"train_batch_size_per_learner": 32, "random_steps": 200}),
        ("mappo", {"train_batch_size_per_learner": 128, "lr": 3e-3, "num_epochs": 8}),
    ],
)
def test_a_learner_earns_more_than_chance(name: str, settings: dict[str, Any]) -> None:
    """Chance, and any action that ignores what is shown, earns 8 (1/3 + 1/2) = 6.7 of 16.

    The deviation of an episode is sqrt(8 (2/9 + 1/4)) = 1.94, that of 50 episodes' mean 0.27. The
    bound is 4.89 of these above chance: a false alarm of 1e-6.
    """
    METHODS[name].check(make_task(TASK).spec, SMALL | settings)
    trial: Any = METHODS[name].start(TASK, SMALL | settings, seed=1, workers=0, env_steps=2000)
    trial.train(2000)
    policy, weights = trial.policy()
    task = make_task(TASK)
    found = rollout(task, policy, weights, np.arange(50))
    trial.close()
    assert found.returns.mean() > 6.667 + 4.89 * 0.275
