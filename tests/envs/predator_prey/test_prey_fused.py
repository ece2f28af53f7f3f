"""The compiled prey against the rule that it follows."""

from dataclasses import replace

import numpy as np
import pytest

from rolecast.core.compiled import compiled
from rolecast.core.counter_random import UInt32, episode_keys
from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.envs.predator_prey.physics import PredatorPreyParameters, parameters
from rolecast.envs.predator_prey.prey import FIRST_PREY_COUNTER, flee, prey_points
from rolecast.envs.predator_prey.prey_fused import flee as fused_flee

SEEDS = np.array([0, 2**40, 2**64 - 1, *range(500, 513)], dtype=np.uint64)


@compiled
def flee_all(
    positions: Float32,
    first: UInt32,
    second: UInt32,
    counter: int,
    points: int,
    n: int,
    movers: int,
    touch: np.float32,
    rows: Float32,
) -> None:
    for prey in range(n, movers):
        fused_flee(
            positions, 0, first, second, 0, counter + (prey - n) * points, points, n, prey, touch,
            rows, 2 * movers, 2 * prey,
        )  # fmt: skip


def chosen(params: PredatorPreyParameters, positions: Float, step: int, touch: float) -> Float:
    """Return what the kernel makes the prey do, [W, k, 2]."""
    first, second = episode_keys(SEEDS)
    rows = lane_array(2 * params.movers + 3 * params.predators)
    flee_all(
        np.moveaxis(positions, 0, -1).astype(np.float32, order="C").reshape(-1, LANE_COUNT),
        first[None],
        second[None],
        FIRST_PREY_COUNTER + step * params.prey * params.prey_points,
        params.prey_points,
        params.predators,
        params.movers,
        np.float32(touch**2),
        rows,
    )
    forces = rows[2 * params.predators : 2 * params.movers].reshape(params.prey, 2, LANE_COUNT)
    return np.moveaxis(forces, -1, 0).astype(np.float64)


@pytest.mark.parametrize("points", [1, 7, 100])
@pytest.mark.parametrize("n", [3, 6, 9])
@pytest.mark.parametrize("spread", [0.3, 0.8, 2.0])
def test_it_takes_the_point_that_the_rule_takes(n: int, spread: float, points: int) -> None:
    """All of 16 episodes, three steps each: crowded, near and far; the same points, to 1e-5."""
    params, rng = replace(parameters(n), prey_points=points), np.random.default_rng(n)
    for step in (0, 1, 24):
        positions = rng.uniform(-spread, spread, (LANE_COUNT, params.entities, 2))
        positions = positions.astype(np.float32).astype(np.float64)
        expected = flee(params, positions, prey_points(params, episode_keys(SEEDS), step))
        forces = chosen(params, positions, step, params.predator_size + params.prey_size)
        np.testing.assert_allclose(forces, expected, atol=1e-5)


def test_it_halts_when_no_point_is_in_reach() -> None:
    """Predators so large that they touch it wherever it goes."""
    params = parameters(3)
    positions = np.zeros((LANE_COUNT, params.entities, 2))
    positions[:, :3, 0] = 0.1
    np.testing.assert_array_equal(chosen(params, positions, 0, 2.0), 0.0)
