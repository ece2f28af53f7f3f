"""Yardsticks of the reference environment: the FACMAC scenarios with score function "min"."""

import numpy as np
import pytest

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.envs.registry import make_task
from rolecast.envs.scripted import SCRIPTED, rollout_scripted

KEYS = (np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.uint32))
VIEWS = ("view=0.5", "capture=2", "scout=1")
"""The third predator sees nothing, all see the prey, only the first does."""


@pytest.mark.parametrize(
    ("name", "n", "expected", "tolerance"),
    [
        ("random", 3, 0.20, 0.3),
        ("chase", 3, 135.4, 9.0),
        ("random", 6, 2.2, 1.2),
        ("chase", 6, 319.0, 20.0),
        ("random", 9, 5.2, 3.5),
        ("chase", 9, 487.0, 20.0),
    ],
)
def test_scripts_earn_what_they_earn_in_the_reference_environment(
    name: str, n: int, expected: float, tolerance: float
) -> None:
    """False alarm: below 4e-3 a seed in each case (standard errors 0.08 to 3.7).

    Prey that avoid all predators instead of the nearest let `random` earn 11.0 at n = 9; prey
    with a gain of 4 leave `chase` 2.2 at n = 3, predators without a gain 11.8.
    """
    returns, lengths = rollout_scripted(
        make_task(f"pred_prey_{n}"), name, np.arange(10_000, 11_000, dtype=np.uint64)
    )
    assert abs(returns.mean() - expected) <= tolerance
    assert (lengths == 25).all()


@pytest.mark.parametrize("task", ["pred_prey_3", "gym:CartPole-v1"])
def test_returns_do_not_depend_on_what_runs_beside(task: str) -> None:
    seeds = np.arange(20, dtype=np.uint64)
    together = rollout_scripted(make_task(task), "random", seeds)
    alone = [rollout_scripted(make_task(task), "random", seeds[[index]]) for index in (0, 19)]
    for index, (returns, lengths) in zip((0, 19), alone, strict=True):
        assert (returns[0], lengths[0]) == (together[0][index], together[1][index])


def test_random_actions_are_uniform() -> None:
    """False alarm: 2e-6 a seed for mean and spread; a mean off by 0.02 is missed never."""
    task = make_task("pred_prey_3")
    seeds = np.arange(5000, dtype=np.uint64)
    task.reset(seeds)
    actions = SCRIPTED["random"].act(task, episode_keys(seeds), 3)
    z = np.sqrt(actions.size) * np.array(
        [actions.mean() * np.sqrt(3.0), (np.square(actions).mean() - 1 / 3) / np.sqrt(4 / 45)]
    )
    assert np.abs(z).max() < 4.89


def test_chase_runs_fully_towards_the_nearest_prey() -> None:
    task = make_task("pred_prey_3")
    task.reset(np.zeros(1, dtype=np.uint64))
    task.positions[0, :4] = [(0, 0), (0.5, 0.2), (-1, 1), (0.5, 0.25)]  # type: ignore[attr-defined]
    actions = SCRIPTED["chase"].act(task, (np.zeros(1), np.zeros(1)), 0)  # type: ignore[arg-type]
    np.testing.assert_allclose(actions[0], [(1, 0.5), (0, 1), (1, -0.5)])


def test_pursuit_leads_the_prey_and_brakes() -> None:
    task = make_task("pred_prey_3")
    task.reset(np.array([5], dtype=np.uint64))
    task.positions[:] = 0.0  # type: ignore[attr-defined]
    task.velocities[:] = 0.0  # type: ignore[attr-defined]
    task.velocities[0, 3] = [0.2, -0.1]  # type: ignore[attr-defined]
    task.velocities[0, 1] = [0.3, 0.0]  # type: ignore[attr-defined]
    actions = SCRIPTED["pursuit"].act(task, (np.zeros(1), np.zeros(1)), 0)  # type: ignore[arg-type]
    lead = np.array([0.9, -0.45])
    np.testing.assert_allclose(actions[0, 0], np.tanh(lead))
    np.testing.assert_allclose(actions[0, 1], np.tanh(lead - [0.9, 0.0]), atol=1e-12)


@pytest.mark.parametrize(
    ("task_id", "known"), [("pred_prey_3", 191.0), ("het_pred_prey_3", 171.0), ("pred_prey_6", 424)]
)
def test_pursuit_earns_what_a_review_measured(task_id: str, known: float) -> None:
    """By observations alone, in which far objects read 0; the script knows them all."""
    seeds = episode_seeds(0, Purpose.HELD_OUT, 77, 1000)
    returns, _ = rollout_scripted(make_task(task_id), "pursuit", seeds)
    error = returns.std(ddof=1) / np.sqrt(len(returns))
    assert abs(returns.mean() - known) < 4.0 * error


def test_chase_says_where_it_cannot_play() -> None:
    with pytest.raises(RequestError, match="'chase' cannot play 'gym:Pendulum-v1'"):
        rollout_scripted(make_task("gym:Pendulum-v1"), "chase", np.zeros(1, dtype=np.uint64))


def test_an_unknown_script_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match="did you mean 'chase'"):
        rollout_scripted(make_task("pred_prey_3"), "chaser", np.zeros(1, dtype=np.uint64))


def test_sighted_pursuit_knows_no_prey_that_its_predator_does_not_see() -> None:
    seen, wide, scouted = (make_task(f"pred_prey_3?{rule}") for rule in VIEWS)
    actions = []
    for task in (seen, wide, scouted):
        task.reset(np.array([5], dtype=np.uint64))
        task.positions[:] = 0.0  # type: ignore[attr-defined]
        task.positions[0, :3] = [(0, 0), (0.4, 0), (0.9, 0)]  # type: ignore[attr-defined]
        task.velocities[:] = 0.1  # type: ignore[attr-defined]
        actions.append(SCRIPTED["sighted_pursuit"].act(task, KEYS, 0)[0])
    pursuit = SCRIPTED["pursuit"].act(task, KEYS, 0)[0]
    brake = np.full(2, np.tanh(-0.3))
    np.testing.assert_allclose(actions[0], [pursuit[0], pursuit[1], brake])
    np.testing.assert_allclose(actions[1], pursuit)
    np.testing.assert_allclose(actions[2], [pursuit[0], brake, brake])
    for task in (seen, scouted):
        told = SCRIPTED["told_pursuit"].act(task, KEYS, 0)[0]
        np.testing.assert_allclose(told, pursuit)
    scouted.positions[0, 3] = (0.0, 1.6)  # type: ignore[attr-defined]
    told = SCRIPTED["told_pursuit"].act(scouted, KEYS, 0)[0]
    np.testing.assert_allclose(told, [brake, brake, brake])


@pytest.mark.parametrize(("second", "waits"), [(0.29, True), (0.24, False)])
def test_the_first_of_a_pincer_waits_for_the_second(second: float, waits: bool) -> None:
    task = make_task("pred_prey_3?capture=2")
    task.reset(np.array([5], dtype=np.uint64))
    task.positions[:] = 0.0  # type: ignore[attr-defined]
    task.positions[0, :3] = [(0.15, 0), (-second, 0), (0, 0.8)]  # type: ignore[attr-defined]
    pincer, pursuit = (SCRIPTED[name].act(task, KEYS, 0)[0] for name in ("pincer", "pursuit"))
    np.testing.assert_allclose(pincer[1:], pursuit[1:])
    np.testing.assert_allclose(pincer[0], np.zeros(2) if waits else pursuit[0])


def test_a_predator_alone_in_its_pursuit_does_not_wait() -> None:
    task = make_task("pred_prey_6?capture=2")
    task.reset(np.array([5], dtype=np.uint64))
    task.positions[0, :8] = [(0.1, 0), (5, 5), (5, 5), (5, 6), (6, 5), (6, 6), (0, 0), (5, 5)]  # type: ignore[attr-defined]
    pincer, pursuit = (SCRIPTED[name].act(task, KEYS, 0)[0] for name in ("pincer", "pursuit"))
    np.testing.assert_allclose(pincer[0], pursuit[0])


@pytest.mark.parametrize("task_id", ["pred_prey_3?capture=2", "pred_prey_6?capture=2"])
def test_a_team_captures_more_than_predators_alone(task_id: str) -> None:
    """Paired over 2,000 fixed episodes; the difference is some 9 and 18, over six errors."""
    seeds = episode_seeds(0, Purpose.HELD_OUT, 78, 2000)
    together, alone = (
        rollout_scripted(make_task(task_id), name, seeds)[0] for name in ("pincer", "pursuit")
    )
    gain = together - alone
    assert gain.mean() > 4.0 * gain.std(ddof=1) / np.sqrt(gain.size)


def test_scripts_of_teams_stay_out_of_the_tasks_of_the_source() -> None:
    for name in ("pincer", "sighted_pursuit", "told_pursuit"):
        assert not SCRIPTED[name].plays(make_task("pred_prey_3"))
        assert SCRIPTED[name].plays(make_task("het_pred_prey_3?capture=2"))
        assert not SCRIPTED[name].plays(make_task("drone_delivery_3"))


@pytest.mark.parametrize("task_id", ["hopper?horizon=5", "gym:Pendulum-v1?horizon=5"])
def test_who_stands_still_earns_what_actions_of_zero_do(task_id: str) -> None:
    seeds, task = np.arange(3, dtype=np.uint64), make_task(task_id)
    earned, lengths = rollout_scripted(task, "still", seeds)
    task.reset(seeds)
    zeros = np.zeros((3, task.spec.agents, task.spec.action_size))
    np.testing.assert_allclose(earned, sum(task.step(zeros)[1] for _ in range(5)))
    assert (lengths == 5).all()


def test_an_ant_that_does_not_move_earns_more_than_one_that_trembles() -> None:
    seeds, task = np.arange(3, dtype=np.uint64), make_task("ant?horizon=50")
    still, trembles = (rollout_scripted(task, name, seeds)[0] for name in ("still", "random"))
    assert (still > trembles).all()


@pytest.mark.parametrize("task_id", ["pred_prey_3", "gym:CartPole-v1"])
def test_zero_is_no_rest_where_actions_are_choices_or_episodes_compiled(task_id: str) -> None:
    task = make_task(task_id)
    assert not SCRIPTED["still"].plays(task)
    with pytest.raises(RequestError, match="'still' cannot play"):
        rollout_scripted(task, "still", np.arange(1, dtype=np.uint64))
