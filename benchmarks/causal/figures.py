"""Trials of the MCBO paper's figures, scored by expected rewards: a row a task, method, seed."""

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.causal.curves import (
    BETA_LABELS,
    CURVE_METHODS,
    beta_rows,
    chosen_betas,
    chosen_rows,
    lead_section,
    picture,
)
from rolecast.benchmarks.functions.runs import five_digits
from rolecast.benchmarks.result_table import ResultTable, Row, grouped, markdown_table, place
from rolecast.core.rounding import mean_and_error
from rolecast.platform.search.causal import CAUSAL_METHODS, causal_figures, causal_search
from rolecast.platform.search.records.measurements import RunMeasurements, complete_run
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.mcbo_fig2 import (
    BANDED_METHODS,
    EXPERIMENT,
    HARD_TASKS,
    PAPER_FIGURES,
    PAPER_SAMPLES,
)

FIGURE_NAMES: Final = ("average", "best")

METHOD_NAMES: Final = {optimizer: name for name, optimizer in CAUSAL_METHODS.items()}
"""Optimiser to the name of its method."""


@dataclass(frozen=True, kw_only=True)
class FigureRun:
    """One search."""

    task: str
    label: str
    optimizer: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    rounds: int
    seed: int

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"{self.task} / {self.label} / {self.rounds} rounds / seed {self.seed}"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"task": self.task, "method": self.label, "seed": str(self.seed)}


def figure_runs(seeds: int, rounds: int) -> list[FigureRun]:
    """Return all searches of the experiment, seed by seed."""
    searches = [each for each in EXPERIMENT.methods if isinstance(each, SearchMethod)]
    return [
        FigureRun(
            task=task,
            label=method.label,
            optimizer=method.optimizer,
            settings={**method.optimizer_settings, **_samples(task, method.optimizer)},
            rounds=rounds,
            seed=seed,
        )
        for seed in range(seeds)
        for task in EXPERIMENT.tasks
        for method in searches
        if task in (method.tasks or (task,))
    ]


def _samples(task: str, optimizer: str) -> dict[str, int]:
    """Return the samples of MCBO's expectations where the paper names others than the default."""
    return {"samples": PAPER_SAMPLES[task]} if optimizer == "mcbo" and task in PAPER_SAMPLES else {}


def run_figure(run: FigureRun) -> Row:
    """Search once; return figures and curve, JSON values."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "run"
        figures, seconds = searched(
            out,
            run.task,
            METHOD_NAMES[run.optimizer],
            rounds=run.rounds,
            settings=run.settings,
            seed=run.seed,
        )
        measured = RunMeasurements.read(RunFolder.open(out))
    curve = () if measured is None else measured.expected_rewards
    return {
        "key": run.key,
        "task": run.task,
        "method": run.label,
        "rounds": run.rounds,
        "settings": dict(run.settings),
        "seed": run.seed,
        "average": figures["average_expected_reward"],
        "best": figures["best_expected_reward"],
        "seconds": round(seconds, 1),
        "curve": [five_digits(value) for value in curve],
    }


def searched(
    out: Path, task: str, method: str, *, rounds: int, settings: Mapping[str, Any], seed: int
) -> tuple[dict[str, Any], float]:
    """Search once, on one thread; return what `causal_figures` does, and seconds of a processor.

    Args:
        out: folder of the run.
        task: its id.
        method: of `CAUSAL_METHODS`.
        rounds: behind the initial design.
        settings: of the method.
        seed: of the search.
    """
    start = time.process_time()
    causal_search(
        task,
        method=method,
        rounds=rounds,
        settings=settings,
        seed=seed,
        workers=0,
        threads=1,
        test_episodes=1,
        out=str(out),
    )
    seconds = time.process_time() - start
    complete_run(out)
    return causal_figures(out), seconds


def order(row: Row) -> tuple[int, int, int, int]:
    """Sort rows as the experiment lists tasks and methods."""
    labels = [method.label for method in EXPERIMENT.methods]
    task, method = place(row["task"], EXPERIMENT.tasks), place(row["method"], labels)
    return task, method, row["rounds"], row["seed"]


def said(row: Row) -> str:
    """Return a row in words."""
    return f"average {row['average']:.4g}, best {row['best']:.4g}, {row['seconds']} s"


def page(rows: Sequence[Row]) -> str:
    """Return the page: tables of average and best expected reward, beta chosen, run times.

    Tables have all rows; betas, curves and who leads are of each task's rows of the most rounds.
    """
    parts, drawn = [PAGE_HEAD], _longest(rows)
    for name in FIGURE_NAMES:
        title = f"## {name.capitalize()} expected reward ({PAPER_FIGURES[name]} of the paper)\n"
        parts += [title, _grid(rows, name), ""]
        parts += [_chosen_text(drawn, name), ""]
        if chosen_rows(drawn, name):
            parts += [f"![{name} expected reward against evaluations](causal_{name}.png)", ""]
        if beta_rows(drawn):
            parts += [f"![{name} expected reward, every beta](causal_{name}_betas.png)", ""]
    parts += [lead_section(drawn)]
    title = f"## Seconds of a processor for one search ({PAPER_FIGURES['seconds']} of the paper)\n"
    parts += [title, _grid(rows, "seconds"), ""]
    return "\n".join(parts)


PAGE_HEAD: Final = """# Causal searches

Mean ± standard error over the seeds (n) that were run; `rolecast bench causal` makes this page and
`causal.json` beside it, and runs what is missing. Averages count the initial design. Tasks, methods
and the full size, 20 seeds of 100 rounds, stand in `tune_configs/mcbo_fig2.py`; the rounds of each
row are in the table. Betas, curves and who leads are of a task's rows of the most rounds. See
[causal graphs](../causal.md) for what is compared.
"""


def _grid(rows: Iterable[Row], name: str) -> str:
    """Return the table of one figure: a row a task, a column a method."""
    kept = list(rows)
    labels = [m.label for m in EXPERIMENT.methods if any(r["method"] == m.label for r in kept)]
    lines = []
    for (task, rounds), mine in grouped(kept, "task", "rounds").items():
        found = grouped(mine, "method")
        values = ([row[name] for row in found.get((label,), ())] for label in labels)
        lines.append([f"`{task}`", str(rounds), *map(_mean_text, values)])
    return markdown_table(("task", "rounds", *labels), lines)


def _mean_text(values: Sequence[float]) -> str:
    """Return mean, standard error and number of values."""
    if not values:
        return "-"
    mean, error = mean_and_error(np.array(values))
    text = f"{mean:.4g}" if error is None else f"{mean:.4g} ± {error:.2g}"
    return f"{text} ({len(values)})"


def _longest(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of each task that have the most rounds."""
    most: dict[str, int] = {}
    for row in rows:
        most[row["task"]] = max(row["rounds"], most.get(row["task"], 0))
    return [row for row in rows if row["rounds"] == most[row["task"]]]


def _chosen_text(rows: Sequence[Row], name: str) -> str:
    """Say which beta each task gets, by the mean rank over all other functions."""
    told = []
    for method in BANDED_METHODS:
        betas = chosen_betas(rows, method, name)
        if betas:
            each = ", ".join(f"`{task}` {beta:g}" for task, beta in betas.items())
            told.append(f"Beta of {method} by the rank average over all other functions: {each}.")
    return "\n\n".join(told)


def pages(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the page and its pictures, of each task's rows of the most rounds.

    There is nothing to draw while a beta of one task alone was run: other tasks choose it.
    """
    drawn = _longest(rows)
    files = {"causal.md": page(rows).encode()}
    for name in FIGURE_NAMES:
        if chosen := chosen_rows(drawn, name):
            files[f"causal_{name}.png"] = picture(chosen, CURVE_METHODS, name)
        if every := beta_rows(drawn):
            files[f"causal_{name}_betas.png"] = picture(every, BETA_LABELS, name)
    return files


def planned(rows: Sequence[Row]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of all searches of as many seeds and rounds, by key."""
    seeds = 1 + max(row["seed"] for row in rows)
    return {
        run.key: {"settings": dict(run.settings)}
        for rounds in {row["rounds"] for row in rows}
        for run in figure_runs(seeds, rounds)
    }


FIGURE_TABLE: Final[ResultTable[FigureRun]] = ResultTable(
    file="causal.json",
    kinds=("task", "method", "seed"),
    run=run_figure,
    order=order,
    line=said,
    pages=pages,
    planned=planned,
)


def quick_figure_runs() -> list[FigureRun]:
    """Return one search of few rounds of every method; shows that it works."""
    runs = figure_runs(1, 1)
    kept: dict[str, FigureRun] = {}
    for run in runs:
        if run.task in (HARD_TASKS[0], "causal:dropwave"):
            kept.setdefault(run.label, run)
    return list(kept.values())
