"""Certificates hold as often as they say, and travel with the policy."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.platform.deployment.certify import certify, rate_bound, return_bound
from rolecast.platform.deployment.config import CertifyConfig, ExportConfig
from rolecast.platform.deployment.export import (
    INTEGERS_UNCERTIFIED,
    PYTHON_UNCERTIFIED,
    export_policy,
)
from rolecast.platform.reports.run import write_report
from rolecast.policies.artefact import load_policy
from rolecast.policies.certificate import bound_text, certificate_sentence

TRIALS = 4000


def broken(bound: Callable[[Float], float], draws: Float, truth: float) -> int:
    """Return how many of the bounds from draws [trials, E] are above the true mean."""
    return sum(bound(row) > truth for row in draws)


def test_bounds_on_rates_hold_as_often_as_they_say() -> None:
    """False alarm: 1e-6. A bound of confidence 0.88 in place of 0.9 is found with 0.2 %."""
    draws = (np.random.default_rng(0).random((TRIALS, 150)) < 0.8).astype(np.float64)
    wrong = broken(lambda row: rate_bound(row, 0.9).at_least, draws, 0.8)
    assert wrong <= binom.ppf(1 - 1e-6, TRIALS, 0.1)
    assert wrong > 0.05 * TRIALS  # a bound that never fails is too low to be of use


def test_bounds_on_bounded_returns_hold_as_often_as_they_say() -> None:
    """False alarm: 1e-6. Returns are skewed: 0 in most episodes, 1 in few."""
    draws = (np.random.default_rng(1).random((TRIALS, 150)) < 0.05).astype(np.float64)
    wrong = broken(lambda row: return_bound(row, 0.9, (0.0, 1.0)).at_least, draws, 0.05)
    assert wrong <= binom.ppf(1 - 1e-6, TRIALS, 0.1)
    long = return_bound(draws.ravel(), 0.9, (0.0, 1.0))
    assert 0.04 < long.at_least < long.mean


def test_the_normal_bound_holds_as_often_as_it_says_where_returns_are_not_skewed() -> None:
    """False alarm: 1e-6; the bound is asymptotic, so one point of confidence is granted."""
    draws = np.random.default_rng(2).uniform(-1.0, 1.0, (TRIALS, 150))
    wrong = broken(lambda row: return_bound(row, 0.9).at_least, draws, 0.0)
    assert wrong <= binom.ppf(1 - 1e-6, TRIALS, 0.11)
    assert wrong >= binom.ppf(1e-6, TRIALS, 0.09)


def test_rates_of_none_and_of_all_have_the_bounds_of_the_formula() -> None:
    assert rate_bound(np.zeros(10), 0.99).at_least == 0.0
    assert rate_bound(np.ones(10), 0.99).at_least == pytest.approx(0.01 ** (1 / 10))


def test_a_signed_policy_is_not_written_anew_without_a_key(run: Path) -> None:
    signature = run / "policy" / "policy.json.sig"
    signature.write_bytes(b"of somebody")
    before = (run / "policy" / "policy.json").read_bytes()
    with pytest.raises(RequestError, match=r"policy\.json is signed, and would be written anew"):
        certify(run, CertifyConfig(episodes=400))
    assert (run / "policy" / "policy.json").read_bytes() == before
    signature.unlink()
    certify(run, CertifyConfig(episodes=400))


@pytest.fixture
def run(small_run: Path, tmp_path: Path) -> Path:
    """Folder of a run to change."""
    return Path(shutil.copytree(small_run, tmp_path / "run"))


def test_a_certificate_is_stored_and_printed_in_the_exported_header(
    run: Path, tmp_path: Path
) -> None:
    before = load_policy(run)
    found = certify(run, CertifyConfig(episodes=400, returns_within=(-1e4, 1e4)))
    after = load_policy(run)
    np.testing.assert_array_equal(after.weights, before.weights)
    stored = after.extra["certificate"]
    assert stored["episode_return"]["at_least"] == found.episode_return.at_least
    assert (stored["seed"], stored["returns_within"]) == (0, [-1e4, 1e4])
    sentence = certificate_sentence(after.certificate)
    assert sentence is not None
    bound = bound_text("mean return", found.episode_return.at_least)  # rounded down
    assert f">{bound}<" in write_report(run).read_text().split("Certificate")[1]
    export_policy(run, tmp_path / "out", ExportConfig())
    assert sentence in (tmp_path / "out" / "rolecast_policy.h").read_text()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["certificate"] == sentence


@pytest.mark.parametrize(
    ("config", "header"),
    [
        (ExportConfig(weights="int8", max_loss=1e9), "rolecast_policy.h"),
        (ExportConfig(target="micropython"), "rolecast_policy.py"),
    ],
    ids=["integers", "micropython"],
)
def test_a_program_of_other_arithmetic_does_not_promise_the_bound_as_its_own(
    config: ExportConfig, header: str, run: Path, tmp_path: Path
) -> None:
    """The certificate is measured in float32, whose bits neither program has."""
    certify(run, CertifyConfig(episodes=400))
    manifest = export_policy(run, tmp_path / "out", config)
    told = (tmp_path / "out" / header).read_text()
    if config.weights == "int8":
        assert manifest["certificate"] is None
        assert "at least" not in told
        assert INTEGERS_UNCERTIFIED in told
    else:
        assert "at least" in told
        assert PYTHON_UNCERTIFIED in told
        assert manifest["certificate"].endswith(PYTHON_UNCERTIFIED)


def test_a_task_of_other_sizes_is_refused_by_naming_both(run: Path) -> None:
    stored = json.loads((run / "policy" / "policy.json").read_text())
    stored["task"]["id"] = "drone_delivery_3"
    (run / "policy" / "policy.json").write_text(json.dumps(stored))
    expected = r"observation_size of task 'drone_delivery_3' is \d+; expected 16"
    with pytest.raises(RequestError, match=expected):
        certify(run, CertifyConfig(episodes=10))


def test_a_folder_that_cannot_be_written_is_refused_before_the_first_episode(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    monkeypatch.setattr("rolecast.platform.deployment.certify.rollout", None)
    with pytest.raises(RequestError, match=r"policy cannot be written \(Permission denied\)"):
        certify(small_run, CertifyConfig(episodes=10))


def test_certified_episodes_are_met_by_nothing_else() -> None:
    sets = [set(episode_seeds(0, purpose, 0, 500).tolist()) for purpose in Purpose]
    assert len(set().union(*sets)) == 500 * len(Purpose)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"episodes": 1}, r"certify\.episodes is 1; expected an integer >= 2"),
        ({"confidence": 1.0}, r"certify\.confidence is 1\.0"),
        ({"returns_within": (2.0, 1.0)}, r"certify\.returns_within"),
        ({"seed": -1}, r"certify\.seed"),
        ({"episodes": 10**13}, r"certify\.episodes is 10000000000000; expected .*fewer"),
    ],
)
def test_a_wrong_setting_is_named(setting: dict[str, object], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        CertifyConfig(**setting)  # type: ignore[arg-type]


def test_a_return_outside_of_the_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="a range with every return, 3 too"):
        return_bound(np.array([0.0, 3.0]), 0.9, (0.0, 1.0))
