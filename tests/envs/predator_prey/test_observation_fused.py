"""The compiled observations against their reference, for places all over the world."""

import numpy as np
import pytest

from rolecast.envs.predator_prey.observation import observation_size, observe
from rolecast.envs.predator_prey.observation_fused import observe_full, observe_nearest
from rolecast.envs.predator_prey.physics import parameters
from rolecast.envs.spec import LANES, Float

KERNELS = {"full": observe_full, "nearest16": observe_nearest}


def seen(n: int, variant: str, positions: Float, velocities: Float) -> Float:
    """Return what the kernel shows, [W, n, do]."""
    params = parameters(n)
    shape = (1, n, observation_size(params, variant), LANES)
    observations = np.full(shape, np.nan, dtype=np.float32)
    here, speed = (
        np.ascontiguousarray(np.moveaxis(part, 0, -1)[None], dtype=np.float32)
        for part in (positions, velocities)
    )
    view = np.float32(params.view_radius**2)
    KERNELS[variant](here, speed, view, params.prey, observations)
    return np.asarray(np.moveaxis(observations[0], -1, 0), dtype=np.float64)


@pytest.mark.parametrize("variant", KERNELS)
@pytest.mark.parametrize("n", [3, 6, 9, 15])
@pytest.mark.parametrize("spread", [0.2, 1.0, 4.0])
def test_they_are_those_of_the_reference(n: int, variant: str, spread: float) -> None:
    """All in sight, some, and nearly none."""
    params, rng = parameters(n), np.random.default_rng(n)
    positions = rng.uniform(-spread, spread, (LANES, params.entities, 2))
    velocities = rng.normal(size=(LANES, params.movers, 2))
    expected = observe(params, positions, velocities, variant)
    found = seen(n, variant, positions, velocities)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("variant", KERNELS)
@pytest.mark.parametrize("turn", range(4))
def test_ties_go_to_the_lowest_index_as_in_the_reference(variant: str, turn: int) -> None:
    """For the first predator: all else at one distance from it, in four directions."""
    params = parameters(6)
    around = np.roll([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]], turn, axis=0)
    positions = np.zeros((LANES, params.entities, 2))
    positions[:, 6:8] = around[:2]
    positions[:, 8:] = around
    positions[:, 1:6] = np.concatenate([around, around])[1:6]
    velocities = np.random.default_rng(0).normal(size=(LANES, params.movers, 2))
    np.testing.assert_allclose(
        seen(6, variant, positions, velocities)[:, 0],
        observe(params, positions, velocities, variant)[:, 0],
        atol=1e-6,
    )
