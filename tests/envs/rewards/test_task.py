from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import rolecast
from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RequestError
from rolecast.core.types import Float, Seeds
from rolecast.envs.faces.gymnasium_vector import make_vector_env
from rolecast.envs.faces.pettingzoo import TaskEnv
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.registry import make_env, make_task
from rolecast.envs.rewards.settings import RewardSettings
from rolecast.envs.rewards.task import RAW_REWARD, RewardTask, unwrapped, with_rewards
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import TaskSpec
from tests.envs.rewards.conftest import Ledger

SEEDS = np.arange(3, dtype=np.uint64)


class Corridor(gymnasium.Env[Any, Any]):
    """Pays 1 a step; has options that are named as reward settings are."""

    observation_space = spaces.Box(-1.0, 1.0, (1,))
    action_space = spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, length: int = 4, noise: float = 0.0, horizon: int = 0) -> None:
        self.length, self.noise, self.horizon = length, noise, horizon

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.left = self.length
        return np.full(1, self.noise), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        return np.full(1, self.noise), 1.0, self.left == 0, False, {}


def play(task: Any, steps: int, batch: int) -> tuple[Float, Float]:
    """Return rewards paid and earned [T, B]."""
    task.reset(np.arange(batch, dtype=np.uint64))
    spec, rng = task.spec, np.random.default_rng(2)
    told = []
    for _ in range(steps):
        actions = rng.uniform(-1.0, 1.0, (batch, spec.agents, spec.action_size))
        _, paid, _, metrics = task.step(actions)
        told.append((paid, metrics.get(RAW_REWARD, paid)))
    paid, raw = (np.array(column) for column in zip(*told, strict=True))
    return paid, raw


def test_a_step_pays_the_observed_reward_and_tells_the_raw_one() -> None:
    ledger = Ledger([[1, 2, 4, 8, 16], [1, 2, 4, 8, 16]], np.array([5, 3]))
    task = with_rewards(ledger, RewardSettings(sparse=2, delay=1, flush_on_end=True))
    task.reset(SEEDS[:2])
    told = [task.step(np.zeros((2, 1, 1))) for _ in range(5)]
    paid = [step[1].tolist() for step in told]
    assert paid == [[0, 0], [1, 1], [0, 6], [6, 0], [24, 0]]
    assert [step[3][RAW_REWARD].tolist() for step in told] == [
        [1, 1],
        [2, 2],
        [4, 4],
        [8, 0],
        [16, 0],
    ]
    assert told[0][3]["page"].tolist() == [2, 2]
    assert [step[2].tolist() for step in told][-1] == [True, True]


def test_a_new_episode_owes_nothing_of_the_last_one() -> None:
    task = make_task("pred_prey_3", sparse=3, delay=4, noise=1.0)
    first, _ = play(task, 10, 3)
    np.testing.assert_array_equal(play(task, 10, 3)[0], first)


@pytest.mark.parametrize(
    ("task_id", "options", "expected"),
    [
        ("pred_prey_3?sparse=50&delay=20", {}, "pred_prey_3?delay=20&sparse=50"),
        ("pred_prey_3", {"sparse": 50, "delay": 20}, "pred_prey_3?delay=20&sparse=50"),
        ("pred_prey_3?sparse=2", {"sparse": 7}, "pred_prey_3?sparse=7"),
        ("pred_prey_3?sparse=2", {"sparse": 1}, "pred_prey_3"),
        ("pred_prey_3?sparse=1&delay=0&flip=0&flush_on_end=true", {}, "pred_prey_3"),
        (
            "pred_prey_3?observation=full&noise=1&flush_on_end=true",
            {},
            "pred_prey_3?flush_on_end=true&noise=1.0&observation=full",
        ),
        (
            "gym:Pendulum-v1?g=9.81&horizon=50",
            {"delay": 3, "drop": 0.1},
            "gym:Pendulum-v1?delay=3&drop=0.1&g=9.81&horizon=50",
        ),
        (
            "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true&sparse=5",
            {},
            "pettingzoo:mpe2.simple_spread_v3?N=3&continuous_actions=true&sparse=5",
        ),
        (
            f"python:{__name__}:Corridor?horizon=9&env.noise=0.5&noise=0.25&env.horizon=3",
            {},
            f"python:{__name__}:Corridor?env.horizon=3&env.noise=0.5&horizon=9&noise=0.25",
        ),
    ],
)
def test_the_id_holds_the_settings_in_order(
    task_id: str, options: dict[str, Any], expected: str
) -> None:
    task = rolecast.make_task(task_id, **options)
    assert task.spec.id == expected
    again = make_task(expected)
    assert again.spec == task.spec
    assert isinstance(again, RewardTask) == isinstance(task, RewardTask)
    np.testing.assert_array_equal(play(task, 5, 2), play(again, 5, 2))


def test_a_function_of_a_user_has_reward_settings_and_keeps_its_own_options() -> None:
    task = make_task(Corridor, horizon=9, length=6, delay=2, **{"env.noise": 0.5})
    assert task.reset(SEEDS).ravel().tolist() == [0.5] * 3
    paid, raw = play(task, 7, 1)
    assert paid.ravel().tolist() == [0, 0, 1, 1, 1, 1, 0]
    assert raw.ravel().tolist() == [1, 1, 1, 1, 1, 1, 0]


def test_an_option_given_to_the_environment_twice_is_refused() -> None:
    with pytest.raises(RequestError, match=r"'length' of task .* is given twice"):
        make_task(Corridor, horizon=9, length=6, **{"env.length": 6})


@pytest.mark.parametrize("option", ["sparse", "delay"])
def test_a_negative_setting_is_refused_in_an_id(option: str) -> None:
    with pytest.raises(RequestError, match=f"RewardSettings.{option} is -1; expected an integer"):
        make_task(f"pred_prey_3?{option}=-1")


def test_settings_on_top_of_settings_are_refused() -> None:
    with pytest.raises(RequestError, match="has reward settings already"):
        make_task(lambda: make_task("pred_prey_3", sparse=2), delay=1)


@pytest.mark.parametrize("horizon", [0, -3])
def test_a_task_without_steps_is_refused(horizon: int) -> None:
    class Empty(Ledger):
        def __init__(self) -> None:
            super().__init__([[1.0]])
            self.horizon = horizon

    with pytest.raises(
        RequestError, match=rf"horizon of .* is {horizon}; expected an integer >= 1"
    ):
        make_task(Empty)
    with pytest.raises(
        RequestError, match=rf"horizon of .* is {horizon}; expected an integer >= 1"
    ):
        make_task(Corridor, horizon=horizon)


def test_the_vector_face_pays_as_single_environments_do() -> None:
    """Through ends of episodes, after which they begin anew one by one."""
    options: Any = {"sparse": 3, "delay": 1, "noise": 0.1, "flush_on_end": True, "horizon": 9}
    envs = make_vector_env("hopper", 2, **options)
    singles = [make_env("hopper", **options) for _ in range(2)]
    envs.reset(seed=[1, 2])
    rng, paid = np.random.default_rng(0), 0.0
    for single, seed in zip(singles, (1, 2), strict=True):
        single.reset(seed=seed)
    for step in range(25):
        actions = rng.uniform(-1.0, 1.0, (2, 3))
        _, rewards, _, _, infos = envs.step(actions)
        for index, single in enumerate(singles):
            if step % 10 == 9:
                single.reset()
                assert rewards[index] == 0.0
                continue
            _, reward, _, _, info = single.step(actions[index])
            assert reward == rewards[index]
            assert info[RAW_REWARD] == infos[RAW_REWARD][index]
            paid += abs(reward)
    assert paid > 0.0


def test_without_settings_there_is_nothing_between_task_and_user() -> None:
    assert type(make_task("pred_prey_3", sparse=1, flush_on_end=True)) is PredatorPreyTask


def test_what_lies_below_is_in_reach() -> None:
    task: Any = make_task("pred_prey_3", sparse=5)
    assert isinstance(unwrapped(task), PredatorPreyTask)
    assert task.positions is task.unwrapped.positions
    task.reset(SEEDS)
    assert task.frame().dtype == np.uint8
    assert not hasattr(make_task("gym:Pendulum-v1", sparse=5), "lanes")
    with pytest.raises(AttributeError):
        task.nothing_of_this_name  # noqa: B018 - what is tested


def test_a_step_before_the_reset_is_refused() -> None:
    task = make_task("pred_prey_3", sparse=5)
    with pytest.raises(RequestError, match="was stepped before its reset"):
        task.step(np.zeros((1, 3, 2)))
    task.reset(SEEDS)
    task.close()
    with pytest.raises(RequestError, match="was stepped before its reset"):
        task.step(np.zeros((3, 3, 2)))


@given(sparse=st.integers(1, 9), delay=st.integers(0, 9), flush=st.booleans())
def test_both_faces_pay_as_the_batched_task_does(sparse: int, delay: int, flush: bool) -> None:
    settings: Any = {"sparse": sparse, "delay": delay, "flush_on_end": flush, "horizon": 9}
    alone, team = make_env(Corridor, **settings), TaskEnv(make_task(Corridor, **settings))
    paid, raw = play(make_task(Corridor, **settings), 4, 1)
    alone.reset(seed=0)
    team.reset(seed=0)
    (name,) = team.possible_agents
    for step in range(4):
        _, reward, *_, info = alone.step(np.zeros(1))
        _, rewards, *_, infos = team.step({name: np.zeros(1)})
        assert reward == rewards[name] == paid[step, 0]
        for told in (info, infos[name]):
            assert told.get(RAW_REWARD, paid[step, 0]) == raw[step, 0]


@pytest.mark.parametrize(
    "settings",
    [
        {"sparse": 5},
        {"delay": 3},
        {"sparse": 4, "delay": 7, "flush_on_end": True},
        {"flip": 0.2, "drop": 0.3},
        {"noise": 0.5, "flip": 0.2, "sparse": 2},
    ],
    ids=str,
)
def test_a_compiled_task_stays_compiled_and_pays_as_the_batched_one(settings: Any) -> None:
    """Wherever float32 has not changed the chase itself, which is in most episodes."""
    task: Any = make_task("pred_prey_3", **settings)
    seeds = np.arange(64, dtype=np.uint64)
    keys, episodes = episode_keys(seeds), task.lanes().start(seeds)
    task.reset(seeds)
    earned, total, same = np.zeros(64), np.zeros(64), np.ones(64, dtype=np.bool_)
    for step in range(25):
        actions = SCRIPTED["chase"].act(unwrapped(task), keys, step)
        lanes = np.moveaxis(actions.reshape(4, 16, 3, 2), 1, -1).astype(np.float32)
        episodes.advance(np.ascontiguousarray(lanes))
        _, paid, _, metrics = task.step(actions)
        earned, total = earned + metrics[RAW_REWARD], total + paid
        same &= episodes.raw_returns.ravel() == earned
        np.testing.assert_allclose(episodes.rewards.ravel()[same], paid[same], atol=1e-5)
    np.testing.assert_allclose(episodes.returns.ravel()[same], total[same], atol=1e-4)
    assert same.mean() > 0.8
    assert earned[same].mean() > 50.0


def test_what_single_agents_earned_is_hidden_where_the_team_is_paid_otherwise() -> None:
    assert hasattr(make_task("gym:Pendulum-v1"), "agent_rewards")
    assert not hasattr(make_task("gym:Pendulum-v1", sparse=2), "agent_rewards")
    assert hasattr(make_task("gym:Pendulum-v1", sparse=2), "terminated")


class Meter:
    """Pays 1 in each of three steps; restarts episodes, and has a compiled form if asked for."""

    spec = TaskSpec(id="meter", agents=1, observation_size=1, action_size=1, horizon=3)

    def reset(self, seeds: Seeds) -> Float:
        self.steps = np.zeros(len(seeds), dtype=np.int64)
        return np.zeros((len(seeds), 1, 1))

    def restart(self, episodes: Any, seeds: Any) -> Float:
        self.steps[episodes] = 0
        return np.zeros((len(self.steps), 1, 1))

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        live = self.steps < 3
        self.steps += live
        return np.zeros((len(live), 1, 1)), np.where(live, 1.0, 0.0), self.steps >= 3, {}

    def close(self) -> None:
        """Nothing."""


class CompiledMeter(Meter):
    def lanes(self) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize("kind", [Meter, CompiledMeter])
def test_an_episode_that_begins_anew_is_paid_anew(kind: type[Meter]) -> None:
    task: Any = with_rewards(kind(), RewardSettings(delay=1))
    assert hasattr(task, "lanes") == (kind is CompiledMeter)
    task.reset(SEEDS[:2])
    for _ in range(2):
        paid = [task.step(np.zeros((2, 1, 1)))[1].tolist() for _ in range(3)]
        assert paid == [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
        task.restart([0, 1], SEEDS[:2])
