"""The compiled prey against the rule that it follows."""

import numpy as np
import pytest

from rolecast.envs.counter_random import episode_keys
from rolecast.envs.predator_prey.physics import parameters
from rolecast.envs.predator_prey.prey import FIRST_COUNTER, flee, prey_points
from rolecast.envs.predator_prey.prey_fused import SCRATCH
from rolecast.envs.predator_prey.prey_fused import flee as fused_flee
from rolecast.envs.spec import LANES, Float

SEEDS = np.array([0, 2**40, 2**64 - 1, *range(500, 513)], dtype=np.uint64)


def chosen(n: int, positions: Float, step: int) -> Float:
    """Return what the kernel makes the prey do, [W, k, 2]."""
    params, forces = parameters(n), []
    keys = episode_keys(SEEDS)
    here = np.ascontiguousarray(np.moveaxis(positions, 0, -1), dtype=np.float32)
    for prey in range(params.prey):
        force = np.full((2, LANES), np.nan, dtype=np.float32)
        fused_flee(
            here,
            *keys,
            FIRST_COUNTER + (step * params.prey + prey) * params.prey_points,
            params.prey_points,
            n,
            n + prey,
            np.float32((params.predator_size + params.prey_size) ** 2),
            np.empty(SCRATCH, dtype=np.float32),
            force,
        )
        forces.append(force.T)
    return np.stack(forces, axis=1).astype(np.float64)


@pytest.mark.parametrize("n", [3, 6, 9])
@pytest.mark.parametrize("spread", [0.3, 0.8, 2.0])
def test_it_takes_the_point_that_the_rule_takes(n: int, spread: float) -> None:
    """All of 16 episodes, three steps each: crowded, near and far; the same points, to 1e-5."""
    params, rng = parameters(n), np.random.default_rng(n)
    for step in (0, 1, 24):
        positions = rng.uniform(-spread, spread, (LANES, params.entities, 2))
        positions = positions.astype(np.float32).astype(np.float64)
        expected = flee(params, positions, prey_points(params, episode_keys(SEEDS), step))
        np.testing.assert_allclose(chosen(n, positions, step), expected, atol=1e-5)


def test_it_halts_when_no_point_is_in_reach() -> None:
    """Predators so large that they touch it wherever it goes."""
    params = parameters(3)
    here = np.zeros((params.entities, 2, LANES), dtype=np.float32)
    here[:3, 0] = 0.1
    force = np.full((2, LANES), np.nan, dtype=np.float32)
    scratch = np.empty(SCRATCH, dtype=np.float32)
    keys = episode_keys(SEEDS)
    fused_flee(here, *keys, FIRST_COUNTER, 100, 3, 3, np.float32(4.0), scratch, force)
    np.testing.assert_array_equal(force, 0.0)
