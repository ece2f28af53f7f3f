"""The simulated cluster: times by hand, waiting at exchanges alone, and what a row says."""

from pathlib import Path

import numpy as np
import pytest

from rolecast.benchmarks.bandits.cells import cluster_runs, run_cell
from rolecast.benchmarks.bandits.cluster import (
    BETA_SEEDS,
    CLUSTER_FUNCTIONS,
    CLUSTER_METHODS,
    LINK_BANDWIDTHS,
    MESSAGE_LATENCY,
    arrival_times,
    best_beta,
    best_betas,
    exchanges_of,
    query_durations,
    round_ends,
    sequential_ends,
)
from rolecast.benchmarks.bandits.page import markdown
from rolecast.benchmarks.result_table import Row, read_rows
from rolecast.platform.cli.app import main
from rolecast.platform.search.bandit.run import bandit_search
from rolecast.tune_configs.duets_fig1 import FIGURE_BETAS

DURATIONS = np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 0.5, 3.0, 1.0]])


def test_agents_wait_for_each_other_at_exchanges_alone() -> None:
    alone = round_ends(DURATIONS, [], bandwidth=1.0, messages=2)
    np.testing.assert_allclose(alone, [2.0, 2.5, 5.5, 6.5])
    met = round_ends(DURATIONS, [(2, 30.0)], bandwidth=10.0, messages=2)
    start = 2.5 + 2 * MESSAGE_LATENCY + 3.0
    np.testing.assert_allclose(met, [2.0, 2.5, start + 3.0, start + 4.0])
    last = round_ends(DURATIONS, [(4, 1e9)], bandwidth=1.0, messages=2)
    np.testing.assert_allclose(last, alone)


def test_a_sequence_adds_all_durations_and_messages() -> None:
    ends = sequential_ends(DURATIONS, 3.0, bandwidth=6.0)
    each = 2 * (2 * MESSAGE_LATENCY + 0.5)
    np.testing.assert_allclose(ends, np.cumsum(DURATIONS.sum(0) + each))


def test_durations_have_mean_1_and_agents_differ() -> None:
    """Deviation of an agent's mean 0.53, of the mean of 20,000 agents 0.004; 5 of them."""
    found = query_durations(20_000, 20, seed=1)
    assert abs(found.mean() - 1.0) < 0.02
    assert 0.4 < found.mean(1).std() < 0.8


@pytest.mark.parametrize("method", ["duets", "diskernelucb", "elimination", "nkernelucb"])
def test_exchanges_carry_what_the_ledger_counts(method: str) -> None:
    found = bandit_search("branin", method=method, agents=3, rounds=12)
    exchanges = exchanges_of(found)
    assert sum(reals for _, reals in exchanges) == pytest.approx(found.communication_reals)
    assert all(0 < after <= 12 for after, _ in exchanges)
    if method in {"duets", "elimination"}:
        assert [after for after, _ in exchanges] == [2, 6]


def test_more_bandwidth_is_never_later_and_without_exchange_it_is_nothing() -> None:
    given = {"agents": 4, "rounds": 30, "settings": {"beta": 0.2}}
    ours = arrival_times(bandit_search("branin", **given), 0)  # type: ignore[arg-type]
    assert None not in ours
    assert ours == sorted(ours, key=lambda time: -(time or 0.0))
    alone = bandit_search("branin", method="nkernelucb", agents=4, rounds=30)
    assert len(set(arrival_times(alone, 0))) == 1


def figure_rows(best: float, regret: float = 1.0) -> list[Row]:
    """Return rows of all betas, of which one has a regret lower than all others."""
    names = {"part": "figure", "agents": 10, "rounds": 50}
    return [
        {**names, "function": function, "method": method, "beta": beta, "seed": seed}
        | {"regret": [regret if beta == best else 2.0]}
        for function in CLUSTER_FUNCTIONS
        for method in CLUSTER_METHODS
        for beta in FIGURE_BETAS
        for seed in range(2)
    ]


def test_a_method_has_the_beta_of_the_figures_first_rows_once_all_betas_are_there() -> None:
    rows = figure_rows(2.0)
    later = [{**row, "seed": BETA_SEEDS} for row in figure_rows(0.5, regret=-100.0)]
    assert set(best_betas([*rows, *later]).values()) == {2.0}
    assert len(best_betas(rows)) == len(CLUSTER_FUNCTIONS) * len(CLUSTER_METHODS)
    some = [row for row in rows if row["beta"] != 0.2 or row["method"] != "duets"]
    assert ("branin", "duets") not in best_betas(some)


def test_the_cells_are_those_of_the_figure_at_the_best_betas() -> None:
    betas = best_betas(figure_rows(0.2))
    runs = cluster_runs(2, betas)
    assert len(runs) == 2 * len(betas)
    assert {run.beta for run in runs} == {0.2}
    run = next(run for run in runs if (run.function, run.method) == ("branin", "duets"))
    row = run_cell(run)
    assert len(row["times"]) == len(LINK_BANDWIDTHS)
    page = markdown([row, {**row, "seed": 1, "times": [None] * 5}])
    assert f"| `duets` | {row['times'][0]:.0f} (1 of 2) |" in page
    assert "### branin, by bandwidth" in page


def test_rows_of_a_beta_that_is_no_longer_the_best_are_not_shown() -> None:
    names = {"part": "cluster", "function": "branin", "method": "duets", "seed": 0}
    sizes = {"agents": 10, "rounds": 50}
    old, new = (
        {**names, **sizes, "beta": beta, "times": [time] * 5}
        for beta, time in ((0.2, 77.0), (2.0, 33.0))
    )
    rows = [{**row, "rounds_at": [50], "reals": [1.0], "seconds": 1.0} for row in figure_rows(2.0)]
    page = markdown([*rows, old, new])
    assert "| `duets` | 33 | 33 | 33 | 33 | 33 |" in page


def test_the_cluster_alone_needs_the_figure_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "duets", "--part", "cluster", "--out", str(tmp_path)]) == 2
    assert "has no rows of the figure; expected --part figure, too" in capsys.readouterr().err


def test_the_command_runs_the_clusters_cells_after_the_figures(tmp_path: Path) -> None:
    words = ["bench", "duets", "--only", "function=branin", "--only", "method=nkernelucb"]
    parts = ["--part", "figure", "--part", "cluster", "--seeds", "1", "--processes", "1"]
    assert main([*words, *parts, "--out", str(tmp_path)]) == 0
    rows = read_rows(tmp_path / "duets.json")
    figure = [row for row in rows if row["part"] == "figure"]
    (cluster,) = [row for row in rows if row["part"] == "cluster"]
    assert cluster["beta"] == best_beta(figure)[0]
