"""`rolecast bench causal`: its rows, the beta that is chosen, and two ways to an acquisition."""

from pathlib import Path
from typing import Any

import pytest
import torch

from rolecast.benchmarks.causal.acquisition import measure_all, measure_device
from rolecast.benchmarks.causal.curves import (
    BETA_LABELS,
    CURVE_METHODS,
    beta_rows,
    chosen_betas,
    chosen_rows,
    lead_section,
    picture,
    running,
)
from rolecast.benchmarks.causal.figures import (
    FIGURE_TABLE,
    FigureRun,
    figure_runs,
    page,
    quick_figure_runs,
)
from rolecast.benchmarks.causal.team import team_graph, team_page, team_runs
from rolecast.platform.cli.app import main
from rolecast.tune_configs.mcbo_fig2 import EXPERIMENT


def test_runs_are_those_of_the_experiment_once_each() -> None:
    runs = figure_runs(2, 7)
    assert len({run.key for run in runs}) == len(runs)
    assert len(runs) == 2 * len(EXPERIMENT.trials()) // EXPERIMENT.seeds
    assert {run.label for run in quick_figure_runs()} == {m.label for m in EXPERIMENT.methods}


def test_beta_is_chosen_by_its_rank_on_the_other_tasks() -> None:
    """On the first task the widest band is best, on both others the middle one."""
    means = {
        "causal:toy": (1.0, 2.0, 3.0),
        "causal:psa": (1.0, 3.0, 2.0),
        "causal:ackley": (-900.0, 7.0, 6.0),
    }
    rows = [
        {"task": task, "method": f"mcbo_{beta:g}", "average": mean}
        for task, given in means.items()
        for beta, mean in zip((0.05, 0.5, 5.0), given, strict=True)
    ]
    found = chosen_betas(rows, "mcbo", "average")
    assert found == {"causal:toy": 0.5, "causal:psa": 0.5, "causal:ackley": 0.5}
    assert chosen_betas(rows[:3], "mcbo", "average") == {}


def test_a_task_with_noise_does_not_choose_beta_for_the_same_without() -> None:
    """The narrowest band is best with and without noise, the widest on the other task."""
    means = {
        "causal:dropwave": (3.0, 2.0, 1.0),
        "causal:dropwave?noise=1": (3.0, 2.0, 1.0),
        "causal:ackley": (1.0, 2.0, 3.0),
    }
    rows = [
        {"task": task, "method": f"mcbo_{beta:g}", "average": mean}
        for task, given in means.items()
        for beta, mean in zip((0.05, 0.5, 5.0), given, strict=True)
    ]
    found = chosen_betas(rows, "mcbo", "average")
    assert found == {task: 0.05 if "ackley" in task else 5.0 for task in means}
    assert chosen_betas(rows[:6], "mcbo", "average") == {}


def test_a_run_is_a_row_that_is_kept(tmp_path: Path) -> None:
    run = FigureRun(
        task="causal:dropwave",
        label="causal_random",
        optimizer="causal_random",
        rounds=2,
        seed=1,
    )
    rows = FIGURE_TABLE.run_missing([run], tmp_path, processes=1, note=lambda _: None)
    assert rows[0]["key"] == "causal:dropwave / causal_random / 2 rounds / seed 1"
    assert len(rows[0]["curve"]) == 5 + 2
    assert rows[0]["best"] == pytest.approx(max(rows[0]["curve"]), rel=1e-4)
    FIGURE_TABLE.write(rows, tmp_path)
    assert "| `causal:dropwave` | 2 |" in (tmp_path / "causal.md").read_text()


def test_where_mcbo_leads_is_judged_by_paired_seeds_at_the_beta_of_the_other_tasks() -> None:
    ends = {
        "causal:toy": {"mcbo_0.05": 1.0, "mcbo_0.5": 5.0, "mcbo_5": 2.0, "eifn": 4.0},
        "causal:psa": {"mcbo_0.05": 1.0, "mcbo_0.5": 3.0, "mcbo_5": 2.0, "eicbo": 3.5},
        "causal:ackley": {"mcbo_0.05": 9.0, "mcbo_0.5": 8.0, "mcbo_5": 7.0, "eifn": 8.0},
    }
    rows: list[dict[str, Any]] = [
        {"task": task, "method": method, "seed": seed, "rounds": 2}
        | {"average": end + seed + 0.01 * seed * (method == "eifn"), "best": end}
        | {"curve": [0.0, end, 2.0 * end, end]}
        for task, methods in ends.items()
        for method, end in methods.items()
        for seed in range(5)
    ]
    told = lead_section(rows)
    assert "| `causal:toy` | average | 7 | `eifn` 6.02 | 0.98 (0.96 to 1) | yes |" in told
    assert "| `causal:psa` | average | 5 | `eicbo` 5.5 | -0.5 (-0.5 to -0.5) | no |" in told
    assert "| `causal:ackley` | average | 10 | `eifn` 10.02 | -0.02 (-0.0396 to -0.0" in told
    few = lead_section([row for row in rows if row["seed"] < 4])
    assert "| `causal:toy` | average | 6.5 | `eifn` 5.515 | 0.985 | seeds: 4 |" in few
    toy = [row for row in rows if row["method"] == "mcbo_0.5" and row["task"] == "causal:toy"]
    assert running(toy, "average")[0].tolist() == [0.0, 2.5, 5.0, 5.0]
    assert running(toy, "best")[0].tolist() == [0.0, 5.0, 10.0, 10.0]
    drawn = [picture(chosen_rows(rows, name), CURVE_METHODS, name) for name in ("average", "best")]
    assert drawn[0] != drawn[1]
    assert lead_section(rows[:1]) == ""


def test_every_beta_of_both_methods_is_drawn_by_seed() -> None:
    rows = [
        {"task": "causal:ackley", "method": method, "seed": seed}
        for seed in (1, 0)
        for method in ("mcbo_5", "eifn", "causal_gp_ucb_0.05", "causal_random")
    ]
    found = beta_rows(rows)["causal:ackley"]
    assert found.keys() == {"mcbo_5", "causal_gp_ucb_0.05"} <= BETA_LABELS.keys()
    assert [row["seed"] for row in found["mcbo_5"]] == [0, 1]
    assert BETA_LABELS["causal_gp_ucb_0.05"] == "GP-UCB, beta 0.05"


def test_a_beta_of_one_task_alone_is_drawn_though_no_task_chooses_it(tmp_path: Path) -> None:
    row = {"key": "one", "task": "causal:psa", "method": "mcbo_0.5", "seed": 0, "rounds": 2}
    row |= {"average": 1.0, "best": 2.0, "seconds": 3.0, "curve": [0.0, 2.0]}
    FIGURE_TABLE.write([row], tmp_path)
    told = (tmp_path / "causal.md").read_text()
    assert "| `causal:psa` | 2 | 1 (1) |" in told
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert drawn == {"causal_average_betas.png", "causal_best_betas.png"}
    assert all(f"({name})" in told for name in drawn)
    assert told.count(".png") == len(drawn)


def test_betas_and_leads_are_of_the_most_rounds_of_each_task() -> None:
    rows: list[dict[str, Any]] = [
        {"task": task, "method": method, "seed": 0, "rounds": rounds, "curve": [0.0, end]}
        | {"average": end, "best": end, "seconds": 1.0}
        for task in ("causal:psa", "causal:ackley")
        for rounds in ((2, 9) if task == "causal:psa" else (2,))
        for method, end in (
            ("mcbo_0.05", float(rounds == 2)),
            ("mcbo_0.5", 0.5),
            ("mcbo_5", 0.2),
            ("eifn", 0.1),
        )
    ]
    told = page(rows)
    assert "| `causal:psa` | 2 | 1 (1) |" in told
    assert "over all other functions: `causal:psa` 0.05, `causal:ackley` 0.5." in told
    assert "| `causal:ackley` | average | 0.5 | `eifn` 0.1 |" in told


def test_both_ways_to_an_acquisition_are_timed() -> None:
    for (found,) in measure_all(1, quick=True).values():
        assert found["batched_value"] >= found["serial_value"] - 1e-6 * abs(found["serial_value"])
        assert min(found["batched_s"], found["serial_s"]) > 0.0


def test_an_acquisition_on_a_device_reaches_what_it_reaches_on_the_cpu() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    (row,) = measure_device(device, quick=True, note=lambda _: None)
    assert row["device_value"] == pytest.approx(row["cpu_value"], rel=1e-3)
    assert row["times_cpu"] == pytest.approx(row["cpu_s"] / row["device_s"], rel=0.1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU, so it would be measured")
def test_the_part_of_a_device_needs_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "causal", "--part", "cuda_acquisition"]) == 2
    assert "torch sees no CUDA device here" in capsys.readouterr().err


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "causal", "--part", "figure"]) == 2
    assert "--part 'figure' does not exist; did you mean 'figures'" in capsys.readouterr().err


def test_the_page_of_the_team_says_whether_the_graph_helps() -> None:
    rows = [
        {"method": method, "seed": seed, "test_return": level + seed, "found_return": 9.0}
        for method, level in (("mcbo with graph", 20.0), ("mcbo without graph", 15.0))
        for seed in range(5)
    ]
    rows[0]["test_return"] = 21.0
    told = team_page(rows)
    assert "| mcbo with graph | 22.20 |" in told
    pair = "mcbo with graph less mcbo without graph"
    assert f"{pair}: 5.2 (4.64 to 5.76), 5 paired seeds; it helps." in told
    assert "few seeds to compare with mcbo without graph" in team_page([*rows[:4], *rows[5:9]])
    assert "returns 9.00. mcbo with graph less" in told
    assert "few seeds to compare with local_gp" in told
    other = team_page([*rows[:-1], {**rows[-1], "found_return": 60.0}])
    assert "returns 9.00 or 60.00: rows are of different found policies" in other
    assert "few seeds to compare with mcbo without graph" in team_page(rows[:2])
    graph = team_graph(["update.0", "update.1"])
    assert graph.reward.parents == ("fuel_used", "collisions", "empty_tank_steps", "deliveries")
    assert len(team_runs(2)) == 6
