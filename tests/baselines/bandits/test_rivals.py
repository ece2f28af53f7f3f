"""Rivals: their ledgers by hand, their order of regret, what they become in limits, refusals."""

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.bandit.method import BANDIT_METHODS
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
    if method != "centralised":
        assert sum(each["uplink"] for each in found.epochs) == pytest.approx(found.uplink_reals)
        assert sum(each["downlink"] for each in found.epochs) == found.downlink_reals


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


def test_without_an_exchange_both_are_n_kernel_ucb() -> None:
    alone = played("nkernelucb")
    for method in ("diskernelucb", "approxdiskernelucb"):
        found = played(method, threshold=1e9)
        assert found.communication_reals == 0
        assert found.regret_by_round == alone.regret_by_round


def test_with_all_points_in_the_dictionary_the_approximation_is_exact() -> None:
    """Exchanges in the same rounds: after each, both know the same data."""
    exact = played("diskernelucb", threshold=1e-9)
    near = played("approxdiskernelucb", threshold=1e-9, inducing_factor=1e9)
    assert len(near.epochs) == len(exact.epochs) == 12
    assert near.regret_by_round == pytest.approx(exact.regret_by_round, rel=1e-6)


def test_one_agent_makes_all_exact_methods_equal() -> None:
    one = [
        bandit_search("branin", method=method, agents=1, rounds=15).regret_by_round
        for method in ("nkernelucb", "centralised", "diskernelucb")
    ]
    assert one[0] == pytest.approx(one[1], rel=1e-9)
    assert one[0] == pytest.approx(one[2], rel=1e-9)


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
