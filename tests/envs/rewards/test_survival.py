"""Survival bonus: what is paid without it, on this project's robots and on Gymnasium's own."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from rolecast.core.counter_random import folded_seed
from rolecast.core.errors import RequestError, RunError
from rolecast.core.types import Float
from rolecast.envs.adapters.episode import SURVIVAL_INFO
from rolecast.envs.check import check_task
from rolecast.envs.registry import make_env, make_task
from rolecast.envs.rewards.task import RAW_REWARD, survival_bonus, unwrapped

SEEDS = np.arange(4, dtype=np.uint64)

ROBOTS = ("hopper", "walker2d", "ant", "ma_ant_4x2", "manyagent_ant_2")


def played(task: Any, steps: int = 60, seed: int = 3) -> tuple[Float, Float, Float]:
    """Return rewards paid and earned, and the bonus [T, B] in the earned ones."""
    task.reset(SEEDS)
    rng, spec = np.random.default_rng(seed), task.spec
    told = []
    for _ in range(steps):
        actions = rng.uniform(-1.0, 1.0, (SEEDS.size, spec.agents, spec.action_size))
        _, paid, _, metrics = task.step(actions)
        bonus = survival_bonus(unwrapped(task))
        assert bonus is not None
        told.append((paid, metrics.get(RAW_REWARD, paid), bonus))
    paid, raw, bonus = (np.array(column) for column in zip(*told, strict=True))
    return paid, raw, bonus


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_a_robot_is_paid_its_reward_less_the_bonus_and_scored_with_it(
    name: str, share: float
) -> None:
    paid, raw, bonus = played(make_task(name, survival=share))
    assert 0.0 < bonus.sum() < bonus.size  # some fell, and no one is paid after the fall
    np.testing.assert_allclose(paid, raw - (1.0 - share) * bonus, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(raw, played(make_task(name))[0])


def test_gymnasiums_hopper_is_paid_its_return_less_the_bonus_of_its_healthy_steps() -> None:
    """Against Gymnasium's environment, stepped without anything of this project."""
    task, env = make_task("gym:Hopper-v5", survival=0), gymnasium.make("Hopper-v5")
    task.reset(SEEDS[:1])
    env.reset(seed=folded_seed(int(SEEDS[0])))
    rng, paid, earned, healthy = np.random.default_rng(5), 0.0, 0.0, 0
    for _ in range(1000):
        action = rng.uniform(-1.0, 1.0, 3)
        _, reward, done, _ = task.step(action[None, None])
        paid += float(reward[0])
        _, theirs, terminated, truncated, info = env.step(action.astype(np.float32))
        earned, healthy = earned + float(theirs), healthy + int(info[SURVIVAL_INFO] > 0.0)
        assert done[0] == (terminated or truncated)
        if done[0]:
            break
    assert 5 < healthy < 1000
    assert paid == pytest.approx(earned - healthy, abs=1e-9)
    # Nothing more is paid or taken off after the end.
    assert task.step(np.zeros((1, 1, 3)))[1].tolist() == [0.0]


def test_this_projects_hopper_and_gymnasiums_have_the_same_bonus() -> None:
    ours, theirs = make_task("hopper"), make_task("gym:Hopper-v5")
    for task in (ours, theirs):
        paid, raw, bonus = played(task)
        np.testing.assert_array_equal(paid, raw)
        assert set(np.unique(bonus)) == {0.0, 1.0}


def test_the_bonus_is_cut_before_the_sum_the_delay_and_the_noise() -> None:
    plain, raw, bonus = played(make_task("hopper", survival=0.5))
    late, _, _ = played(make_task("hopper", survival=0.5, delay=2))
    np.testing.assert_allclose(late[2:10], plain[:8])
    summed, _, _ = played(make_task("hopper", survival=0.5, sparse=5))
    np.testing.assert_allclose(summed[4], plain[:5].sum(axis=0))
    noisy, _, _ = played(make_task("hopper", survival=0.5, noise=0.1))
    free, _, _ = played(make_task("hopper", noise=0.1))
    np.testing.assert_allclose(free - noisy, 0.5 * bonus, atol=1e-12)
    np.testing.assert_allclose(raw - plain, 0.5 * bonus, atol=1e-12)


@pytest.mark.parametrize("name", ["swimmer", "pred_prey_3", "pettingzoo:mpe2.simple_spread_v3"])
def test_a_task_without_a_bonus_refuses_the_setting(name: str) -> None:
    with pytest.raises(RequestError, match="has no survival bonus; expected survival=1"):
        make_task(name, survival=0)
    assert make_task(name, survival=1).spec.id == name


def test_an_environment_that_does_not_tell_its_bonus_is_refused_when_it_steps() -> None:
    task = make_task("gym:Pendulum-v1", survival=0)
    task.reset(SEEDS)
    with pytest.raises(RunError, match="does not tell its survival bonus; expected a number"):
        task.step(np.zeros((4, 1, 1)))


def test_faces_and_episodes_begun_anew_are_paid_without_the_bonus() -> None:
    env: Any = make_env("hopper?survival=0")
    env.reset(seed=1)
    _, reward, _, _, info = env.step(np.zeros(3))
    assert info[RAW_REWARD] - reward == pytest.approx(1.0)
    task: Any = make_task("hopper", survival=0)
    task.reset(SEEDS[:2])
    task.restart([1], [7])
    _, paid, _, metrics = task.step(np.zeros((2, 1, 3)))
    np.testing.assert_allclose(metrics[RAW_REWARD] - paid, 1.0)


def test_the_check_tells_the_share_that_is_paid() -> None:
    report = check_task("hopper", survival=0)
    payment = next(check for check in report.checks if check.name == "payment")
    assert report.ok
    assert payment.detail.startswith("with survival=0.0 a learner is paid ")
    assert 0 < int(payment.detail.split("paid ")[1].split("%")[0]) < 100
