"""The process of a local search: what stands between refits, and that extending is conditioning."""

from typing import Any

import numpy as np
import pytest

from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.evidence import best_share
from rolecast.platform.optimizers.local_gp.model import LocalGp
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.outcome_transform import transform_returns

CLIQUES = ((0, 1), (2, 3))
SEEN = 560
"""Evaluations told at first: more than those up to which every batch is a refit."""

POLICY: dict[str, Any] = {"groups": (0, 0, 1, 1), "outcome_transform": "signed_sqrt", "radius": 0.8}


def process(**settings: Any) -> LocalGp:
    config = DssGpUcbConfig(cliques=CLIQUES, window=2000, **settings)
    return LocalGp(config, config.search_defaults(4), dimension=4)


def conditioned(model: LocalGp, data: Observations, radius: float, tells: int) -> Posterior:
    """Condition on evaluations of which none share episodes."""
    return model.condition(data, np.arange(len(data)), radius, tells)


def observations(count: int) -> Observations:
    data, rng = Observations(4), np.random.default_rng(0)
    points = rng.random((count, 4))
    values = np.cos(6.0 * points[:, 0] * points[:, 1]) + np.sin(5.0 * points[:, 2] + points[:, 3])
    errors = 0.1 + 0.1 * rng.random(count)
    data.add(points, values + errors * rng.standard_normal(count), errors)
    return data


def first(data: Observations, count: int) -> Observations:
    part = Observations(4)
    part.add(data.candidates[:count], data.returns[:count], data.stderrs[:count])
    return part


@pytest.mark.parametrize("settings", [{}, POLICY], ids=["black box", "policy"])
def test_an_extended_process_is_the_one_conditioned_on_all_points(settings: dict[str, Any]) -> None:
    """By the choices of the last refit, which stand; against a factor of the whole covariance."""
    data, model = observations(SEEN + 30), process(**settings)
    refitted = conditioned(model, first(data, SEEN), 0.8, 5)
    before = model.explain()
    extended = conditioned(model, data, 0.75, 6)
    assert model.explain() == before
    assert before["structure_share"] > 0.0
    assert len(refitted.points) == SEEN
    assert len(extended.points) == SEEN + 30

    covariance = extended.kernel.matrix(extended.points, extended.points)
    # The diagonal of L L' is 1 + noise: what each point was given, old or new.
    noise = np.square(np.tril(extended.fit.factor)).sum(1) - 1.0
    targets, _ = transform_returns(data.returns, settings.get("outcome_transform"))
    expected = fit(covariance, targets, noise)
    assert noise.min() > 0.0
    np.testing.assert_allclose(extended.fit.weights, expected.weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(extended.fit.log_evidence, expected.log_evidence, rtol=1e-8)


@pytest.mark.parametrize(
    ("count", "radius", "refits"),
    [(SEEN + 20, 0.8, False), (SEEN + 56, 0.8, True), (SEEN + 20, 0.6, True)],
    ids=["few new ones", "a tenth more", "the cloud narrowed by a quarter"],
)
def test_it_is_fitted_anew_when_it_or_the_cloud_has_changed(
    count: int, radius: float, refits: bool
) -> None:
    data, model = observations(count), process()
    conditioned(model, first(data, SEEN), 0.8, 2)
    conditioned(model, data, radius, 3)
    _, stop, seen_radius = model.state_dict()["span"]
    assert (stop, seen_radius) == ((count, radius) if refits else (SEEN, 0.8))


def test_a_small_process_is_fitted_anew_with_every_batch() -> None:
    data, model = observations(110), process()
    for tells, count in enumerate((100, 105, 110), start=2):
        conditioned(model, first(data, count), 0.8, tells)
        assert model.state_dict()["span"][1] == count


@pytest.mark.parametrize("settings", [{}, POLICY], ids=["black box", "policy"])
def test_between_refits_it_goes_on_from_a_state_to_the_last_bit(settings: dict[str, Any]) -> None:
    data, model, other = observations(SEEN + 30), process(**settings), process(**settings)
    conditioned(model, first(data, SEEN), 0.8, 5)
    conditioned(model, first(data, SEEN + 10), 0.8, 6)
    other.load_state_dict(model.state_dict())
    for count in (SEEN + 20, SEEN + 30):
        one, same = (conditioned(each, first(data, count), 0.8, 7) for each in (model, other))
        np.testing.assert_array_equal(one.fit.weights, same.fit.weights)
        np.testing.assert_array_equal(one.fit.factor, same.fit.factor)


def test_what_it_returned_last_is_had_again() -> None:
    data, model = observations(SEEN + 10), process()
    assert model.current(data, np.arange(len(data))) is None
    for count in (SEEN, SEEN + 10):
        part = first(data, count)
        one, again = conditioned(model, part, 0.8, 2), model.current(part, np.arange(len(part)))
        assert again is not None
        np.testing.assert_array_equal(one.fit.weights, again.fit.weights)


def test_the_noise_moves_one_place_of_its_grid_at_a_refit_and_reaches_the_ends() -> None:
    """Returns without noise lead to the least variance, returns of noise alone to a greater one."""
    grid = [
        *SEARCH_CONSTANTS.small_noise_variances,
        *SEARCH_CONSTANTS.noise_variances,
        *SEARCH_CONSTANTS.large_noise_variances,
    ]
    rng = np.random.default_rng(1)
    points, noise = rng.random((100, 4)), rng.standard_normal(100)
    ends = []
    for values in (points.sum(1), noise):
        data, model = Observations(4), process()
        data.add(points, values, np.zeros(100))
        places = [grid.index(SEARCH_CONSTANTS.first_noise_variance)]
        for tells in range(1, 2 * len(grid)):
            conditioned(model, first(data, 50 + tells), 0.8, tells)
            places.append(grid.index(model.explain()["noise_share"]))
        assert np.abs(np.diff(places)).max() == 1
        ends.append(grid[places[-1]])
    assert ends[0] == grid[0]
    assert ends[1] > SEARCH_CONSTANTS.first_noise_variance


def test_the_share_of_structure_is_chosen_at_its_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    tells = 0

    def choose(*given: Any, **further: Any) -> Any:
        chosen.append(tells)
        return best_share(*given, **further)

    monkeypatch.setattr("rolecast.platform.optimizers.local_gp.model.best_share", choose)
    data, model = observations(80), process()
    for tells in range(1, 11):
        conditioned(model, first(data, 50 + tells), 0.8, tells)
    interval = SEARCH_CONSTANTS.choice_interval
    assert sorted(set(chosen)) == [1, 1 + interval, 1 + 2 * interval]


def test_what_is_explained_is_what_the_kernel_has() -> None:
    model = process()
    posterior = conditioned(model, observations(80), 0.8, 1)
    told = model.explain()
    assert told["structure_share"] > 0.0
    assert told["structure_pairs"] in {0.0, 1.0}
    assert told["lengthscale"] == pytest.approx(0.8 * model.state_dict()["choices"][2])
    assert told["structure_pairs"] == float(model.state_dict()["structure"] == "pairs")
    assert len(posterior.points) == 80
