from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

from rolecast.core.counter_random import folded_seed
from rolecast.core.errors import ConfigError, RequestError
from rolecast.envs.registry import make_task

SPREAD = "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true"


class Unequal(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A tall agent (3 numbers, 4 choices) and a small one (2 numbers, 1 number) that leaves."""

    metadata = {"name": "unequal"}  # noqa: RUF012 - the interface's own form
    possible_agents = ["tall", "small"]  # noqa: RUF012 - the interface's own form
    max_cycles = 6

    def __init__(self, leaves_at: int = 2) -> None:
        self.leaves_at = leaves_at
        self.agents: list[str] = []
        self.taken: list[dict[str, Any]] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(-9.0, 9.0, (3 if agent == "tall" else 2,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(4) if agent == "tall" else spaces.Box(0.0, 8.0, (1,))

    def look(self) -> dict[str, Any]:
        sizes = {"tall": 3, "small": 2}
        return {a: np.full(sizes[a], 1.0 + len(self.taken)) for a in self.agents}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.taken = list(self.possible_agents), []
        return self.look(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.taken.append(actions)
        acted, seen = list(self.agents), self.look()
        ended = {a: a == "small" and len(self.taken) >= self.leaves_at for a in acted}
        over = {a: len(self.taken) >= 4 for a in acted}
        rewards = {a: 1.0 if a == "tall" else 10.0 for a in acted}
        self.agents = [a for a in acted if not ended[a] and not over[a]]
        return seen, rewards, ended, over, {a: {} for a in acted}


def test_a_gymnasium_environment_gives_its_own_trajectory() -> None:
    task = make_task("gym:Pendulum-v1")
    assert (task.spec.agents, task.spec.observation_size, task.spec.action_size) == (1, 3, 1)
    env = gymnasium.make("Pendulum-v1", disable_env_checker=True)
    seen = task.reset(np.array([3, 8], dtype=np.uint64))
    np.testing.assert_array_equal(seen[1, 0], env.reset(seed=8)[0])
    for number in (-1.0, 0.25, 0.5):
        seen, reward, done, _ = task.step(np.full((2, 1, 1), number))
        own, earned, *_ = env.step(np.array([2.0 * number], dtype=np.float32))
        np.testing.assert_array_equal(seen[1, 0], own)
        assert reward[1] == earned
        assert not done.any()


def test_a_pettingzoo_environment_pays_the_sum_of_its_agents_or_their_mean() -> None:
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (25, 1, 3, 5))
    paid = {}
    for option in ("", "&team_reward=sum", "&team_reward=mean"):
        task = make_task(SPREAD + option)
        task.reset(np.array([1], dtype=np.uint64))
        paid[option] = [float(task.step(joint)[1][0]) for joint in actions]
    assert paid[""] == paid["&team_reward=sum"]
    np.testing.assert_allclose(paid["&team_reward=mean"], np.array(paid[""]) / 3.0)
    assert min(paid[""]) < 0.0


def test_a_discrete_action_is_the_largest_number() -> None:
    task = make_task("gym:CartPole-v1")
    env = gymnasium.make("CartPole-v1", disable_env_checker=True)
    task.reset(np.array([5], dtype=np.uint64))
    env.reset(seed=5)
    seen, *_ = task.step(np.array([[[0.1, 0.2]]]))
    np.testing.assert_array_equal(seen[0, 0], env.step(1)[0])


def test_a_mujoco_environment_is_a_task() -> None:
    spec = make_task("gym:Hopper-v5").spec
    assert (spec.agents, spec.observation_size, spec.action_size) == (1, 11, 3)
    assert spec.horizon == 1000


def test_an_episode_that_has_ended_waits_for_the_others() -> None:
    task = make_task("gym:CartPole-v1?horizon=30")
    task.reset(np.arange(4, dtype=np.uint64))
    ends, paid = np.zeros(4), np.zeros(4)
    for step in range(30):
        push = np.where(np.arange(4) < 2, 1.0, (-1.0) ** step)  # the first two fall over soon
        _, reward, done, _ = task.step(np.stack([-push, push], axis=-1)[:, None])
        paid += reward
        ends = np.where(done & (ends == 0), step + 1, ends)
    np.testing.assert_array_equal(paid, ends)  # a point for each step lived through, none after
    assert ends[:2].max() < 15
    assert (ends[2:] == 30).all()


def test_unequal_agents_are_padded_and_get_an_id() -> None:
    env = Unequal()
    task = make_task(lambda: env)
    spec = task.spec
    assert (spec.agents, spec.observation_size, spec.action_size, spec.horizon) == (2, 5, 4, 6)
    seen = task.reset(np.zeros(1, dtype=np.uint64))
    np.testing.assert_array_equal(seen[0], [[1, 1, 1, 1, 0], [1, 1, 0, 0, 1]])
    task.step(np.array([[[0.0, 0.0, 0.9, 0.0], [0.5, 1.0, 1.0, 1.0]]]))
    assert env.taken[0]["tall"] == 2
    np.testing.assert_array_equal(env.taken[0]["small"], [6.0])


def test_an_agent_that_has_left_counts_nothing() -> None:
    env = Unequal()
    task = make_task(lambda: env)
    task.reset(np.zeros(1, dtype=np.uint64))
    there: list[list[bool]] = []
    steps = []
    for _ in range(5):
        there.append(task.present[0].tolist())  # type: ignore[attr-defined]  # of an adapted task
        steps.append(task.step(np.zeros((1, 2, 4))))
    assert there == [[True, True]] * 2 + [[True, False]] * 2 + [[False, False]]
    assert [float(reward[0]) for _, reward, _, _ in steps] == [11.0, 11.0, 1.0, 1.0, 0.0]
    assert [bool(done[0]) for _, _, done, _ in steps] == [False, False, False, True, True]
    np.testing.assert_array_equal(steps[2][0][0, 1], 0.0)
    assert list(env.taken[2]) == ["tall"]
    assert len(env.taken) == 4


@pytest.mark.parametrize(
    ("make", "options", "error", "message"),
    [
        (Unequal, {"horizon": 0}, ConfigError, "is 0; expected an integer >= 1"),
        (Unequal, {"team_reward": "max"}, ConfigError, "expected 'sum' or 'mean'"),
    ],
)
def test_wrong_options_are_refused(
    make: Callable[..., object], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make_task(make, **options)


def test_environments_are_made_as_they_are_needed() -> None:
    made: list[Unequal] = []

    def factory() -> Unequal:
        made.append(Unequal())
        return made[-1]

    task = make_task(factory)
    counts = []
    for batch in (1, 5, 2):
        task.reset(np.arange(batch, dtype=np.uint64))
        counts.append(len(made))
    assert counts == [1, 5, 5]


def test_seeds_are_folded_to_what_every_generator_takes() -> None:
    seeds = [0, 7, 2**31 - 1, 2**31, 2**62, 2**63 + 5, 2**64 - 1]
    folded = [folded_seed(seed) for seed in seeds]
    assert folded[:3] == seeds[:3]
    assert all(0 <= seed < 2**31 for seed in folded)
    assert len(set(folded)) == len(seeds)


def test_some_episodes_begin_anew_while_the_others_go_on() -> None:
    task: Any = make_task("gym:Pendulum-v1?horizon=6")
    env = gymnasium.make("Pendulum-v1", disable_env_checker=True)
    push = np.full((3, 1, 1), 0.5)
    task.reset(np.array([3, 8, 4], dtype=np.uint64))
    for _ in range(2):
        task.step(push)
    before = task.step(push)[0]
    seen = task.restart([1], np.array([9], dtype=np.uint64))
    np.testing.assert_array_equal(seen[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(seen[1, 0], env.reset(seed=9)[0])
    done = []
    for _ in range(6):
        seen, _, ended, _ = task.step(push)
        own = env.step(np.array([1.0], dtype=np.float32))[0]
        np.testing.assert_array_equal(seen[1, 0], own)
        done.append(ended.tolist())
    assert done == [[False] * 3] * 2 + [[True, False, True]] * 3 + [[True] * 3]


def test_nothing_begins_anew_before_the_reset() -> None:
    task: Any = make_task("gym:Pendulum-v1")
    with pytest.raises(RequestError, match="before its reset"):
        task.restart([0], np.array([9], dtype=np.uint64))


def test_an_episode_that_fell_terminated_and_one_at_the_horizon_did_not() -> None:
    task: Any = make_task("gym:CartPole-v1?horizon=30")
    task.reset(np.arange(4, dtype=np.uint64))
    for step in range(30):
        assert not (task.terminated & (np.arange(4) >= 2)).any()
        push = np.where(np.arange(4) < 2, 1.0, (-1.0) ** step)  # the first two fall over soon
        done = task.step(np.stack([-push, push], axis=-1)[:, None])[2]
    assert done.all()
    assert task.terminated.tolist() == [True, True, False, False]
    task.restart([0], np.array([0], dtype=np.uint64))
    assert task.terminated.tolist() == [False, True, False, False]


def test_a_team_whose_last_agent_was_cut_off_did_not_terminate() -> None:
    task: Any = make_task(Unequal)
    task.reset(np.zeros(1, dtype=np.uint64))
    for _ in range(4):
        done = task.step(np.zeros((1, 2, 4)))[2]
    assert done.all()
    assert not task.terminated.any()


def test_each_agent_is_told_what_it_was_paid() -> None:
    task: Any = make_task(Unequal)
    task.reset(np.zeros(2, dtype=np.uint64))
    paid = []
    for _ in range(5):
        task.step(np.zeros((2, 2, 4)))
        paid.append(task.agent_rewards[1].tolist())
    assert paid == [[1, 10], [1, 10], [1, 0], [1, 0], [0, 0]]


def test_the_environments_own_spaces_are_told() -> None:
    task: Any = make_task(Unequal, sparse=2)
    assert [act for _, act in task.spaces] == [spaces.Discrete(4), spaces.Box(0.0, 8.0, (1,))]
    assert [see.shape for see, _ in task.spaces] == [(3,), (2,)]
