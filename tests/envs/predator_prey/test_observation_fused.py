"""The compiled observations against their reference, for places all over the world."""

import numpy as np
import pytest

from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.predator_prey.observation import OBSERVATION_VARIANTS, observation_size, observe
from rolecast.envs.predator_prey.observation_fused import observe as fused_observe
from rolecast.envs.predator_prey.physics import parameters


def seen(n: int, variant: str, positions: Float, velocities: Float, scout: int = 0) -> Float:
    """Return what the kernel shows, [W, n, do]."""
    params = parameters(n)
    observations = lane_array(n, observation_size(params, variant))
    observations[:] = np.nan
    here, speed = (
        np.moveaxis(part, 0, -1).astype(np.float32, order="C").reshape(-1, LANE_COUNT)
        for part in (positions, velocities)
    )
    sizes, view = (n, params.movers, params.entities, scout), np.float32(params.view_radius**2)
    rows = observations.reshape(-1, LANE_COUNT)
    fused_observe(here, 0, speed, 0, sizes, view, variant == "nearest16", rows, 0)
    return np.moveaxis(observations, -1, 0).astype(np.float64)


@pytest.mark.parametrize("variant", OBSERVATION_VARIANTS)
@pytest.mark.parametrize("n", [3, 6, 9, 15])
@pytest.mark.parametrize("spread", [0.2, 1.0, 4.0])
def test_they_are_those_of_the_reference(n: int, variant: str, spread: float) -> None:
    """All in sight, some, and nearly none."""
    params, rng = parameters(n), np.random.default_rng(n)
    positions = rng.uniform(-spread, spread, (LANE_COUNT, params.entities, 2))
    velocities = rng.normal(size=(LANE_COUNT, params.movers, 2))
    expected = observe(params, positions, velocities, variant)
    found = seen(n, variant, positions, velocities)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("variant", OBSERVATION_VARIANTS)
@pytest.mark.parametrize(("n", "scout"), [(3, 1), (3, 2), (6, 1), (9, 4)])
def test_only_scouts_see_prey_as_in_the_reference(n: int, scout: int, variant: str) -> None:
    params, rng = parameters(n, scout=scout), np.random.default_rng(n)
    positions = rng.uniform(-0.5, 0.5, (LANE_COUNT, params.entities, 2))
    velocities = rng.normal(size=(LANE_COUNT, params.movers, 2))
    expected = observe(params, positions, velocities, variant)
    found = seen(n, variant, positions, velocities, scout)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    own = expected.shape[-1] - 4 * params.prey if variant == "full" else 12
    assert (expected[:, :scout, own:] != 0.0).all()
    assert (expected[:, scout:, own:] == 0.0).all()
    everyone = observe(parameters(n), positions, velocities, variant)
    np.testing.assert_array_equal(expected[..., :own], everyone[..., :own])
    np.testing.assert_array_equal(expected[:, :scout], everyone[:, :scout])


@pytest.mark.parametrize("variant", OBSERVATION_VARIANTS)
@pytest.mark.parametrize("turn", range(4))
def test_ties_go_to_the_lowest_index_as_in_the_reference(variant: str, turn: int) -> None:
    """For the first predator: all else at one distance from it, in four directions."""
    params = parameters(6)
    around = np.roll([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]], turn, axis=0)
    positions = np.zeros((LANE_COUNT, params.entities, 2))
    positions[:, 6:8] = around[:2]
    positions[:, 8:] = around
    positions[:, 1:6] = np.concatenate([around, around])[1:6]
    velocities = np.random.default_rng(0).normal(size=(LANE_COUNT, params.movers, 2))
    np.testing.assert_allclose(
        seen(6, variant, positions, velocities)[:, 0],
        observe(params, positions, velocities, variant)[:, 0],
        atol=1e-6,
    )
