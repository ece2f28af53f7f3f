"""What the strategies share: pairs, generations, initial data, and the faces of the cube."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.baselines.evolution.ars import ArsConfig
from rolecast.baselines.evolution.openai_es import OpenAiEsConfig
from rolecast.baselines.evolution.pgpe import PgpeConfig
from rolecast.baselines.evolution.search import EvolutionSearch, reflected
from rolecast.baselines.evolution.snes import SnesConfig
from rolecast.platform.optimizers.protocol import OptimizerConfig

PAIRED = [PgpeConfig, OpenAiEsConfig, ArsConfig]
ALL = [*PAIRED, SnesConfig]


def slope(points: np.ndarray) -> np.ndarray:
    """Rises with every coordinate."""
    return np.asarray(points.sum(1))


@given(value=st.floats(-50.0, 50.0))
def test_a_reflected_point_is_in_the_cube_and_mirrored_at_its_faces(value: float) -> None:
    point = np.array([value])
    assert 0.0 <= reflected(point)[0] <= 1.0
    np.testing.assert_allclose(reflected(-point), reflected(point), atol=1e-12)
    np.testing.assert_allclose(reflected(2.0 - point), reflected(point), atol=1e-12)
    if 0.0 <= value <= 1.0:
        assert reflected(point)[0] == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("config", PAIRED)
@pytest.mark.parametrize("sizes", [[8], [3, 5], [1] * 8])
def test_candidates_come_in_mirrored_pairs_whatever_the_batches(
    config: type[PgpeConfig], sizes: list[int]
) -> None:
    optimizer = config(radius=0.1).build(dimension=5, seed=0)
    asked = np.concatenate([optimizer.ask(q) for q in sizes])
    np.testing.assert_allclose((asked[0::2] + asked[1::2]) / 2.0, 0.5, atol=1e-12)


@pytest.mark.parametrize("config", PAIRED)
def test_a_pair_shares_its_episodes_unless_two_batches_hold_it(config: type[PgpeConfig]) -> None:
    optimizer = config().build(dimension=5, seed=0)
    found = []
    for q in (3, 5):
        optimizer.ask(q)
        found.append(optimizer.episode_rows().tolist())
    assert found == [[0, 0, 2], [0, 1, 1, 3, 3]]


@pytest.mark.parametrize("mirrored", [False, True])
def test_snes_draws_pairs_where_it_is_told_to(mirrored: bool) -> None:
    optimizer = SnesConfig(mirrored=mirrored).build(dimension=5, seed=0)
    asked = optimizer.ask(8)
    assert np.allclose(asked[0::2] + asked[1::2], 1.0) == mirrored
    assert optimizer.episode_rows().tolist() == (
        [0, 0, 2, 2, 4, 4, 6, 6] if mirrored else list(range(8))
    )


@pytest.mark.parametrize("config", ALL)
def test_the_first_cloud_has_the_radius_that_is_set(config: type[PgpeConfig]) -> None:
    """False alarm: 1e-6 a seed; of pairs 50 x 80 squared coordinates are independent."""
    asked = config(radius=0.2).build(dimension=80, seed=0).ask(100)
    share = np.square(asked - 0.5).sum(1).mean() / 0.04
    assert abs(share - 1.0) < 4.89 * np.sqrt(2.0 / 4000)


@pytest.mark.parametrize("config", ALL)
def test_the_first_cloud_leaves_room_for_summits_in_few_dimensions(
    config: type[PgpeConfig],
) -> None:
    widest = 0.1 if config is PgpeConfig else 0.07
    for dimension, spread in ((2, widest), (353, 0.376 / np.sqrt(353.0))):
        rule = config().rule(dimension)
        np.testing.assert_allclose(rule.spread, spread, rtol=1e-12)


@pytest.mark.parametrize("config", ALL)
def test_candidates_asked_for_one_at_a_time_have_the_population_of_the_dimension(
    config: type[PgpeConfig],
) -> None:
    """The mean of 30 dimensions moves after 4 + 3 ln 30 candidates, 14."""
    optimizer = config().build(dimension=30, seed=0)
    for place in range(14):
        asked = optimizer.ask(1)
        assert (optimizer.best() == 0.5).all() if place else True
        optimizer.tell(asked, slope(asked))
    assert (optimizer.best() != 0.5).any()


@pytest.mark.parametrize("config", ALL)
def test_a_batch_of_many_generations_makes_one_step(config: type[PgpeConfig]) -> None:
    """Sixteen steps of one mean would leap from 0.5 to the face."""
    optimizer = config(population=4).build(dimension=1, seed=0)
    asked = optimizer.ask(64)
    optimizer.tell(asked, -np.square(asked[:, 0] - 0.4))
    assert 0.35 < optimizer.best()[0] < 0.5


@pytest.mark.parametrize("config", ALL)
def test_a_generation_learns_the_same_in_whatever_order_it_is_told(
    config: type[PgpeConfig],
) -> None:
    reached = []
    for sizes in ([8], [5, 3], [1] * 8):
        optimizer = config(population=8).build(dimension=4, seed=0)
        asked = optimizer.ask(8)
        order = np.random.default_rng(0).permutation(8)
        for part in np.split(order, np.cumsum(sizes)[:-1]):
            optimizer.tell(asked[part], slope(asked[part]))
        reached.append(optimizer.best())
    straight = config(population=8).build(dimension=4, seed=0)
    asked = straight.ask(8)
    straight.tell(asked, slope(asked))
    for place in reached:
        np.testing.assert_allclose(place, straight.best(), rtol=1e-12)
    assert straight.best().sum() > 2.0


@pytest.mark.parametrize("config", ALL)
def test_an_incomplete_generation_moves_nothing(config: type[PgpeConfig]) -> None:
    optimizer = config(population=8).build(dimension=4, seed=0)
    asked = optimizer.ask(8)
    optimizer.tell(asked[:7], slope(asked[:7]))
    np.testing.assert_array_equal(optimizer.best(), 0.5)


@pytest.mark.parametrize("config", PAIRED)
def test_an_odd_batch_leaves_its_last_pair_to_the_next(config: type[PgpeConfig]) -> None:
    """Batches of 7: three pairs learn at once; the fourth is whole after the next batch."""
    optimizer = config().build(dimension=4, seed=0)
    first = optimizer.ask(7)
    optimizer.tell(first, slope(first))
    after_one = optimizer.best()
    assert (after_one != 0.5).any()
    second = optimizer.ask(7)
    np.testing.assert_allclose((first[6] + second[0]) / 2.0, 0.5, atol=1e-12)


@pytest.mark.parametrize("config", ALL)
def test_points_that_were_never_asked_for_move_nothing_once_the_search_has_begun(
    config: type[PgpeConfig],
) -> None:
    optimizer = config().build(dimension=4, seed=0)
    optimizer.ask(8)
    points = np.random.default_rng(0).random((40, 4))
    optimizer.tell(points, slope(points))
    np.testing.assert_array_equal(optimizer.best(), 0.5)


@pytest.mark.parametrize("config", ALL)
def test_a_search_begins_where_initial_data_are_good(config: type[PgpeConfig]) -> None:
    """By the weights of the ranks, of four points: ln 3 and ln 1.5 for the better two."""
    optimizer = config().build(dimension=2, seed=0)
    points = np.array([[0.2, 0.2], [0.4, 0.6], [0.8, 0.8], [0.1, 0.9]])
    for part in (slice(0, 1), slice(1, 4)):
        optimizer.tell(points[part], np.array([1.0, 4.0, 3.0, 0.0])[part])
    expected = (np.log(3.0) * points[1] + np.log(1.5) * points[2]) / np.log(4.5)
    np.testing.assert_allclose(optimizer.best(), expected)
    assert np.linalg.norm(optimizer.ask(200).mean(0) - expected) < 0.1


@pytest.mark.parametrize("config", ALL)
def test_a_plateau_gives_no_direction(config: type[PgpeConfig]) -> None:
    optimizer = config().build(dimension=6, seed=0)
    for _ in range(5):
        asked = optimizer.ask(10)
        optimizer.tell(asked, np.zeros(10))
    np.testing.assert_array_equal(optimizer.best(), 0.5)


@pytest.mark.parametrize("config", ALL)
def test_one_dimension_is_enough(config: type[PgpeConfig]) -> None:
    optimizer = config().build(dimension=1, seed=0)
    for _ in range(15):
        asked = optimizer.ask(10)
        optimizer.tell(asked, -np.abs(asked[:, 0] - 0.2))
    assert abs(optimizer.best()[0] - 0.2) < 0.25


def test_the_strategies_are_optimisers_that_say_how_wide_they_search() -> None:
    configs: list[OptimizerConfig] = [config() for config in ALL]
    for config in configs:
        optimizer = config.build(dimension=80, seed=0)
        assert isinstance(optimizer, EvolutionSearch)
        assert optimizer.explain()["cloud_radius"] == pytest.approx(0.376)
