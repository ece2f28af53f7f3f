import numpy as np
import pytest

from rolecast.core.counter_random import episode_keys
from rolecast.core.errors import RequestError
from rolecast.envs.predator_prey import observation_size, observe, parameters, start_positions


def state(n: int, episodes: int) -> tuple[np.ndarray, np.ndarray]:
    params = parameters(n)
    positions = start_positions(params, episode_keys(np.arange(episodes, dtype=np.uint64)))
    velocities = np.random.default_rng(n).uniform(-1.0, 1.0, (episodes, params.movers, 2))
    return 1.5 * positions, velocities


@pytest.mark.parametrize(("n", "full"), [(3, 16), (6, 30), (9, 44), (15, 72)])
def test_sizes_are_those_of_the_source_or_16(n: int, full: int) -> None:
    params = parameters(n)
    assert observation_size(params, "full") == full
    assert observe(params, *state(n, 2), "full").shape == (2, n, full)
    assert observe(params, *state(n, 2), "nearest16").shape == (2, n, 16)


def test_both_variants_are_equal_for_three_predators() -> None:
    params = parameters(3)
    full, nearest = (observe(params, *state(3, 50), name) for name in ("full", "nearest16"))
    np.testing.assert_array_equal(full, nearest)


@pytest.mark.parametrize("n", [6, 15])
def test_the_nearest_of_each_kind_are_shown_in_entity_order(n: int) -> None:
    params = parameters(n)
    positions, velocities = state(n, 1)
    seen = observe(params, positions, velocities, "nearest16")[0]
    for agent in range(n):
        offset = positions[0] - positions[0, agent]
        distance = np.linalg.norm(offset, axis=-1)
        kinds = (range(params.movers, 2 * n), set(range(n)) - {agent}, range(n, params.movers))
        expected = [velocities[0, agent], positions[0, agent]]
        for kind, count in zip(kinds, (2, 2, 1), strict=True):
            chosen = sorted(sorted(kind, key=lambda entity: distance[entity])[:count])
            expected += [offset[e] * (distance[e] <= 1.5) for e in chosen]
        expected.append(velocities[0, chosen[0]] * (distance[chosen[0]] <= 1.5))
        np.testing.assert_array_equal(seen[agent], np.concatenate(expected))


def test_what_is_beyond_the_view_radius_reads_zero() -> None:
    params = parameters(3)
    positions = np.array(
        [[(0.0, 0.0), (1.5, 0.0), (1.51, 0.0), (0.0, 2.0), (3.0, 0.0), (1.0, 1.0)]]
    )
    seen = observe(params, positions, np.ones((1, 4, 2)), "full")[0, 0]
    np.testing.assert_array_equal(seen[4:], [0, 0, 1, 1, 1.5, 0, 0, 0, 0, 0, 0, 0])


def test_an_unknown_variant_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match="did you mean 'nearest16'"):
        observation_size(parameters(3), "nearest")
