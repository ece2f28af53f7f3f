"""Cells and page of `rolecast bench duets`: the grid, functions of known norm, slopes, the page."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.benchmarks.bandits.cells import (
    BUMP_LENGTHSCALE,
    BanditRun,
    KernelSum,
    all_runs,
    figure_runs,
    run_cell,
    server_runs,
    slope,
)
from rolecast.benchmarks.bandits.claim import claim_section
from rolecast.benchmarks.bandits.cluster import best_beta
from rolecast.benchmarks.bandits.page import markdown, pages, picture, whole_seeds
from rolecast.core.files import read_json
from rolecast.platform.cli.app import main
from rolecast.platform.optimizers.duets import region
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.reports.style import COLOUR_CYCLE
from rolecast.platform.search.bandit.functions import FUNCTION_NAMES
from rolecast.platform.search.bandit.method import BANDIT_METHODS
from rolecast.tune_configs.duets_fig1 import (
    FIGURE_BETAS,
    FIGURE_FUNCTIONS,
    FIGURE_METHODS,
    PAPER_METHODS,
)


def test_the_grid_is_the_papers_and_gives_every_method_the_same_betas() -> None:
    runs = figure_runs(5)
    assert len({run.key for run in all_runs(5)}) == len(all_runs(5))
    assert set(FIGURE_METHODS) == set(BANDIT_METHODS)
    assert set(FIGURE_FUNCTIONS) == set(FUNCTION_NAMES)
    for method in FIGURE_METHODS:
        assert {run.beta for run in runs if run.method == method} == set(FIGURE_BETAS)
    assert {(run.agents, run.rounds) for run in runs} == {(10, 50)}
    last = {run.method for run in figure_runs(6) if run.seed == 5}
    assert last == set(PAPER_METHODS)


@pytest.mark.parametrize("dimension", [1, 2])
def test_bumps_have_norm_1_and_their_optimum_is_not_beaten(dimension: int) -> None:
    found = KernelSum.drawn(dimension, 3)
    kernel = StationaryKernel("squared_exponential", BUMP_LENGTHSCALE)
    covariance = kernel.matrix(found.centres, found.centres)
    assert found.weights @ covariance @ found.weights == pytest.approx(1.0)
    points = np.random.default_rng(0).random((2000, dimension))
    values = [found(point) for point in points]
    np.testing.assert_allclose(values, kernel.matrix(points, found.centres) @ found.weights)
    assert found.optimum - 0.05 < max(values) < found.optimum + 1e-5


def test_a_slope_is_the_power() -> None:
    rows = [{"rounds": size, "regret": [3.0 * size**0.5]} for size in (100, 300, 1000)]
    assert slope(rows, "rounds", "regret") == pytest.approx(0.5)


def test_a_cell_is_the_run_of_its_settings() -> None:
    run = BanditRun(
        part="figure", function="branin", method="duets", agents=3, rounds=10, beta=0.5, seed=2
    )
    from rolecast.platform.search.bandit.run import bandit_search

    row = run_cell(run)
    found = bandit_search("branin", agents=3, rounds=10, seed=2, settings={"beta": 0.5})
    assert row["rounds_at"] == [5, 10]
    assert row["regret"][-1] == pytest.approx(found.cumulative_regret, rel=1e-4)
    assert row["reals"][-1] == pytest.approx(found.communication_reals, rel=1e-4)


def test_a_run_whose_region_is_trimmed_to_nothing_is_a_failed_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(region, "MOST_ATTEMPTS", 1)
    monkeypatch.setattr(region, "ATTEMPT_BLOCK", 64)
    run = BanditRun(
        part="figure", function="hartmann4", method="duets", agents=4, rounds=20, beta=1e-4, seed=0
    )
    row = run_cell(run)
    assert "trimmings; expected a greater beta" in row["failed"]
    rest = [
        {"function": "h1", "method": "duets", "beta": beta, "regret": [regret], "reals": [1.0]}
        for beta, regret in ((0.2, 1.0), (0.5, 2.0))
    ]
    failed = {"function": "h1", "method": "duets", "beta": 0.2, "failed": "nothing is left"}
    assert best_beta([*rest, failed])[0] == 0.5
    assert best_beta(rest)[0] == 0.2


def test_a_method_whose_every_beta_has_a_failed_run_has_no_best_beta() -> None:
    told = {"part": "figure", "function": "h1", "agents": 10, "rounds": 50}
    ended = {"seed": 0, "rounds_at": [50], "regret": [4.0], "reals": [7.0]}
    failed = {"seed": 1, "failed": "nothing is left"}
    rows = [
        {**told, "method": method, "beta": 0.2, **end}
        for method, ends in (("duets", (ended, failed)), ("diskernelucb", (ended,) * 2))
        for end in ends
    ]
    rows[-1] = {**rows[-1], "seed": 1}
    assert best_beta(rows[:2]) == (None, [])
    page = markdown(rows)
    assert "| `duets` | 0 | none: each has a failed run |  |  | 4 (1) |" in page
    assert "Is DUETS lowest" not in page
    assert picture(rows)


def test_the_best_beta_is_that_of_the_lowest_mean_at_the_end() -> None:
    rows = [
        {"beta": beta, "regret": [end, 2.0 * end]}
        for beta, ends in ((0.2, (5.0, 9.0)), (1.0, (6.0, 6.0)))
        for end in ends
    ]
    assert best_beta(rows) == (1.0, rows[2:])


def test_the_command_writes_the_page_and_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "duets", "--quick", "--processes", "1", "--out", str(tmp_path)]
    only = ["--only", "seed=0", "--part", "figure"]
    assert main([*words, *only]) == 0
    rows = read_json(tmp_path / "duets.json")["cells"]
    assert [row["method"] for row in rows] == ["duets", "nkernelucb"]
    page = (tmp_path / "duets.md").read_text()
    assert page.startswith(markdown(rows))
    assert "| `nkernelucb` | 1 |" in page
    assert set(pages(rows)) == {"duets.md", "duets.png"}
    capsys.readouterr()
    assert main([*words, *only]) == 0
    assert "2 of 2 cells are there; 0 to run" in capsys.readouterr().err
    assert main(["bench", "duets", "--part", "figures"]) == 2
    assert "did you mean 'figure'" in capsys.readouterr().err
    assert main([*words, "--part", "server"]) == 2
    assert "--part with --quick 'server' does not exist" in capsys.readouterr().err


def test_a_method_has_one_colour_in_all_panels_and_a_place_in_the_legend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = FIGURE_METHODS[:2]
    drawn: list[Any] = []
    monkeypatch.setattr("rolecast.benchmarks.bandits.page.png", drawn.append)
    one, other = FIGURE_FUNCTIONS[:2]
    places = [(one, second), (other, first), (other, second)]
    curves = {
        "beta": FIGURE_BETAS[0],
        "rounds_at": [1, 2],
        "regret": [1.0, 2.0],
        "reals": [3.0, 4.0],
    }
    picture([{"function": function, "method": method, **curves} for function, method in places])
    (drawing,) = drawn
    lone, both, *_ = (
        [line for line in axes.lines if len(line.get_xdata())] for axes in drawing.axes
    )
    assert [line.get_color() for line in both] == [COLOUR_CYCLE[0], COLOUR_CYCLE[1]]
    assert [line.get_color() for line in lone] == [COLOUR_CYCLE[1]]
    (legend,) = drawing.legends
    assert [text.get_text() for text in legend.get_texts()] == [first, second]


def test_growth_is_tabulated_with_its_interval() -> None:
    rows = [
        {
            "part": "rounds",
            "function": "bumps1",
            "method": "duets",
            "beta": 1.0,
            "agents": 10,
            "rounds": size,
            "seed": seed,
            "regret": [(2.0 + seed) * size**0.6],
            "reals": [50.0],
            "seconds": 1.0,
        }
        for seed in range(3)
        for size in (100, 300, 1000)
    ]
    other = [{**row, "function": "bumps2"} for row in rows]
    page = markdown([*rows, *other[:-1]])
    assert "| T | 2 | regret | 0.60 | 0.60 to 0.60 (2) |" in page
    assert "| T | 1 | regret | 0.60 | 0.60 to 0.60 (3) | 1/2, and powers of log |" in page
    assert "| T | 1 | reals | 0.00 |" in page.replace("-0.00", "0.00")


def test_a_seed_that_was_partly_run_is_not_counted() -> None:
    rows = [
        {
            "part": "figure",
            "function": "h1",
            "method": method,
            "agents": 10,
            "rounds": 50,
            "beta": beta,
            "seed": seed,
            "rounds_at": [50],
            "regret": [float(seed)],
            "reals": [1.0],
            "seconds": 1.0,
        }
        for seed in range(4)
        for method in ("duets", "nkernelucb")
        for beta in FIGURE_BETAS
    ][:-1]
    assert {row["seed"] for row in whole_seeds(rows)} == {0, 1, 2}
    page = markdown(rows)
    assert "| `duets` | 3 | 0.2 | 1 ± 1 | 1 ± 0 | 1 | 1 | 1 | 1 | 1 |" in page
    assert pages(rows)["duets.png"] == pages(whole_seeds(rows))["duets.png"]


def test_the_claim_is_judged_against_the_nearest_of_the_papers_rivals() -> None:
    ends = {
        "duets": (5.0, 40.0),
        "diskernelucb": (9.0, 30.0),
        "nkernelucb": (7.0, 0.0),
        "centralised": (4.0, 50.0),
    }
    rows: list[dict[str, Any]] = [
        {"function": "h1", "method": method, "seed": seed}
        | {"regret": [regret + seed], "reals": [reals]}
        for method, (regret, reals) in ends.items()
        for seed in range(5)
    ]
    page = "\n".join(claim_section(rows, lambda each: each))
    assert "| h1 | regret | 7 | `nkernelucb` 9 | -2 (-2 to -2) | yes | `centralised` |" in page
    assert "| h1 | real numbers sent | 40 | `diskernelucb` 30 | 10 (10 to 10) | no |" in page
    assert claim_section(rows[:5], lambda each: each) == []
    few = "\n".join(claim_section([row for row in rows if row["seed"] < 4], lambda each: each))
    assert "`nkernelucb` 8 | -2 | not shown |" in few


def test_the_servers_epoch_is_measured_and_tabulated() -> None:
    smallest = [run for run in server_runs(1) if run.rounds == 10]
    rows = [run_cell(run) for run in smallest]
    assert all(0 < row["inducing"] <= 100 for row in rows)
    for row in rows:
        assert 0.0 < row["seconds"] < 60.0
        assert 0.1 < row["memory_mib"] < 500.0
        assert row["machine"]["cores"] >= 1
    page = markdown(rows)
    assert "| N T_j | seconds, d = 1 |" in page
    assert "| 100 | " in page
