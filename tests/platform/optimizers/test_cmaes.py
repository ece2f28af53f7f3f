"""CMA-ES gets whole generations from the library's point of view, and whatever from ours."""

from typing import Any

import numpy as np
import pytest
from cmaes import CMA, SepCMA

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.cmaes import Cmaes, CmaesConfig


def search(dimension: int = 4, **settings: object) -> Cmaes:
    return CmaesConfig(**settings).build(dimension=dimension, seed=0)  # type: ignore[arg-type]  # checked when built


@pytest.mark.parametrize("separable", [True, False])
def test_generations_do_not_depend_on_how_evaluations_come_in(separable: bool) -> None:
    points = np.random.default_rng(0).random((24, 4))
    returns = -np.square(points).sum(1)
    incumbents = []
    for sizes in ([24], [8, 8, 8], [1] * 24, [5, 11, 8]):
        optimizer = search(separable=separable, population=8)
        optimizer.ask(8)
        for part in np.split(np.arange(24), np.cumsum(sizes)[:-1]):
            optimizer.tell(points[part], returns[part])
        incumbents.append(optimizer.best())
    for incumbent in incumbents[1:]:
        np.testing.assert_array_equal(incumbent, incumbents[0])


@pytest.mark.parametrize(("separable", "library"), [(True, SepCMA), (False, CMA)])
def test_it_is_the_library_that_learns(separable: bool, library: type[CMA] | type[SepCMA]) -> None:
    """Fed by hand with the same points, the library ends at the same mean."""
    own = search(separable=separable, population=6, radius=0.3)
    theirs = library(
        mean=np.full(4, 0.5),
        sigma=0.15,
        bounds=np.tile([0.0, 1.0], (4, 1)),
        population_size=6,
    )
    for _ in range(5):
        points = own.ask(6)
        returns = -np.square(points - 0.2).sum(1)
        own.tell(points, returns)
        solutions = zip(points, -returns, strict=True)
        theirs.tell([(point.copy(), float(loss)) for point, loss in solutions])
    np.testing.assert_allclose(own.best(), theirs.mean, rtol=1e-12)


def test_the_first_cloud_has_the_radius_that_is_set() -> None:
    """False alarm: 1e-6 a seed, as squared distances of 8000 coordinates are chi-square."""
    asked = search(80, radius=0.2).ask(100)
    share = np.square(asked - 0.5).sum(1).mean() / 0.04
    assert abs(share - 1.0) < 4.89 * np.sqrt(2.0 / 8000)


def test_points_told_first_set_the_mean_and_neither_population_nor_deviation() -> None:
    points = np.random.default_rng(0).uniform(0.2, 0.4, (200, 4))
    optimizer, plain = search(radius=0.02), search(radius=0.02)
    for part in np.split(np.arange(200), [150]):
        optimizer.tell(points[part], -points[part, 0])
    assert 0.2 < optimizer.best()[0] < 0.27  # uniform over 0.2 to 0.4, the lower half counts
    assert optimizer.best()[1:].max() < 0.4
    asked = optimizer.ask(12)
    assert optimizer.state_dict()["strategy"]["_popsize"] == 12
    np.testing.assert_allclose(asked - optimizer.best(), plain.ask(12) - 0.5, atol=1e-12)


def test_the_first_batch_sets_the_population_unless_it_is_set() -> None:
    unset, fixed = search(), search(population=9)
    for optimizer in (unset, fixed):
        optimizer.ask(13)
    assert unset.state_dict()["strategy"]["_popsize"] == 13
    assert fixed.state_dict()["strategy"]["_popsize"] == 9


def test_candidates_asked_for_one_at_a_time_have_the_population_of_the_dimension() -> None:
    optimizer = search(30)
    optimizer.ask(1)
    assert optimizer.state_dict()["strategy"]["_popsize"] == 14


def test_one_dimension_is_too_few() -> None:
    with pytest.raises(ConfigError, match="dimension is 1; expected an integer >= 2"):
        search(1)


@pytest.mark.parametrize("separable", [True, False])
def test_mirrored_candidates_are_pairs_on_common_episodes(separable: bool) -> None:
    optimizer = CmaesConfig(mirrored=True, separable=separable).build(dimension=4, seed=0)
    for _ in range(30):
        asked = optimizer.ask(9)
        np.testing.assert_array_equal(optimizer.episode_rows(), [0, 0, 2, 2, 4, 4, 6, 6, 8])
        optimizer.tell(asked, -np.square(asked - 0.45).sum(1))
    np.testing.assert_allclose(optimizer.best(), 0.45, atol=0.02)


@pytest.mark.parametrize("separable", [True, False])
def test_no_memory_of_the_process_is_in_the_saved_state(
    separable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library allocates past values by `np.empty`, whose content may be anything."""

    def allocated(shape: int, **_: object) -> np.ndarray[Any, Any]:
        return np.full(shape, 7.0)

    monkeypatch.setattr(np, "empty", allocated)
    optimizer = search(separable=separable, population=4)
    optimizer.ask(4)
    assert not optimizer.state_dict()["strategy"]["_funhist_values"].any()


@pytest.mark.parametrize("separable", [True, False])
def test_a_first_mean_on_a_face_is_one_that_the_library_takes(separable: bool) -> None:
    """Weights of a recombination sum to 1 but for rounding; of some numbers, to more."""
    for count in range(2, 60):
        optimizer = search(separable=separable)
        optimizer.tell(np.ones((count, 4)), np.arange(float(count)))
        assert optimizer.ask(2).shape == (2, 4)
