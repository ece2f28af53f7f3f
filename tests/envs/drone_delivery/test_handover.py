from dataclasses import replace

import numpy as np
import pytest

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.envs.drone_delivery import DroneState, observe, start, transition
from rolecast.envs.drone_delivery.handover import givers
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.registry import make_task
from rolecast.envs.scripted import SCRIPTED, rollout_scripted

PARAMS = DroneDeliveryTask(3, handover=1).params
KEYS = episode_keys(np.array([7], dtype=np.uint64))
SEEDS = np.arange(20_000, 20_200, dtype=np.uint64)
STILL = np.zeros((1, 3, 2))


def state(positions: list[tuple[float, float]], **changes: object) -> DroneState:
    """One episode of three drones at rest, unloaded, with points far away at (50, 50)."""
    made = replace(start(PARAMS, KEYS), positions=np.array([positions], dtype=np.float64))
    made.points[:] = 50.0
    return replace(made, **{name: np.array([value]) for name, value in changes.items()})


def test_the_giver_is_the_drone_before_and_the_last_one_is_that_of_the_first() -> None:
    np.testing.assert_array_equal(givers(np.array([[10.0, 11.0, 12.0]])), [[12.0, 10.0, 11.0]])


def test_a_drone_is_loaded_near_its_giver_and_by_no_other() -> None:
    """Drone 1 is near its giver 0; drone 0 is near drone 1, which is not its giver."""
    after, events = transition(PARAMS, state([(0.0, 0.0), (0.29, 0.0), (0.9, 0.9)]), STILL, KEYS)
    np.testing.assert_array_equal(after.loaded, [[False, True, False]])
    np.testing.assert_array_equal(events.handed, [[False, True, False]])
    assert events.totals()["handovers"] == 1.0
    again, events = transition(PARAMS, after, STILL, KEYS)
    np.testing.assert_array_equal(again.loaded, after.loaded)
    assert events.totals()["handovers"] == 0.0


@pytest.mark.parametrize("positions", [[(0, 0), (0.31, 0), (1, 1)], [(0, 0), (0, 1), (1, 0)]])
def test_nothing_changes_hands_from_afar(positions: list[tuple[float, float]]) -> None:
    after, _ = transition(PARAMS, state(positions), STILL, KEYS)
    assert not after.loaded.any()


@pytest.mark.parametrize("fuel", [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0)])
def test_an_empty_tank_neither_gives_nor_takes(fuel: tuple[float, ...]) -> None:
    before = state([(0.0, 0.0), (0.2, 0.0), (0.9, 0.9)], fuel=fuel)
    assert not transition(PARAMS, before, STILL, KEYS)[0].loaded.any()


def test_only_a_loaded_drone_delivers_and_its_delivery_unloads_it() -> None:
    """All three stand at their points, far from each other; drones 0 and 2 are loaded."""
    positions = [(0.0, 0.0), (0.9, 0.0), (0.0, 0.9)]
    before = state(positions, points=positions, loaded=(True, False, True))
    after, events = transition(PARAMS, before, STILL, KEYS)
    np.testing.assert_array_equal(events.delivered, [[True, False, True]])
    assert not after.loaded.any()
    np.testing.assert_array_equal(after.points[0, 1], positions[1])


def test_the_goal_is_the_point_while_loaded_and_else_the_giver_in_view() -> None:
    """Drone 0 is loaded; drone 1 sees its giver at (-0.6, 0); drone 2 sees none."""
    positions = [(0.0, 0.0), (0.6, 0.0), (-0.9, -0.9)]
    shown = observe(PARAMS, state(positions, loaded=(True, False, False)))[0]
    np.testing.assert_allclose(shown[0, 4:7], [np.sqrt(0.5), np.sqrt(0.5), np.hypot(50, 50)])
    np.testing.assert_allclose(shown[1, 4:7], [-1.0, 0.0, 0.6])
    np.testing.assert_allclose(shown[2, 4:7], 0.0, atol=1e-11)
    np.testing.assert_array_equal(shown[:, 13], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(shown[:, 14:], positions)


def test_without_hand_overs_every_drone_is_loaded_always() -> None:
    task = DroneDeliveryTask(3)
    task.reset(SEEDS)
    rng = np.random.default_rng(0)
    for _ in range(20):
        _, _, _, metrics = task.step(rng.uniform(-0.5, 0.5, (len(SEEDS), 3, 2)))
    assert task.state.loaded.all()
    assert "handovers" not in metrics


def mean(name: str, task_id: str) -> Float:
    return np.asarray(rollout_scripted(make_task(task_id), name, SEEDS)[0].mean())


def test_scripts_bound_what_drones_earn_with_and_without_a_word() -> None:
    """Standard errors are below 5; over 1,000 episodes what is told is worth 18."""
    told, sighted = (
        mean(name, "drone_delivery_6?handover=1") for name in ("expert", "sighted_expert")
    )
    assert told > sighted + 15.0 > 200.0
    assert mean("expert", "drone_delivery_6") > 1.5 * told
    assert not SCRIPTED["sighted_expert"].plays(make_task("drone_delivery_6"))


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("drone_delivery_1?handover=1", "N is 1; expected an integer >= 2 with handover"),
        ("drone_delivery_3?handover=2", "handover is 2; expected 0 or 1"),
        ("drone_delivery_3?handover=0.5", "handover is 0.5; expected 0 or 1"),
    ],
)
def test_a_wrong_setting_is_refused(task_id: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        make_task(task_id)


def test_the_id_names_the_rule_only_where_it_holds() -> None:
    assert make_task("drone_delivery_3?handover=1").spec.id == "drone_delivery_3?handover=1"
    assert make_task("drone_delivery_3?handover=0").spec.id == "drone_delivery_3"
