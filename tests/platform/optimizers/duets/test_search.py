"""DUETS by ask and tell: any batches, any order, exact state, and at most 10 dimensions."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.search import DuetsSearch
from rolecast.platform.optimizers.registry import make_optimizer

SETTINGS = {"agents": 4, "rounds": 30, "lengthscale": 0.3}


def paid(points: Float) -> Float:
    return np.asarray(3.0 - 5.0 * np.square(points - 0.4).sum(1))


def built(settings: dict[str, Any], seed: int) -> DuetsSearch:
    search = make_optimizer("duets", dimension=2, seed=seed, **settings)
    assert isinstance(search, DuetsSearch)
    return search


def fresh(seed: int = 0) -> DuetsSearch:
    return built(SETTINGS, seed)


def searched(sizes: list[int], *, backwards: bool) -> DuetsSearch:
    search = fresh()
    for size in sizes:
        points = search.ask(size)
        order = np.arange(size)[::-1] if backwards else np.arange(size)
        search.tell(points[order], paid(points[order]))
    return search


def test_batches_and_their_order_change_nothing() -> None:
    """Epochs are 2, 7 and 14 draws of 4 agents: sizes that end with them, in other parts."""
    one = searched([8, 28, 56], backwards=False)
    other = searched([3, 5, 20, 8, 7, 49], backwards=True)
    np.testing.assert_array_equal(one.ask(10), other.ask(10))
    np.testing.assert_array_equal(one.best(), other.best())


def test_further_draws_while_values_are_awaited_change_no_trimming() -> None:
    patient, eager = searched([8, 28], backwards=False), fresh()
    first = eager.ask(8)
    beyond = eager.ask(5)
    assert len(np.unique(np.concatenate([first, beyond]), axis=0)) == 13
    eager.tell(beyond, paid(beyond))
    eager.tell(first, paid(first))
    points = eager.ask(28)
    eager.tell(points, paid(points))
    np.testing.assert_array_equal(eager.ask(10), patient.ask(10))


def test_the_search_finds_the_maximum_of_a_noisy_function() -> None:
    """Deviation of the noise 0.2, a tenth of the range; brute force says (0.4, 0.4)."""
    search = built({"rounds": 60, "lengthscale": 0.3}, 1)
    rng = np.random.default_rng(0)
    for _ in range(60):
        points = search.ask(10)
        search.tell(points, paid(points) + 0.2 * rng.standard_normal(10))
    np.testing.assert_allclose(search.best(), 0.4, atol=0.08)
    last = search.ask(200)
    assert paid(last).mean() > paid(np.random.default_rng(1).random((2000, 2))).mean() + 0.5
    assert search.explain()["region_share"] < 0.8


@pytest.mark.parametrize("told", [0, 5, 8, 20, 120])
def test_a_state_restores_all(told: int) -> None:
    original, restored = fresh(), fresh(seed=7)
    for _ in range(told):
        points = original.ask(1)
        original.tell(points, paid(points))
    restored.load_state_dict(original.state_dict())
    for size in (3, 30, 9):
        one, same = original.ask(size), restored.ask(size)
        np.testing.assert_array_equal(one, same)
        for search in (original, restored):
            search.tell(one, paid(one))
        np.testing.assert_array_equal(original.best(), restored.best())


def test_more_than_ten_dimensions_are_refused_with_what_to_use() -> None:
    assert make_optimizer("duets", dimension=10).ask(1).shape == (1, 10)
    with pytest.raises(ConfigError, match=r"'duets' is 11; expected at most 10, .*local_gp") as no:
        make_optimizer("duets", dimension=11)
    assert "\n" not in str(no.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": 3, "first_epoch": 4}, "rounds is 3; expected an integer >= 4, the first epoch"),
        ({"beta": -1}, "DuetsConfig.beta is -1; expected a number > 0"),
        ({"lengthscale": 0.0}, r"DuetsConfig.lengthscale is 0.0; expected a number in \[1e-06, "),
        ({"lengthscale": 1e300}, r"DuetsConfig.lengthscale is 1e\+300; expected a number in "),
        ({"lengthscale": 1e-300}, r"DuetsConfig.lengthscale is 1e-300; expected a number in "),
        ({"kernel": "rbf"}, "DuetsConfig.kernel is 'rbf'; expected 'squared_exponential' or"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_optimizer("duets", dimension=2, **settings)


@pytest.mark.parametrize("equal", [0.0, 0.1])
def test_an_epoch_of_equal_returns_sets_no_scale(equal: float) -> None:
    """Of 20 times 0.1 the deviation is 1e-17 by rounding; returns differ in the next epoch."""
    plain, scaled = fresh(), fresh()
    for search, unit in ((plain, 1.0), (scaled, 100.0)):
        search.tell(points := search.ask(8), np.full(8, equal))
        points = search.ask(28)
        search.tell(points, unit * paid(points))
    assert plain.explain()["epoch"] == 2.0
    np.testing.assert_allclose(plain.ask(20), scaled.ask(20))


def test_points_that_were_lost_are_asked_for_again() -> None:
    whole, interrupted = searched([8], backwards=False), searched([8], backwards=False)
    known = interrupted.ask(20)[::2]
    interrupted.tell(known, paid(known))
    further = interrupted.ask(13)[8:]
    again = fresh()
    again.load_state_dict(interrupted.state_dict())
    again.forget_pending()
    rest = again.ask(18)
    assert not {row.tobytes() for row in again.ask(5)} & {row.tobytes() for row in further}
    again.tell(rest, paid(rest))
    points = whole.ask(28)
    whole.tell(points, paid(points))
    assert again.explain() == whole.explain()
    np.testing.assert_array_equal(again.ask(10), whole.ask(10))
