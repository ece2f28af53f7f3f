"""The cloud in the symmetric subspace narrows while the process predicts its pairs, and no more."""

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.metric import Metric
from rolecast.platform.optimizers.local_gp.prediction import PredictionRule
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import Matern

DIMENSION, PAIRS = 16, 24
TIES = tuple(int(x) for x in np.repeat(np.arange(1, 5), 4))
"""Four orbits of four dimensions, so that the least width is a half."""

CONFIG = LocalGpConfig(groups=tuple(range(DIMENSION)), ties=TIES, radius=0.2, final_radius=0.2)
SLOPE = np.repeat([1.0, -2.0, 0.5, 1.0], 4)


def known_metric(*, symmetric: bool = True) -> Metric:
    found = Metric(CONFIG, 0.0, dimension=DIMENSION)
    found.symmetric = symmetric
    return found


def rising(rng: np.random.Generator) -> Posterior:
    """Return the posterior of a linear function, seen at 80 points without noise."""
    points = 0.5 + 0.05 * rng.standard_normal((80, DIMENSION))
    seen = known_metric().seen(points)
    values = (seen - seen.mean(0)) @ SLOPE
    kernel = Matern(0.5)
    return Posterior(kernel, seen, fit(kernel.matrix(seen, seen), values, np.full(80, 1e-6)))


def told(rule: PredictionRule, slope: Float, batches: int, *, symmetric: bool = True) -> None:
    """Tell a rule of pairs whose returns follow a slope, which the process believes to be SLOPE."""
    rng = np.random.default_rng(0)
    prior, metric = rising(rng), known_metric(symmetric=symmetric)
    for _ in range(batches):
        moves = 0.05 * rng.standard_normal((PAIRS, DIMENSION))
        points = 0.5 + np.stack([moves, -moves], axis=1).reshape(-1, DIMENSION)
        data = Observations(DIMENSION)
        data.add(points, 50.0 + 100.0 * points @ slope, None)
        rule.update(prior, metric, data, np.repeat(np.arange(PAIRS) * 2, 2), 0)


def test_it_narrows_to_the_width_of_a_dimension_without_symmetries() -> None:
    rule, widths = PredictionRule(CONFIG), [1.0]
    for _ in range(8):
        told(rule, SLOPE, 1)
        widths.append(rule.width(4 / 16))
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 0.5
    steps = np.log(widths[:-1]) - np.log(widths[1:])
    assert steps.max() <= SEARCH_CONSTANTS.prediction_width_rate * (1.0 + 1e-12)
    assert rule.explain()["prediction_correlation"] > 0.8
    # Once symmetries are refused it is as wide as ever.
    assert rule.width(1.0) == 1.0


@pytest.mark.parametrize("slope", [-SLOPE, 0.0 * SLOPE], ids=["opposed", "equal returns"])
def test_it_widens_again_where_predictions_fail(slope: Float) -> None:
    rule = PredictionRule(CONFIG)
    told(rule, SLOPE, 8)
    told(rule, slope, 20)
    assert rule.width(4 / 16) == 1.0
    assert rule.explain()["prediction_correlation"] < SEARCH_CONSTANTS.wanted_correlation


def test_before_symmetries_are_accepted_it_only_learns() -> None:
    rule = PredictionRule(CONFIG)
    told(rule, SLOPE, 8, symmetric=False)
    assert rule.width(1.0) == rule.width(4 / 16) == 1.0
    assert rule.explain()["prediction_correlation"] > 0.5


def test_pairs_count_in_whatever_order_they_are_told() -> None:
    """Asynchronous searches tell candidates as their episodes end."""
    rng = np.random.default_rng(3)
    prior, metric, order = rising(rng), known_metric(), rng.permutation(2 * PAIRS)
    points = 0.5 + 0.05 * rng.standard_normal((2 * PAIRS, DIMENSION))
    returns, groups = rng.standard_normal(2 * PAIRS), np.repeat(np.arange(PAIRS), 2)
    found = []
    for rows in (np.arange(2 * PAIRS), order):
        data = Observations(DIMENSION)
        data.add(points[rows], returns[rows], None)
        rule = PredictionRule(CONFIG)
        rule.update(prior, metric, data, groups[rows], 0)
        found.append(rule.explain()["prediction_correlation"])
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    assert found[0] != 0.0


def test_a_small_batch_changes_it_in_proportion_and_known_points_do_not_count() -> None:
    rng = np.random.default_rng(4)
    prior, metric, small = rising(rng), known_metric(), 2
    points = 0.5 + 0.05 * rng.standard_normal((40, DIMENSION))
    returns, groups = 100.0 * points @ SLOPE, np.repeat(np.arange(20), 2)
    for known in (0, 40 - 2 * small):
        data, rule = Observations(DIMENSION), PredictionRule(CONFIG)
        data.add(points, returns, None)
        rule.update(prior, metric, data, groups, known)
        share = (20 - known / 2) / SEARCH_CONSTANTS.full_prediction_pairs
        whole = SEARCH_CONSTANTS.correlation_weight
        assert rule.explain()["prediction_correlation"] == pytest.approx(share * whole, rel=0.02)


def test_without_pairs_it_stays_as_it_is() -> None:
    rule, data = PredictionRule(CONFIG), Observations(DIMENSION)
    data.add(np.random.default_rng(0).random((6, DIMENSION)), np.arange(6.0), None)
    rule.update(rising(np.random.default_rng(1)), known_metric(), data, np.arange(6), 0)
    assert rule.state_dict() == PredictionRule(CONFIG).state_dict()


def searched(noise: float, *, symmetry: str = "assumed") -> tuple[LocalSearch, list[float]]:
    """Search a linear function, and return the length of each move, in radii."""
    config = LocalGpConfig(
        groups=CONFIG.groups, ties=TIES, symmetry=symmetry, radius=0.2, final_radius=0.2
    )
    search = LocalSearch(config, dimension=DIMENSION, seed=0)
    rng, moves = np.random.default_rng(1), list[float]()
    for batch in range(16):
        search.pace(batch / 16)
        before = search.state_dict()["centre"]
        points = search.ask(48)
        errors = rng.standard_normal(48)
        search.tell(points, 50.0 + 10.0 * (points - 0.5) @ SLOPE + noise * errors)
        moved = np.linalg.norm(search.state_dict()["centre"] - before)
        moves.append(float(moved) / search.radius)
    return search, moves


def test_a_search_that_predicts_is_narrower_and_moves_as_far() -> None:
    clear, moves = searched(0.1)
    assert clear.radius == pytest.approx(0.1)
    assert moves[-1] > 0.3 * 1.5
    assert max(moves) <= 0.3 * 2.0 * (1.0 + 1e-9)
    assert searched(1e4)[0].radius > 0.18
    without, _ = searched(0.1, symmetry="ignored")
    assert without.radius == pytest.approx(0.2)
    assert "prediction_correlation" not in without.explain()


def test_a_state_of_an_earlier_version_has_no_prediction() -> None:
    search, _ = searched(0.1)
    state = search.state_dict()
    del state["prediction"]
    restored = LocalSearch(CONFIG, dimension=DIMENSION, seed=0)
    restored.load_state_dict(state)
    assert restored.state_dict()["prediction"] == {"width": 1.0, "correlation": 0.0}
