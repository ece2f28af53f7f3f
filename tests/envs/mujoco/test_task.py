import dataclasses
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.core.types import Float
from rolecast.envs.check import check_task
from rolecast.envs.mujoco.catalogue import DIVIDED_BODIES, NAMED_TASKS
from rolecast.envs.registry import make_env, make_task
from rolecast.policies.registry import make_policy

SEEDS = np.array([5, 2**63 + 1, 17, 5], dtype=np.uint64)
MANY = [*DIVIDED_BODIES, "manyagent_ant_3", "manyagent_swimmer_4"]


def play(task: Any, seeds: np.ndarray, actions: Float) -> list[np.ndarray]:
    """Observations, rewards and ends of all steps; actions [T, B, n, da]."""
    met = [task.reset(seeds)]
    for joint in actions:
        met += task.step(joint)[:3]
    return met


def random_actions(task: Any, steps: int, batch: int) -> Float:
    shape = (steps, batch, task.spec.agents, task.spec.action_size)
    return np.random.default_rng(0).uniform(-1.0, 1.0, shape)


@pytest.mark.parametrize("task_id", ["walker2d", "ma_ant_4x2", "manyagent_swimmer_4"])
def test_an_episode_is_the_same_alone_beside_others_and_on_any_number_of_threads(
    task_id: str,
) -> None:
    task, threaded = make_task(task_id, threads=1), make_task(task_id, threads=3)
    actions = random_actions(task, 40, 4)
    actions[:, 3] = actions[:, 0]  # the same seed: the same episode
    together = play(task, SEEDS, actions)
    for one, other in zip(together, play(threaded, SEEDS, actions), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one[0], one[3])
    for index in range(3):
        alone = play(task, SEEDS[[index]], actions[:, [index]])
        for one, among in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one[0], among[index])
    threaded.close()


def test_the_starts_of_different_seeds_differ() -> None:
    starts = make_task("ant").reset(SEEDS)
    assert len(np.unique(starts[:, 0], axis=0)) == 3


def test_an_episode_that_has_ended_stands_still_and_costs_no_simulation() -> None:
    task: Any = make_task("hopper", horizon=60)
    last, done = task.reset(SEEDS), np.zeros(4, dtype=bool)
    for _ in range(60):
        times = [task._pool.data(episode).time for episode in range(4)]
        rested = done
        observations, reward, done, metrics = task.step(np.ones((4, 1, 3)))
        assert done[rested].all()
        np.testing.assert_array_equal(reward[rested], 0.0)
        np.testing.assert_array_equal(metrics["distance"][rested], 0.0)
        np.testing.assert_array_equal(observations[rested], last[rested])
        for episode in np.flatnonzero(rested).tolist():
            assert task._pool.data(episode).time == times[episode]
        last = observations
    assert done.all()
    assert task._pool.steps.max() < 60  # full force throws it over


def test_episodes_end_at_the_horizon() -> None:
    task: Any = make_task("swimmer", horizon=5)
    assert task.spec.id == "swimmer?horizon=5"
    task.reset(SEEDS[:2])
    done = [task.step(np.zeros((2, 1, 2)))[2].all() for _ in range(6)]
    assert done == [False] * 4 + [True] * 2


def test_the_distance_is_what_the_forward_reward_pays_for() -> None:
    task: Any = make_task("swimmer")
    task.reset(SEEDS[:1])
    for actions in random_actions(task, 20, 1):
        _, reward, _, metrics = task.step(actions)
        cost = 1e-4 * np.square(actions).sum()
        assert reward[0] == pytest.approx(metrics["distance"][0] / 0.04 - cost, abs=1e-12)


def test_some_episodes_begin_anew_while_the_others_go_on() -> None:
    task: Any = make_task("swimmer", horizon=4)
    kept: Any = make_task("swimmer", horizon=4)
    task.reset(SEEDS[:3])
    kept.reset(SEEDS[:3])
    for joint in random_actions(task, 2, 3):
        task.step(joint)
        kept.step(joint)
    fresh = task.restart([1], np.array([99], dtype=np.uint64))
    np.testing.assert_array_equal(fresh[1], make_task("swimmer").reset(np.array([99]))[0])
    joint = np.full((3, 1, 2), 0.3)
    went_on, expected = task.step(joint), kept.step(joint)
    for index in (0, 2):
        np.testing.assert_array_equal(went_on[0][index], expected[0][index])
    assert task.step(joint)[2].tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("task_id", "observation", "action"),
    [
        ("ant", 27, 8),
        ("hopper", 11, 3),
        ("swimmer", 8, 2),
        ("walker2d", 17, 6),
        ("ma_ant_4x2", 42, 2),
        ("ma_hopper_3x1", 9, 1),
        ("ma_swimmer_2x1", 6, 1),
        ("ma_walker2d_2x3", 12, 3),
        ("manyagent_ant_6", 63, 4),
        ("manyagent_swimmer_6", 4, 1),
    ],
)
def test_agents_see_and_do_as_much_as_in_the_references(
    task_id: str, observation: int, action: int
) -> None:
    spec = make_task(task_id).spec
    assert (spec.observation_size, spec.action_size, spec.horizon) == (observation, action, 1000)


@pytest.mark.parametrize(
    ("task_id", "count"),
    [
        ("ant", 478),
        ("hopper", 263),
        ("swimmer", 222),
        ("walker2d", 356),
        ("ma_ant_4x2?obs=own", 310),
        ("ma_hopper_3x1?obs=own", 267),
        ("ma_swimmer_2x1?obs=own", 267),
        ("ma_walker2d_2x3?obs=own", 353),
        ("manyagent_swimmer_4?obs=own", 267),
        ("manyagent_swimmer_12?obs=own", 267),
        ("manyagent_ant_8?obs=own", 396),
        ("manyagent_ant_16?obs=own", 396),
    ],
)
def test_an_mlp_has_as_many_parameters_as_tables_2_and_3_of_the_paper_say(
    task_id: str, count: int
) -> None:
    assert make_policy("mlp", make_task(task_id)).space.size == count


@pytest.mark.parametrize(
    ("task_id", "count"),
    [
        ("manyagent_swimmer_4?obs=own", 216),
        ("manyagent_swimmer_8?obs=own", 244),
        ("manyagent_ant_8?obs=own", 406),
        ("manyagent_ant_12?obs=own", 434),
        ("manyagent_ant_16?obs=own", 434),
    ],
)
def test_hom_has_as_many_parameters_as_table_3_of_the_paper_says(task_id: str, count: int) -> None:
    policy = make_policy("hom", make_task(task_id), parameterisation="table3")
    assert policy.space.size == count


@pytest.mark.parametrize("task_id", MANY)
def test_tasks_of_many_agents_pass_the_tests_of_pettingzoo(task_id: str) -> None:
    parallel_api_test(make_env(task_id), num_cycles=30)
    parallel_seed_test(lambda: make_env(task_id), num_cycles=10)


@pytest.mark.parametrize("task_id", ["hopper", "ma_walker2d_2x3"])
def test_tasks_keep_the_contract_as_the_checker_sees_it(task_id: str) -> None:
    report = check_task(task_id, horizon=30)
    assert report.ok, report


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("manyagent_ant_1", "N of task 'manyagent_ant_N' is 1; expected an integer >= 2"),
        ("manyagent_swimmer_0", "N of task 'manyagent_swimmer_N' is 0; expected an integer >= 2"),
        ("ant?horizon=0", "horizon of task 'ant' is 0; expected an integer >= 1"),
        ("hopper?horizon=2.5", "horizon of task 'hopper' is 2.5; expected an integer >= 1"),
        ("ma_ant_4x2?obs=owm", "obs 'owm' does not exist; did you mean 'own'?"),
        ("ma_ant_4x3", "did you mean 'ma_ant_4x2'?"),
        ("ant?threads=0", "threads is 0; expected an integer >= 1, or None"),
        ("ant?legs=5", "option of task 'ant': 'legs' does not exist"),
    ],
)
def test_a_wrong_id_is_refused_in_one_sentence(task_id: str, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        make_task(task_id)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "actions", [np.zeros((4, 1, 2)), np.full((4, 1, 3), np.nan), np.full((4, 1, 3), np.inf)]
)
def test_wrong_actions_are_refused(actions: Float) -> None:
    task = make_task("hopper")
    task.reset(SEEDS)
    with pytest.raises(ConfigError, match="expected"):
        task.step(actions)


def test_a_nan_in_one_agents_action_is_refused_by_agent_and_step() -> None:
    env = make_env("ma_hopper_3x1")
    env.reset(seed=1)
    fine = {agent: np.zeros(1) for agent in env.agents}
    env.step(fine)
    with pytest.raises(RequestError, match=r"agent_1.*step 2|step 2.*agent_1"):
        env.step(fine | {"agent_1": np.array([np.nan])})


@pytest.mark.parametrize("ask", ["step", "frame"])
def test_nothing_can_be_asked_before_the_reset(ask: str) -> None:
    task: Any = make_task("hopper")
    with pytest.raises(RequestError, match="before its reset"):
        task.step(np.zeros((1, 1, 3))) if ask == "step" else task.frame()


def test_a_body_that_diverges_ends_the_run_with_seed_and_step() -> None:
    task: Any = make_task("swimmer")
    task.reset(SEEDS[:2])
    task.step(np.zeros((2, 1, 2)))
    task._pool.place[1] = np.nan
    with pytest.raises(RunError, match=rf"step 2 of the episode of seed {SEEDS[1]};"):
        task.step(np.zeros((2, 1, 2)))


def test_a_closed_task_can_begin_again() -> None:
    task = make_task("swimmer", threads=2)
    first = task.reset(SEEDS)
    task.close()
    np.testing.assert_array_equal(task.reset(SEEDS), first)
    task.close()


def test_listing_the_tasks_loads_no_simulator_of_a_body() -> None:
    assert all(dataclasses.asdict(build().spec)["summary"] for build in NAMED_TASKS.values())
    assert {make_task(name)._pool for name in NAMED_TASKS} == {None}  # type: ignore[attr-defined]


def test_a_body_that_fell_terminated_and_one_at_the_horizon_did_not() -> None:
    """A hopper that is pushed falls within a few dozen steps; one that stands for 5 does not."""
    for horizon, fell in ((200, True), (5, False)):
        task: Any = make_task("hopper", horizon=horizon)
        task.reset(np.arange(2, dtype=np.uint64))
        assert not task.terminated.any()
        done = np.zeros(2, dtype=bool)
        while not done.all():
            assert (task.terminated <= done).all()
            done = task.step(np.full((2, 1, 3), 0.9))[2]
        assert task.terminated.tolist() == [fell, fell]
        task.restart([1], np.array([5], dtype=np.uint64))
        assert task.terminated.tolist() == [fell, False]
