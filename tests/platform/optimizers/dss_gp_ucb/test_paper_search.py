"""The paper's global search: greatest bound under the posterior of the sum kernel, in batches."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb import paper_search
from rolecast.platform.optimizers.dss_gp_ucb.paper_search import CANDIDATE_SOURCES, GlobalSearch
from rolecast.platform.optimizers.gp_ucb import GpUcbConfig


def search(
    dimension: int,
    cliques: Sequence[Sequence[int]] | None = None,
    *,
    seed: int = 0,
    **settings: Any,
) -> GlobalSearch:
    plain: dict[str, Any] = {"outcome_transform": "none", "beta": 0.2, "max_points": 60, "pool": 64}
    config = GpUcbConfig(**(plain | settings))
    return GlobalSearch(config, dimension=dimension, seed=seed, cliques=cliques)


def wave(points: Float) -> Float:
    return np.sin(5.0 * points[:, 0]) + np.cos(4.0 * points[:, 1])


@pytest.mark.parametrize("cliques", [None, ((0, 1), (1, 2), (2, 3)), ((0,), (1,), (2,), (3,))])
def test_it_finds_the_summit_of_a_smooth_function(
    cliques: Sequence[Sequence[int]] | None,
) -> None:
    optimizer = search(4, cliques)
    for _ in range(10):
        asked = optimizer.ask(6)
        optimizer.tell(asked, wave(asked), np.zeros(6))
    assert wave(optimizer.best()[None])[0] > 1.97  # of 2


@pytest.mark.parametrize(("cliques", "width"), [(None, 1), (((0, 1, 2), (3,)), 3)])
def test_beta_grows_as_the_logarithm_of_time_and_with_the_largest_clique(
    cliques: Sequence[Sequence[int]] | None, width: int
) -> None:
    optimizer = search(4, cliques, beta=0.3)
    optimizer.tell(np.random.default_rng(0).random((20, 4)), np.arange(20.0))
    assert optimizer._root_beta() == pytest.approx(np.sqrt(0.3 * width * np.log(40.0)))


def test_told_candidates_are_pending_no_more() -> None:
    optimizer = search(3)
    asked = optimizer.ask(5)
    optimizer.tell(asked[[3, 0]], np.zeros(2))
    np.testing.assert_array_equal(optimizer.state_dict()["pending"], asked[[1, 2, 4]])
    optimizer.tell(np.full((1, 3), 0.5), np.zeros(1))
    assert len(optimizer.state_dict()["pending"]) == 3


def test_a_batch_may_be_larger_than_the_pool() -> None:
    optimizer = search(2, pool=2)
    optimizer.tell(np.full((1, 2), 0.5), np.zeros(1))
    assert len(np.unique(optimizer.ask(37), axis=0)) == 37


def test_the_incumbent_is_not_the_luckiest_draw() -> None:
    """One return of 3 with a standard error of 3 beside a plateau of 1 measured well."""
    rng = np.random.default_rng(0)
    low, plateau = 0.2 * rng.random((20, 2)), 0.7 + 0.2 * rng.random((20, 2))
    points = np.concatenate([low, plateau])
    returns = np.concatenate([np.zeros(20), np.ones(20)]) + 0.01 * rng.normal(size=40)
    errors = np.full(40, 0.01)
    returns[4], errors[4] = 3.0, 3.0
    optimizer = search(2)
    optimizer.tell(points, returns, errors)
    assert optimizer.best().min() >= 0.7


def test_the_bound_is_climbed() -> None:
    optimizer = search(3)
    points = np.random.default_rng(0).random((30, 3))
    optimizer.tell(points, wave(points), np.zeros(30))
    posterior, start = optimizer._process.posterior(optimizer._data), np.array([0.9, 0.9, 0.5])
    refined = optimizer._refine(posterior, start, 0.5)
    assert ((refined >= 0.0) & (refined <= 1.0)).all()
    means, deviations = posterior.mean_and_deviation(np.stack([start, refined]))
    bound = means + 0.5 * deviations
    assert bound[1] > bound[0] + 0.5 * means.std()


def test_the_climb_follows_the_gradient_of_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Central differences of 1e-5; beta is large, so that the deviation's part counts."""
    optimizer = search(3, ((0, 1), (1, 2)))
    points = np.random.default_rng(0).random((30, 3))
    optimizer.tell(points, wave(points), np.zeros(30))
    climbed: list[Any] = []

    def kept(loss: Any, start: Float, **settings: Any) -> Any:
        climbed.append(loss)
        return minimize(loss, start, **settings)

    monkeypatch.setattr(paper_search, "minimize", kept)
    optimizer._refine(optimizer._process.posterior(optimizer._data), np.full(3, 0.4), 5.0)
    (loss,) = climbed
    for point in np.random.default_rng(1).uniform(0.1, 0.9, (5, 3)):
        steps = 1e-5 * np.eye(3)
        slopes = [(loss(point + step)[0] - loss(point - step)[0]) / 2e-5 for step in steps]
        np.testing.assert_allclose(loss(point)[1], slopes, rtol=1e-3, atol=1e-4)


def test_it_says_where_a_batch_came_from() -> None:
    optimizer = search(3)
    points = np.random.default_rng(0).random((30, 3))
    optimizer.tell(points, wave(points), np.zeros(30))
    assert "from_climb" not in optimizer.explain()
    optimizer.ask(10)
    shares = [optimizer.explain()[f"from_{name}"] for name in CANDIDATE_SOURCES]
    assert sum(shares) == pytest.approx(1.0)
    assert optimizer.explain()["from_climb"] > 0.0
    optimizer.ask(60)  # nearly all of the pool, beside ten points that are pending
    shares = [optimizer.explain()[f"from_{name}"] for name in CANDIDATE_SOURCES]
    assert sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize(("cliques", "share"), [(None, 0.0), (((0, 1), (2,)), 1.0)])
def test_one_evaluation_leaves_the_lengthscale_to_its_prior(
    cliques: Sequence[Sequence[int]] | None, share: float
) -> None:
    optimizer = search(3, cliques)
    optimizer.tell(np.full((1, 3), 0.5), np.zeros(1), np.zeros(1))
    told = optimizer.explain()
    assert told["lengthscale"] == 0.5  # the median
    assert told["structure_share"] == share


def test_points_told_again_and_again_without_noise_harm_nothing() -> None:
    """Forty times the same five exact points: the least noise of the choices keeps it regular."""
    optimizer = search(3)
    points = np.repeat(np.random.default_rng(0).random((5, 3)), 40, axis=0)
    optimizer.tell(points, wave(points), np.zeros(200))
    np.testing.assert_array_equal(optimizer.best(), points[np.argmax(wave(points))])
    assert optimizer.explain()["noise_share"] <= 1e-3
