from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.counter_random import draw, episode_keys, symmetric_uniform
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.envs.drone_delivery.physics import (
    DroneDeliveryParameters,
    DroneState,
    length,
    new_points,
    start,
    transition,
)

KEYS = episode_keys(np.array([7], dtype=np.uint64))


def state(positions: list[tuple[float, float]], **changes: object) -> DroneState:
    """One episode of drones at rest, full tanks, points far away at (50, 50)."""
    n = len(positions)
    points = np.full((1, n, 2), 50.0)
    made = DroneState(
        positions=np.array([positions], dtype=np.float64),
        velocities=np.zeros((1, n, 2)),
        fuel=np.ones((1, n)),
        stopped=np.zeros((1, n), dtype=np.int64),
        points=points,
        distances=np.full((1, n), 1.5),
        deliveries=np.zeros((1, n), dtype=np.int64),
        loaded=np.ones((1, n), dtype=bool),
    )
    return replace(made, **{name: np.array([value]) for name, value in changes.items()})


def towards(here: DroneState) -> Float:
    """Return full thrust to the points."""
    way = here.points - here.positions
    return np.asarray(way / np.abs(way).max(axis=-1, keepdims=True))


def test_a_step_is_the_one_computed_by_hand() -> None:
    """v = 0.8 (0.5, 0) + 0.1 * 3 (1, -0.5); burnt 0.1 (0.05 + 2 |v|^3)."""
    after, events = transition(
        DroneDeliveryParameters(drones=1),
        state([(0.2, 0.1)], velocities=[(0.5, 0.0)]),
        np.array([[(1.0, -0.5)]]),
        KEYS,
    )
    np.testing.assert_allclose(after.velocities, [[(0.7, -0.15)]])
    np.testing.assert_allclose(after.positions, [[(0.27, 0.085)]])
    np.testing.assert_allclose(events.burnt, 0.005 + 0.2 * (0.7**2 + 0.15**2) ** 1.5)
    np.testing.assert_array_equal(after.fuel, 1.0 - events.burnt)
    assert events.reward == 0.0


def test_a_delivery_pays_the_squared_distance_refills_and_moves_the_point() -> None:
    params = DroneDeliveryParameters(drones=2)
    before = state([(0.0, 0.0), (0.0, 0.5)], fuel=(0.3, 0.3), deliveries=(4, 0))
    before.points[0, 0] = (0.149, 0.0)
    after, events = transition(params, before, np.zeros((1, 2, 2)), KEYS)
    np.testing.assert_array_equal(events.delivered, [[True, False]])
    np.testing.assert_allclose(events.reward, 10.0 * 1.5**2)
    np.testing.assert_allclose(after.fuel, [[1.0, 0.295]])
    np.testing.assert_allclose(events.refilled, [[0.705, 0.0]])
    np.testing.assert_array_equal(after.deliveries, [[5, 0]])
    counters = np.arange(65536 + 2 * 5 * 2, 65536 + 2 * 5 * 2 + 2, dtype=np.uint32)
    drawn = symmetric_uniform(draw(*KEYS, counters))
    np.testing.assert_array_equal(np.abs(after.points[0, 0] - drawn) % 1.0, 0.0)
    np.testing.assert_array_equal(after.points[0, 1], before.points[0, 1])
    np.testing.assert_array_equal(after.distances, [[length(after.points[0, 0]), 1.5]])


def test_a_tank_that_runs_empty_stops_its_drone_and_costs_in_every_step() -> None:
    params = DroneDeliveryParameters(drones=1)
    here = state([(0.0, 0.0)], fuel=(0.01,), velocities=[(1.0, 0.0)])
    here.points[0, 0] = (0.2, 0.0)  # within reach after the step in which the tank runs empty
    here, events = transition(params, here, np.ones((1, 1, 2)), KEYS)
    np.testing.assert_array_equal(events.burnt, 0.01)
    assert not events.delivered
    for _ in range(3):
        place = here.positions
        np.testing.assert_array_equal(here.velocities, 0.0)
        here, events = transition(params, here, np.ones((1, 1, 2)), KEYS)
        np.testing.assert_array_equal(here.positions, place)
        np.testing.assert_array_equal(events.reward, -0.02)
        assert events.burnt == 0.0


def test_a_collision_is_paid_once_and_stops_both_drones_for_a_while() -> None:
    params = DroneDeliveryParameters(drones=2)
    here = state([(-0.16, 0.0), (0.0, 0.0)], velocities=[(0.5, 0.0), (0.0, 0.0)])
    here, events = transition(params, here, np.zeros((1, 2, 2)), KEYS)
    assert events.collided.sum() == 2
    np.testing.assert_array_equal(events.reward, -1.0)
    thrust = np.array([[(-1.0, 0.0), (1.0, 0.0)]])
    for _ in range(params.stop_steps):
        np.testing.assert_array_equal(here.velocities, 0.0)
        here, events = transition(params, here, thrust, KEYS)
        np.testing.assert_array_equal(events.reward, 0.0)
        np.testing.assert_allclose(events.burnt, 0.005)
    np.testing.assert_array_equal(here.stopped, 0)
    here, _ = transition(params, here, thrust, KEYS)
    np.testing.assert_allclose(here.velocities, 0.3 * thrust)


def test_every_pair_that_comes_into_contact_is_paid() -> None:
    """The middle one of three meets both others, who do not meet; the fourth is far away."""
    here = state(
        [(-0.16, 0.0), (0.0, 0.0), (0.16, 0.0), (0.0, 0.9)],
        velocities=[(0.3, 0.0), (0.0, 0.0), (-0.3, 0.0), (0.0, 0.0)],
    )
    after, events = transition(DroneDeliveryParameters(drones=4), here, np.zeros((1, 4, 2)), KEYS)
    np.testing.assert_array_equal(events.reward, -2.0)
    np.testing.assert_array_equal(after.stopped, [[15, 15, 15, 0]])
    assert events.totals()["collisions"] == 2.0


def test_drones_that_begin_in_contact_have_not_collided() -> None:
    here = state([(0.0, 0.0), (0.1, 0.0)])
    _, events = transition(DroneDeliveryParameters(drones=2), here, np.zeros((1, 2, 2)), KEYS)
    assert not events.collided.any()


@settings(deadline=None, max_examples=40)
@given(
    place=st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)),
    seed=st.integers(0, 2**64 - 1),
    made=st.integers(0, 150),
)
def test_a_new_point_lies_in_the_square_and_never_near(
    place: tuple[float, float], seed: int, made: int
) -> None:
    params = DroneDeliveryParameters(drones=50)
    positions = np.full((1, 50, 2), place)
    keys = episode_keys(np.array([seed], dtype=np.uint64))
    points = new_points(params, keys, positions, np.full((1, 50), made))
    assert length(points - positions).min() >= params.nearest_point
    assert points.min() >= -1.0
    assert points.max() < 1.0


def test_starts_and_points_are_uniform_in_the_square() -> None:
    """False alarm: 1e-5 a seed. Points of drones that are far outside, so that none is moved."""
    params = DroneDeliveryParameters(drones=3)
    keys = episode_keys(np.arange(20_000, dtype=np.uint64))
    away = np.full((20_000, 3, 2), 9.0)
    points = new_points(params, keys, away, np.full((20_000, 3), 2))
    for places in (start(params, keys).positions, points):
        z = np.sqrt(places.size) * np.array(
            [places.mean() * np.sqrt(3.0), (np.square(places).mean() - 1 / 3) / np.sqrt(4 / 45)]
        )
        assert np.abs(z).max() < 4.89


@pytest.mark.parametrize("n", [1, 3, 9])
def test_fuel_deliveries_and_collisions_add_up(n: int) -> None:
    """Over 60 steps of drones that fly to their points with noise; all of it exactly counted."""
    params, rng = DroneDeliveryParameters(drones=n), np.random.default_rng(n)
    keys = episode_keys(np.arange(40, dtype=np.uint64))
    here = start(params, keys)
    fuel, totals = here.fuel.sum(axis=-1), dict[str, Float]()
    for _ in range(60):
        noise = rng.normal(size=here.positions.shape)
        actions = np.clip(0.25 * towards(here) + 0.3 * noise, -1.0, 1.0)
        after, events = transition(params, here, actions, keys)
        counted = events.totals()
        paid = np.square(here.distances * (after.deliveries - here.deliveries)).sum(axis=-1)
        expected = 10.0 * paid - counted["collisions"] - 0.02 * counted["empty_tank_steps"]
        np.testing.assert_allclose(events.reward, expected, rtol=1e-12, atol=1e-12)
        fuel = fuel - counted["fuel_used"] + counted["fuel_refilled"]
        totals = {name: totals.get(name, 0.0) + value for name, value in counted.items()}
        here = after
    np.testing.assert_allclose(here.fuel.sum(axis=-1), fuel, atol=1e-12)
    np.testing.assert_array_equal(here.deliveries.sum(axis=-1), totals["deliveries"])
    assert totals["deliveries"].sum() > 0.0
    assert totals["empty_tank_steps"].sum() > 0.0
    assert (totals["collisions"].sum() > 0.0) == (n > 1)


def test_renaming_the_drones_renames_what_happens() -> None:
    params, rng = DroneDeliveryParameters(drones=6), np.random.default_rng(0)
    keys = episode_keys(np.arange(200, dtype=np.uint64))
    here, order = start(params, keys), rng.permutation(6)
    here = replace(here, velocities=rng.normal(size=here.positions.shape))
    renamed = replace(
        here, **{name: getattr(here, name)[:, order] for name in here.__dataclass_fields__}
    )
    actions = rng.uniform(-1.0, 1.0, here.positions.shape)
    after, events = transition(params, here, actions, keys)
    after_renamed, events_renamed = transition(params, renamed, actions[:, order], keys)
    for name in ("positions", "velocities", "fuel", "stopped", "deliveries"):
        np.testing.assert_array_equal(getattr(after_renamed, name), getattr(after, name)[:, order])
    np.testing.assert_allclose(events_renamed.reward, events.reward)
    assert events.collided.any()


def test_doing_nothing_earns_nothing_and_leaves_fuel() -> None:
    params = DroneDeliveryParameters(drones=9)
    keys = episode_keys(np.arange(100, dtype=np.uint64))
    here = start(params, keys)
    for _ in range(params.horizon):
        here, events = transition(params, here, np.zeros(here.positions.shape), keys)
        np.testing.assert_array_equal(events.reward, 0.0)
    np.testing.assert_allclose(here.fuel, 0.25)


def test_full_thrust_runs_dry_before_the_first_delivery() -> None:
    """In each of 3,000 episodes of a drone that nobody stops."""
    params = DroneDeliveryParameters(drones=1)
    keys = episode_keys(np.arange(3000, dtype=np.uint64))
    here = start(params, keys)
    for _ in range(30):
        here, _ = transition(params, here, towards(here), keys)
    np.testing.assert_array_equal(here.fuel, 0.0)
    np.testing.assert_array_equal(here.deliveries, 0)


@pytest.mark.parametrize("n", [0, -3, 2.0, True])
def test_a_wrong_number_of_drones_is_refused(n: int) -> None:
    with pytest.raises(ConfigError, match=f"drone-delivery N is {n}; expected an integer >= 1"):
        DroneDeliveryParameters(drones=n)


@pytest.mark.parametrize("nearest", [0.1, 0.71])
def test_a_least_distance_that_cannot_be_kept_is_refused(nearest: float) -> None:
    with pytest.raises(ConfigError, match="expected a number above delivery_radius"):
        DroneDeliveryParameters(drones=1, nearest_point=nearest)
