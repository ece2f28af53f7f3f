import numpy as np
import pytest

from rolecast.core.counter_random import episode_keys
from rolecast.envs.drone_delivery import (
    OBSERVATION_SIZE,
    DroneDeliveryParameters,
    DroneState,
    observe,
    start,
)


def moving(n: int, spread: float, episodes: int = 40) -> tuple[DroneDeliveryParameters, DroneState]:
    """Random places, velocities and numbers of steps to wait."""
    params, rng = DroneDeliveryParameters(drones=n), np.random.default_rng(n)
    here = start(params, episode_keys(np.arange(episodes, dtype=np.uint64)))
    here.positions[:] *= spread
    here.velocities[:] = rng.normal(size=here.velocities.shape)
    here.fuel[:] = rng.random(here.fuel.shape)
    here.stopped[:] = rng.integers(0, 2, here.stopped.shape) * 9
    return params, here


@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("spread", [0.2, 1.0, 3.0])
def test_a_drone_sees_itself_its_point_and_the_two_nearest(n: int, spread: float) -> None:
    params, here = moving(n, spread, episodes=5)
    seen = observe(params, here)
    assert seen.shape == (5, n, OBSERVATION_SIZE)
    for episode, drone in np.ndindex(5, n):
        place, velocity = here.positions[episode, drone], here.velocities[episode, drone]
        way = here.points[episode, drone] - place
        expected = np.zeros(OBSERVATION_SIZE)
        expected[:2] = velocity / 0.2
        expected[2] = here.fuel[episode, drone]
        expected[3] = here.stopped[episode, drone] > 0
        expected[4:6] = way / np.hypot(*way)
        expected[6] = np.hypot(*way)
        offsets = here.positions[episode] - place
        far = {j: np.hypot(*offsets[j]) for j in range(n) if j != drone}
        near = sorted((j for j in far if far[j] <= params.view_radius), key=lambda j: far[j])
        for first, other in zip((7, 11), near, strict=False):
            toward = offsets[other] / far[other]
            expected[first : first + 2] = toward * (1.0 - far[other] / params.view_radius)
        if near:
            expected[9:11] = (here.velocities[episode, near[0]] - velocity) / 0.2
        np.testing.assert_allclose(seen[episode, drone], expected, atol=1e-12)


def test_two_drones_at_one_place_see_each_other_in_no_direction() -> None:
    params, here = moving(2, 0.0)
    np.testing.assert_array_equal(observe(params, here)[:, :, [7, 8, 11, 12]], 0.0)


def test_ties_go_to_the_lowest_index() -> None:
    params, here = moving(3, 1.0, episodes=1)
    here.positions[0] = [(0.0, 0.0), (0.3, 0.0), (-0.3, 0.0)]
    np.testing.assert_allclose(observe(params, here)[0, 0, [7, 11]], [0.6, -0.6])


def test_nothing_jumps_where_a_drone_comes_into_sight_but_its_velocity() -> None:
    params, here = moving(2, 1.0, episodes=1)
    here.positions[0] = [(0.0, 0.0), (0.0, params.view_radius)]
    seen = observe(params, here)[0, 0]
    np.testing.assert_array_equal(seen[[7, 8]], 0.0)
    assert seen[[9, 10]].all()
