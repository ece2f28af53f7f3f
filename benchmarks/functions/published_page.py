"""Writes the competitors' table for readers: Markdown, beside printed figures."""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.functions.published_suite import (
    ALEBO_BRANIN,
    EXACT_SETTINGS,
    FEW_FIRST,
    PUBLISHED_PROBLEMS,
    published_methods,
    run_published,
)
from rolecast.benchmarks.functions.runs import FunctionProblem, FunctionRun
from rolecast.benchmarks.result_table import ResultTable, by_table

PUBLISHED_FILE: Final = Path(__file__).with_name("published.csv")
Row = Mapping[str, Any]


@cache
def published() -> tuple[Mapping[str, str], ...]:
    """Return the printed figures: a line each, by the names of the file's columns."""
    lines = [line for line in PUBLISHED_FILE.read_text().splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def markdown(rows: Sequence[Row]) -> str:
    """Return the page: a table for each problem, then the figures that others have printed."""
    text = [
        "# Competitors on functions with published results",
        "",
        "Simple regret, in the function's own unit, after the last evaluation: of the best point "
        "so far, as papers print it, and of `best()`, which a search would hand over. Median over "
        "seeds, least and greatest in brackets. Evaluations are exact. Settings are the defaults "
        "of `rolecast optimizers NAME`, but for those that authors have for functions alone, and a "
        f"first design of 20 points where 2 D would be most of the budget ({_exact()}). Time "
        "is of one core, all proposals and incumbents of a run. Published: what others printed "
        "for this function, number of dimensions and of evaluations (sources below); batches "
        "differ. Written by `rolecast bench competitors`.",
    ]
    for problem in PUBLISHED_PROBLEMS:
        cells = [row for row in rows if row["problem"] == problem.name]
        if not cells:
            continue
        text += [
            "",
            f"## {problem.name}, {cells[0]['evaluations'][-1]} evaluations, batches of "
            f"{cells[0]['batch']}",
            "",
            "| optimiser | best so far | `best()` | published | seeds | s a run |",
            "|---|---|---|---|---|---|",
        ]
        printed = _at_the_end(problem)
        for name in dict.fromkeys(row["contestant"] for row in cells):
            runs = [row for row in cells if row["contestant"] == name]
            seconds = float(np.median([run["seconds"][-1] for run in runs]))
            entries = [
                name,
                _spread([run["observed"][-1] for run in runs]),
                _spread([run["incumbent"][-1] for run in runs]),
                _printed(printed.pop(name, None)),
                str(len(runs)),
                f"{seconds:.2g}",
            ]
            text.append(f"| {' | '.join(entries)} |")
        text += [f"| {name} | | | {_printed(line)} | | |" for name, line in printed.items()]
    text += [
        "",
        "## Published",
        "",
        "Beside them what came out here after as many evaluations, of the contestant named: the "
        "median over seeds, and their range. In square brackets of others: from the tenth to the "
        "ninetieth percent of runs.",
        "",
        "| problem, evaluations | method | regret | ours | runs | batch | source |",
        "|---|---|---|---|---|---|---|",
    ]
    text += [
        f"| {line['problem']}, {line['evaluations']} | {line['method']} | {_printed(line)} | "
        f"{_ours(rows, line)} | {line['runs']} | {line['batch']} | {line['source']} |"
        for line in published()
    ]
    return "\n".join(text) + "\n"


def _at_the_end(problem: FunctionProblem) -> dict[str, Mapping[str, str]]:
    """Return the printed figures after as many evaluations as the table has, by contestant.

    Of several the first; of no contestant by the method's own name.
    """
    found: dict[str, Mapping[str, str]] = {}
    for line in published():
        if (line["problem"], int(line["evaluations"])) == (problem.name, problem.evaluations):
            found.setdefault(line["contestant"] or line["method"], line)
    return found


def _ours(rows: Sequence[Row], line: Mapping[str, str]) -> str:
    """Return the regret here after as many evaluations as in a printed line, and of which."""
    at = int(line["evaluations"])
    values = [
        row["observed"][row["evaluations"].index(at)]
        for row in rows
        if (row["problem"], row["contestant"]) == (line["problem"], line["contestant"])
        and at in row["evaluations"]
    ]
    return f"`{line['contestant']}` {_spread(values)}" if values else ""


def _exact() -> str:
    """Return which optimiser has which settings that are not its defaults."""
    return "; ".join(
        f"`{name}`: " + ", ".join(f"`{key}={value}`" for key, value in settings.items())
        for name, settings in {**EXACT_SETTINGS, FEW_FIRST.name: FEW_FIRST.settings}.items()
    ) + (
        "; `baxus`: `evaluations` is what the budget leaves after its first design; `alebo` on "
        f"Branin: `embedding={ALEBO_BRANIN}`"
    )


def _spread(values: Sequence[float]) -> str:
    middle = f"**{np.median(values):.3g}**"
    return middle if len(values) < 2 else f"{middle} [{min(values):.3g}, {max(values):.3g}]"


def _printed(line: Mapping[str, str] | None) -> str:
    if line is None:
        return ""
    sign = "" if line["spread"].startswith("[") else "± "
    return line["regret"] + (f" {sign}{line['spread']}" if line["spread"] else "")


PUBLISHED_TABLE: Final[ResultTable[FunctionRun]] = ResultTable(
    file="competitors.json",
    kinds=("problem", "contestant", "seed"),
    run=run_published,
    order=by_table(
        [problem.name for problem in PUBLISHED_PROBLEMS],
        [method.name for method in published_methods()],
    ),
    line=lambda row: f"regret {row['observed'][-1]} in {row['seconds'][-1]:.1f} s",
    pages=lambda rows: {"competitors.md": markdown(rows).encode()},
)
