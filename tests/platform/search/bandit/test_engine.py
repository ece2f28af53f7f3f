"""The engine: noise by agent and round, an optimum that is none, too few inducing points."""

import json
from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.platform.cli.app import main
from rolecast.platform.search.bandit import engine


def test_noise_depends_on_agent_and_round_alone() -> None:
    whole = engine.standard_noise(1, *engine.queries_from(0, 27, 3))
    some = engine.standard_noise(1, *engine.queries_from(7, 11, 3))
    np.testing.assert_array_equal(some, whole[7:18])
    own = engine.standard_noise(1, np.full(9, 2), np.arange(9))
    np.testing.assert_array_equal(own, whole[2::3])
    assert len(np.unique(whole)) == 27


@pytest.mark.parametrize(("optimum", "above"), [(-2.0, True), (1e-9, False), (5.0, False)])
def test_a_value_above_the_optimum_is_told_and_loses_nothing(
    optimum: float, above: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bandit", "python:users_hills:hill", "--agents", "2", "--rounds", "4"]
    words += ["--bounds", "0:1", "--optimum", str(optimum), "--out", str(tmp_path / "run")]
    assert main([*words, "--json"]) == 0
    told = capsys.readouterr()
    result = json.loads(told.out)
    excess = result["greatest_value"] - optimum if above else 0.0
    assert result["above_optimum"] == excess
    assert ("below the greatest value that was met, so regrets are too small" in told.err) == above
    assert main(["report", str(tmp_path / "run")]) == 0
    assert ("above optimum" in (tmp_path / "run" / "report.html").read_text()) == above


@pytest.mark.parametrize(
    ("settings", "notes"),
    [
        ({}, 0),
        ({"noise_variance": 1e-8}, 1),
        ({"noise_variance": 1e-4}, 1),
        ({"noise_variance": 1e-4, "inducing_factor": 1e4}, 0),
    ],
)
def test_inducing_points_that_lose_the_maximum_are_told(
    settings: dict[str, float], notes: int
) -> None:
    """f(p) = p: with one inducing point the region that is kept is that point's."""
    told: list[str] = []
    found = rolecast.bandit_search(
        lambda point: point[0],
        bounds=[(0, 1)],
        agents=5,
        rounds=40,
        settings=settings,
        note=told.append,
    )
    assert len(told) == notes
    assert all("the maximum may have been trimmed away" in each for each in told)
    assert (found.incumbent[0] > 0.95) == (notes == 0)
