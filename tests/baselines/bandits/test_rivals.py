"""Rivals: their ledgers by hand, their order of regret, what they become in limits, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from rolecast.baselines.bandits.dictionary import Dictionary, log_determinant
from rolecast.baselines.bandits.posterior import CandidatePosterior, sparse_posterior
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.domain import Box
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.search.bandit.method import BANDIT_METHODS, BanditProblem, method_config
from rolecast.platform.search.bandit.run import BanditResult, bandit_search

SMALL = {"agents": 3, "rounds": 12, "seed": 1}


def played(method: str, **settings: float) -> BanditResult:
    return bandit_search("branin", method=method, settings=settings, **SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", BANDIT_METHODS)
def test_every_method_plays_all_rounds_and_counts_what_it_sent(method: str) -> None:
    found = played(method)
    assert found.regret_by_round is not None
    assert len(found.regret_by_round) == len(found.reals_by_round) == 12
    assert (np.diff(found.regret_by_round) >= 0).all()
    assert (np.diff(found.reals_by_round) >= 0).all()
    assert found.reals_by_round[-1] == found.communication_reals
    assert found.communication_bytes == 8 * found.communication_reals
    assert found == played(method)
    assert found.reals_by_round == pytest.approx(sent_by_round(found))
    if method != "centralised":
        assert sum(each["uplink"] for each in found.epochs) == pytest.approx(found.uplink_reals)
        assert sum(each["downlink"] for each in found.epochs) == found.downlink_reals


def sent_by_round(found: BanditResult) -> Float:
    """Return the real numbers [T] of all exchanges up to each round, of the records alone."""
    if found.method == "centralised":  # a point goes, and a value comes
        return np.asarray(3.0 * np.arange(1, found.rounds + 1))
    sent, done = np.zeros(found.rounds), 0
    for each in found.epochs:
        done = each["round"] if "round" in each else done + each["length"]
        sent[done - 1] += each["uplink"] + each["downlink"]
    return np.asarray(np.cumsum(sent))


def test_ledgers_by_hand() -> None:
    assert played("nkernelucb").communication_reals == 0
    central = played("centralised")
    assert (central.uplink_reals, central.downlink_reals) == (12.0, 24.0)
    shared = played("diskernelucb", threshold=1e-9)
    assert len(shared.epochs) == 12
    assert (shared.uplink_reals, shared.downlink_reals) == (12 * 3.0, 12 * 9.0)
    raw = played("elimination")  # epochs of 2, 4 and 6 draws; the last without exchange
    assert (raw.uplink_reals, raw.downlink_reals) == (6 * 3.0, 18 * 3.0)
    for each in played("approxdiskernelucb", threshold=1.0).epochs:
        size = each["dictionary"]
        statistics = size * (size + 1) / 2 + size
        assert each["uplink"] == pytest.approx(size * 2 / 3 + statistics)
        assert each["downlink"] == size * 2 + statistics


@pytest.mark.parametrize("method", ["diskernelucb", "approxdiskernelucb", "asynckernelucb"])
def test_without_an_exchange_they_are_n_kernel_ucb(method: str) -> None:
    found = played(method, threshold=1e9)
    assert found.communication_reals == 0
    alone = played("nkernelucb")
    assert found.regret_by_round == pytest.approx(alone.regret_by_round, rel=1e-12)
    assert found.incumbent == alone.incumbent


def test_agents_begin_at_points_of_their_own() -> None:
    """Agents with one posterior ask for one point: noise alone would part them, and slowly."""
    for method in ("nkernelucb", "diskernelucb", "approxdiskernelucb"):
        problem = BanditProblem(domain=Box.unit(2), agents=6, rounds=9, seed=4, lengthscale=0.2)
        first = method_config(method, {}).build(problem).ask()
        assert len(np.unique(first[:, 0], axis=0)) == 6
        other = method_config(method, {}).build(replace(problem, seed=5)).ask()
        assert not np.array_equal(first, other)


def test_with_all_points_in_the_dictionary_the_approximation_is_exact() -> None:
    """Exchanges in the same rounds: after each, both know the same data."""
    exact = played("diskernelucb", threshold=1e-9)
    near = played("approxdiskernelucb", threshold=1e-9, inducing_factor=1e9)
    assert len(near.epochs) == len(exact.epochs) == 12
    assert near.regret_by_round == pytest.approx(exact.regret_by_round, rel=1e-6)


def test_statistics_in_a_grown_dictionary_are_those_of_the_smaller_with_zeros() -> None:
    """Cholesky features of old points do not change; with all points they give the kernel back."""
    points = np.random.default_rng(0).random((60, 2))
    kernel = StationaryKernel("matern32", 0.3)
    dictionary = Dictionary(kernel, points)
    dictionary.add(np.array([5, 9]))
    two = dictionary.features.copy()
    np.testing.assert_allclose(two @ two.T, nystrom(kernel, points, [5, 9]), atol=1e-8)
    dictionary.add(np.array([30, 2, 47]))
    np.testing.assert_array_equal(dictionary.features[:, :2], two)
    found = dictionary.features @ dictionary.features.T
    np.testing.assert_allclose(found, nystrom(kernel, points, [5, 9, 30, 2, 47]), atol=1e-8)
    np.testing.assert_allclose(dictionary.lacking, 1.0 - np.diag(found), atol=1e-12)
    dictionary.add(np.setdiff1d(np.arange(60), dictionary.places))
    whole = dictionary.features @ dictionary.features.T
    np.testing.assert_allclose(whole, kernel.matrix(points, points), atol=1e-8)


def nystrom(kernel: StationaryKernel, points: Float, chosen: list[int]) -> Float:
    """Return K_CS K_SS^-1 K_SC."""
    across = kernel.matrix(points, points[chosen])
    return np.asarray(across @ np.linalg.solve(across[chosen], across.T))


def test_a_sparse_posterior_with_all_points_in_the_dictionary_is_the_exact_one() -> None:
    rng = np.random.default_rng(1)
    points, kernel = rng.random((40, 2)), StationaryKernel("matern52", 0.3)
    covariance = kernel.matrix(points, points)
    exact = CandidatePosterior(lambda row: covariance[row], np.zeros(40), np.ones(40), 0.04)
    dictionary, places, values = (
        Dictionary(kernel, points),
        rng.integers(40, size=15),
        rng.random(15),
    )
    dictionary.add(np.unique(places))
    for place, value in zip(places, values, strict=True):
        exact.add(int(place), float(value))
    z = dictionary.features[places]
    sparse = sparse_posterior(dictionary.features, z.T @ z, z.T @ values, 0.04)
    np.testing.assert_allclose(sparse.mean, exact.mean, atol=1e-8)
    np.testing.assert_allclose(sparse.variance + dictionary.lacking, exact.variance, atol=1e-8)
    gain = np.linalg.slogdet(np.eye(15) + covariance[np.ix_(places, places)] / 0.04)[1]
    assert log_determinant(z.T @ z, 0.04) == pytest.approx(gain, abs=1e-6)


def test_who_sends_and_receives_asynchronously() -> None:
    """With any gain enough, each query is sent to all, and its ledger is counted by hand."""
    found = played("asynckernelucb", threshold=1e-9, inducing_factor=1e9)
    assert len(found.epochs) == 36
    assert [each["sender"] for each in found.epochs] == [0, 1, 2] * 12
    assert [each["round"] for each in found.epochs] == sorted([*range(1, 13)] * 3)
    held = {0: 0, 1: 0, 2: 0}
    before = 0
    for each in found.epochs:
        size, sender = each["dictionary"], each["sender"]
        statistics = size * (size + 1) / 2 + size
        up = (size - before) * 2 + statistics
        down = (before - held[sender]) * 2
        held[sender] = size
        if each["receivers"] == 2:
            others = [agent for agent in held if agent != sender]
            down += sum((size - held[agent]) * 2 + statistics for agent in others)
            held.update(dict.fromkeys(others, size))
        assert each["receivers"] in {0, 2}
        assert each["uplink"] == pytest.approx(up / 3)
        assert each["downlink"] == pytest.approx(down / 3)
        before = size
    central = played("centralised").cumulative_regret
    assert found.cumulative_regret == pytest.approx(central, rel=0.25)


def test_one_agent_makes_all_exact_methods_equal() -> None:
    one = [
        bandit_search("branin", method=method, agents=1, rounds=15).regret_by_round
        for method in ("nkernelucb", "centralised", "diskernelucb")
    ]
    assert one[0] == pytest.approx(one[1], rel=1e-9)
    assert one[0] == pytest.approx(one[2], rel=1e-9)


@pytest.mark.parametrize("method", ["duets", "elimination", "nkernelucb"])
def test_methods_that_sample_a_region_take_ten_inputs_at_most(method: str) -> None:
    for dimension in (10, 11):
        given = {"bounds": [(0, 1)] * dimension, "agents": 2, "rounds": 3, "method": method}
        if dimension == 10 or method == "nkernelucb":
            assert len(bandit_search(np.sum, **given).incumbent) == dimension  # type: ignore[arg-type]
            continue
        with pytest.raises(ConfigError, match="number of inputs is 11; expected at most 10, for m"):
            bandit_search(np.sum, **given)  # type: ignore[arg-type]


def test_sharing_helps() -> None:
    """Of the same queries the central searcher loses least, agents alone most; three seeds."""
    totals = {
        method: sum(
            bandit_search("branin", method=method, agents=5, rounds=20, seed=seed).cumulative_regret
            or 0.0
            for seed in range(3)
        )
        for method in ("centralised", "diskernelucb", "nkernelucb")
    }
    assert totals["centralised"] < totals["diskernelucb"] < totals["nkernelucb"]


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("nkernelucb", {"beta": 0.0}, "NKernelUcbConfig.beta is 0.0; expected a number > 0"),
        ("diskernelucb", {"threshold": -1.0}, "threshold is -1.0; expected a number > 0"),
        ("asynckernelucb", {"threshold": 0.0}, "threshold is 0.0; expected a number > 0"),
        ("centralised", {"threshold": 1.0}, "setting of method 'centralised' 'threshold' does not"),
        ("elimination", {"first_epoch": 0}, "first_epoch is 0; expected an integer >= 1"),
        ("elimination", {"first_epoch": 13}, "rounds is 12; expected an integer >= 13"),
    ],
)
def test_settings_without_meaning_are_refused(
    method: str, settings: dict[str, float], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        played(method, **settings)
