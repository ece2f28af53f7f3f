"""A found policy in six kinds of spaces: raw observations in, the actions of the search out."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

import rolecast
from rolecast.core.counter_random import folded_seed
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.policies.artefact import save_policy
from rolecast.policies.deployed import DeployedPolicy
from rolecast.policies.registry import make_policy

BOX = spaces.Box(-1.0, 1.0, (3,), np.float32)
ROOMS = {
    "bounded box": (BOX, spaces.Box(*np.array([[-2, 5], [3, 9]], np.float32))),
    "discrete": (BOX, spaces.Discrete(4, start=2)),
    "multi-discrete": (spaces.MultiBinary(3), spaces.MultiDiscrete([2, 3])),
    "dict": (
        spaces.Dict({"place": BOX, "room": spaces.Discrete(3)}),
        spaces.Dict({"gear": spaces.Discrete(3), "steer": spaces.Box(0.0, 9.0, (1,))}),
    ),
}


class Room(gymnasium.Env[Any, Any]):
    """Samples its observations, remembers its actions, and pays their first number."""

    def __init__(self, kind: str) -> None:
        self.observation_space, self.action_space = ROOMS[kind]
        self.taken: list[Any] = []

    def look(self) -> Any:
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        return self.observation_space.sample()

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.taken = []
        return self.look(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.taken.append(action)
        flat: Any = spaces.flatten(self.action_space, action)
        return self.look(), float(flat[0]), len(self.taken) >= 6, False, {}


class Crew(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A pilot and a porter; equal or not, and the porter leaves early."""

    metadata = {"name": "crew"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["pilot", "porter"]  # noqa: RUF012 - the interface's own form

    def __init__(self, *, equal: bool) -> None:
        small = BOX if equal else spaces.Box(-1.0, 1.0, (1,), np.float32)
        choices = spaces.Discrete(3) if equal else spaces.Box(0.0, 4.0, (1,), np.float32)
        self.views = {"pilot": BOX, "porter": small}
        self.acts = {"pilot": spaces.Discrete(3), "porter": choices}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.views[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.acts[agent]

    def look(self) -> dict[str, Any]:
        return {
            a: self.rng.uniform(-1.0, 1.0, self.views[a].shape).astype(np.float32)
            for a in self.agents
        }

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.rng = np.random.default_rng(seed)
        self.agents, self.steps = list(self.possible_agents), 0
        return self.look(), {a: {} for a in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        assert set(actions) == set(self.agents)
        assert all(self.acts[a].contains(action) for a, action in actions.items())
        self.steps += 1
        rewards = {a: float(np.sum(action)) for a, action in actions.items()}
        ended = {a: self.steps >= (2 if a == "porter" else 5) for a in self.agents}
        seen = self.look()
        self.agents = [a for a in self.agents if not ended[a]]
        return seen, rewards, ended, dict.fromkeys(ended, False), {a: {} for a in ended}


CASES: dict[str, Any] = {
    **{kind: (Room, {"kind": kind}) for kind in ROOMS},
    "equal team": (Crew, {"equal": True}),
    "unequal team": (Crew, {"equal": False}),
}


def own_return(policy: Any, env: Any, seed: int) -> float:
    """Return what an ordinary loop earns, with raw observations."""
    total, observation = 0.0, env.reset(seed=seed)[0]
    single, over = isinstance(env, gymnasium.Env), False
    while not over:
        live = None if single else {a: observation[a] for a in env.agents}
        action = policy.step(observation if single else live)
        observation, reward, terminated, truncated, _ = env.step(action)
        total += reward if single else sum(reward.values())
        over = (terminated or truncated) if single else not env.agents
    return total


@pytest.mark.parametrize("case", CASES)
def test_it_earns_in_a_loop_of_ones_own_what_it_earned_in_the_search(
    case: str, tmp_path: Path
) -> None:
    make, options = CASES[case]
    task: Any = make_task(make, **options)
    policy = make_policy("mlp", task, seed=1)
    weights = policy.space.weights(np.random.default_rng(2).random(policy.space.dimension))
    save_policy(tmp_path, policy, weights, task.spec)
    seeds = np.arange(1, 9, dtype=np.uint64)
    observed, total = task.reset(seeds), np.zeros(8)
    done = np.zeros(8, dtype=bool)
    while not done.all():
        observed, reward, done, _ = task.step(policy.act(weights[None], observed[None])[0])
        total += reward
    env = make(**options)
    deployed = rolecast.load_policy(tmp_path).for_env(env)
    earned = [own_return(deployed, env, folded_seed(int(seed))) for seed in seeds]
    np.testing.assert_allclose(earned, total, rtol=1e-6)
    assert len(set(earned)) > 1


def test_an_environment_or_observation_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    task: Any = make_task(Room, kind="dict")
    policy = make_policy("mlp", task, seed=1)
    weights = policy.space.weights(np.full(policy.space.dimension, 0.6))
    save_policy(tmp_path, policy, weights, task.spec)
    loaded = rolecast.load_policy(tmp_path)
    with pytest.raises(RequestError, match=r"\(1, 3, 4\); expected \(1, 6, 4\), as in task"):
        loaded.for_env(Room("discrete"))
    with pytest.raises(RequestError, match=r"made a object; expected a gymnasium\.Env"):
        loaded.for_env(object())
    deployed = loaded.for_env(Room("dict"))
    for wrong in (np.zeros(6), {"place": np.zeros(3)}, {"place": np.zeros(2), "room": 1}):
        with pytest.raises(RequestError, match="observations do not fit the spaces"):
            deployed.step(wrong)


def test_an_observation_that_is_no_number_is_refused(tmp_path: Path) -> None:
    task: Any = make_task(Room, kind="discrete")
    policy = make_policy("mlp", task, seed=1)
    save_policy(tmp_path, policy, policy.space.weights(policy.space.centre), task.spec)
    deployed = rolecast.load_policy(tmp_path).for_env(Room("discrete"))
    with pytest.raises(RequestError, match="NaN or infinite; expected finite numbers"):
        deployed.step(np.array([np.nan, 0.0, 0.0], np.float32))


def test_an_agent_that_is_unknown_is_refused_and_one_at_random_is_not(tmp_path: Path) -> None:
    task: Any = make_task(Crew, equal=True, team="pilot", others="random")
    policy = make_policy("mlp", task, seed=1)
    save_policy(tmp_path, policy, policy.space.weights(policy.space.centre), task.spec)
    deployed = rolecast.load_policy(tmp_path).for_env(Crew(equal=True))
    assert list(deployed.step({"pilot": np.zeros(3), "porter": np.zeros(3)})) == ["pilot"]
    with pytest.raises(RequestError, match="agent of the environment: 'pirate' does not exist"):
        deployed.step({"pilot": np.zeros(3), "pirate": np.zeros(3)})


@pytest.mark.parametrize(
    ("task_id", "agents"),
    [
        ("crew?others=random&team=pilot", ["pilot"]),
        ("python:crew:Crew?others=random&team=pilot", ["pilot"]),
        ("pred_prey_3?others=random&team=pilot", ["pilot", "porter"]),
    ],
)
def test_the_team_of_a_plug_in_is_that_of_its_search(task_id: str, agents: list[str]) -> None:
    spec = TaskSpec(id=task_id, agents=len(agents), observation_size=3, action_size=3, horizon=5)
    assert DeployedPolicy(np.zeros_like, spec, Crew(equal=True)).agents == agents
