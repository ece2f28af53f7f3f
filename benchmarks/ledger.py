"""The ledger: rows of its trainings, its region of a page, a picture a heading."""

import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.experiment_table import ExperimentTable
from rolecast.benchmarks.kept_rows import BUDGET_KEY
from rolecast.benchmarks.ledger_searches import SEARCH_LABELS, searches_text
from rolecast.benchmarks.main_table import MAIN_TABLE, team_yardsticks
from rolecast.benchmarks.result_table import (
    UNFINISHED_KEY,
    Row,
    fill_regions,
    grouped,
    markdown_table,
    place,
    read_rows,
    sets_text,
    slug,
)
from rolecast.benchmarks.table_trials import TableTrial, TrialEnd, other_terms_text, trials_of
from rolecast.platform.reports.comparison.paper import paper_number
from rolecast.platform.reports.comparison.table import number
from rolecast.platform.reports.curves import Trained, training_curves
from rolecast.platform.reports.style import png
from rolecast.platform.search.records.measurements import Yardstick
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, Method
from rolecast.platform.tuning.rewards import DENSE_REWARD
from rolecast.tune_configs.ledger import (
    KNOWN_RETURNS,
    LEDGER_LEARNERS,
    QUICK_EXPERIMENT,
    TABLE,
    tuning_of,
)

TRIAL_KEY: Final = "{heading} / {method} / {seed}"
LEDGER_SECTIONS: Final[Mapping[str, Experiment]] = MappingProxyType(
    {heading: experiments[0] for heading, experiments in TABLE.items()}
    | {"Pendulum-v1, quick": QUICK_EXPERIMENT}
)
"""Heading to experiment; the quick one is last."""


def ledger_trials(seeds: int) -> list[TableTrial]:
    """Return the trainings of the whole ledger, a whole seed of a heading first."""
    return trials_of(TABLE, seeds, TRIAL_KEY)


def quick_ledger_trials() -> list[TableTrial]:
    """Return a training of seconds."""
    return trials_of({"Pendulum-v1, quick": [QUICK_EXPERIMENT]}, 1, TRIAL_KEY)


def ledger_result(trial: TableTrial, end: TrialEnd) -> Row:
    """Return the row of a training, JSON values, as far as it came."""
    from rolecast import __version__

    method, experiment, last = trial.method, trial.experiment, end.points[-1]
    assert isinstance(method, LearnerMethod)
    return {
        "arena": trial.heading,
        "task": trial.plan.task,
        "contestant": method.label,
        "algorithm": method.algorithm,
        "settings": dict(method.settings),
        "tuning": tuning_of(trial.heading, method.label),
        "seed": trial.plan.seed,
        BUDGET_KEY: experiment.env_steps,
        "parameters": end.parameters,
        "env_steps": last["env_steps"],
        "test_return": last["test_return"],
        "test_return_stderr": _error(last),
        "test_episodes": (
            experiment.final_test_episodes if last["done"] else experiment.test_episodes
        ),
        "curve": [
            {
                "seconds": round(point["wall_time_s"], 1),
                "test_return": point["test_return"],
                "test_return_stderr": _error(point),
                "env_steps": point["env_steps"],
            }
            for point in end.points
        ],
        "train_seconds": round(last["wall_time_s"], 1),
        "score_seconds": round(end.seconds - last["wall_time_s"], 1),
        "rolecast": __version__,
    }


def _error(point: Mapping[str, Any]) -> float:
    """Return the standard error of a score; 0 of a single episode."""
    return 0.0 if point["test_return_stderr"] is None else float(point["test_return_stderr"])


def _line(row: Row) -> str:
    return f"{row['test_return']:.1f} in {row['train_seconds']:.0f} s"


def _order(row: Row) -> tuple[int, int, int]:
    """Sort rows as the ledger does; what it does not know comes last."""
    return (
        place(row["arena"], [*LEDGER_SECTIONS]),
        place(row["contestant"], [*LEDGER_LEARNERS]),
        row["seed"],
    )


REGION_BEGIN: Final = "<!-- ledger: begin (written by `rolecast bench baselines`) -->"
REGION_END: Final = "<!-- ledger: end -->"

LEDGER_HEAD: Final = (
    "algorithm", "ours, held out", "each seed", "env steps", "parameters", "paper", "published",
    "tuning", "training, s", "commit",
)  # fmt: skip

LEDGER_RULE: Final = ("---", "---:", "---", *["---:"] * 3, "---", "---", "---:", "---")


def _pages(rows: Sequence[Row], folder: Path, page: Path | None) -> dict[Path, bytes]:
    """Return one picture a heading, and a page with its region filled.

    Searches of the main result table stand beside the learners where they are in the folder.
    """
    searches = read_rows(folder / MAIN_TABLE.file)
    files, parts = {}, []
    for heading in LEDGER_SECTIONS:
        mine = by_learner(rows, heading)
        if not mine:
            continue
        yardsticks = known_yardsticks(heading)
        picture = folder / f"baselines_{slug(heading)}.png"
        drawing = training_curves(
            {label: [curve(row) for row in mine[label]] for label in mine},
            yardsticks=yardsticks,
            title=f"{heading}: mean over seeds, thin: each seed",
        )
        files[picture] = png(drawing)
        text = _section(heading, mine, yardsticks, searches)
        if page is not None:
            link = os.path.relpath(picture, page.parent)
            text += f"\n![Held-out return of {heading} by env steps]({link})\n"
        parts.append(text)
    if page is not None:
        every = ledger_trials(1 + max((row["seed"] for row in rows), default=0))
        terms = other_terms_text(every, rows)
        region = "\n".join(["", *([f"{terms}\n"] if terms else []), *parts, ""])
        files[page] = fill_regions(page, (REGION_BEGIN, REGION_END, region))
    return files


def by_learner(rows: Sequence[Row], heading: str) -> dict[str, list[Row]]:
    """Return the rows under a heading by learner, in the order of the ledger."""
    groups = grouped(rows, "arena", "contestant")
    labels = [label for label in _labels(heading) if (heading, label) in groups]
    return {label: groups[heading, label] for label in labels}


def _labels(heading: str) -> list[str]:
    return [method.label for method in LEDGER_SECTIONS[heading].methods]


def known_yardsticks(heading: str) -> list[Yardstick]:
    """Return the returns to compare with: those that are known, and of scripted policies."""
    known = [
        Yardstick(name=name, mean=value, stderr=None)
        for name, value in KNOWN_RETURNS[heading].lines.items()
    ]
    return known + team_yardsticks(LEDGER_SECTIONS[heading].tasks[0])


def paper_text(heading: str, label: str) -> str:
    """Return what the DSS-GP-UCB paper prints for the same task, net and budget; "-" if nothing."""
    experiment = LEDGER_SECTIONS[heading]
    method = experiment.method(label)
    assert isinstance(method, LearnerMethod)
    found = paper_number(experiment.tasks[0], DENSE_REWARD, method.algorithm, method.policy)
    return "-" if found is None else f"{found.text} (table {found.table})"


def ledger_row(heading: str, label: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Return a line of the ledger: what is printed elsewhere, and ours with seeds and error.

    Trainings that are not over count only where none of the contestant is.
    """
    over = [row for row in rows if not row.get(UNFINISHED_KEY)]
    rows = over or rows
    part = "" if over else f" of {LEDGER_SECTIONS[heading].env_steps:,}"
    returns = [row["test_return"] for row in rows]
    error = (
        f" ± {number(statistics.stdev(returns) / len(returns) ** 0.5)}" if len(returns) > 1 else ""
    )
    commits = sorted({each for row in rows for each in (row["commit"] or "").split()})
    return (
        label,
        f"**{number(statistics.fmean(returns))}**{error}",
        ", ".join(number(value) for value in returns),
        f"{max(row['env_steps'] for row in rows):,}{part}",
        f"{rows[0]['parameters']:,}",
        paper_text(heading, label),
        KNOWN_RETURNS[heading].published.get(label, "-"),
        rows[0]["tuning"],
        f"{statistics.fmean(row['train_seconds'] for row in rows):,.0f}",
        " ".join(commits) or "-",
    )


def _section(
    heading: str,
    rows: Mapping[str, Sequence[Row]],
    yardsticks: Sequence[Yardstick],
    searches: Sequence[Row],
) -> str:
    experiment, known = LEDGER_SECTIONS[heading], KNOWN_RETURNS[heading]
    every = [row for mine in rows.values() for row in mine]
    seeds = sorted({row["seed"] for row in every})
    learners = [ledger_row(heading, label, mine) for label, mine in rows.items()]
    lines = [
        f"## {heading}",
        "",
        f"`{experiment.tasks[0]}`, {_nets(experiment)}, {experiment.env_steps:,} env steps, dense "
        f"reward, seeds {', '.join(map(str, seeds))}, {experiment.final_test_episodes:,} held-out "
        f"episodes of {sets_text(every)} at the end. Hoped for: {known.goal}.",
        "",
        markdown_table(LEDGER_HEAD, learners, LEDGER_RULE),
        "",
    ]
    if known.source:
        lines += [f"Published: {known.source}.", ""]
    shown = [
        row
        for row in searches
        if row["arena"] == experiment.tasks[0] and row["contestant"] in SEARCH_LABELS
    ]
    beside = [f"{each.name} {each.text}" for each in yardsticks]
    beside += searches_text(experiment.tasks[0], shown)
    sets = ["scripted policies on the sealed set"] if len(yardsticks) > len(known.lines) else []
    policies = ", ".join(sorted({f"`{row['policy']}`" for row in shown}))
    sets += [f"searches of {policies} on {sets_text(shown)}"] if shown else []
    if beside:
        note = f" ({'; '.join(sets)})" if sets else ""
        lines += [f"Beside them{note}: {'; '.join(beside)}.", ""]
    if missing := [label for label in _labels(heading) if label not in rows]:
        lines += [f"Not run yet: {', '.join(missing)}.", ""]
    return "\n".join(lines)


def _nets(experiment: Experiment) -> str:
    """Say what nets and settings all have."""
    first, *others = [dict(_settings(method)) for method in experiment.methods]
    shared = {
        name: value
        for name, value in first.items()
        if name != "size" and all(other.get(name) == value for other in others)
    }
    if not shared or not others:
        return f"net `{first['size']}`"
    return "all with " + ", ".join(f"`{name}={value}`" for name, value in shared.items())


def _settings(method: Method) -> Mapping[str, Any]:
    assert isinstance(method, LearnerMethod)
    return method.settings


def curve(row: Row) -> Trained:
    """Return env steps and held-out returns of a row."""
    points = row["curve"]
    return [each["env_steps"] for each in points], [each["test_return"] for each in points]


LEDGER_TABLE: Final = ExperimentTable(
    file="baselines.json",
    kinds=("arena", "contestant", "seed"),
    row=ledger_result,
    order=_order,
    line=_line,
    pages=_pages,
    keeps_unfinished=True,
)
"""Of kinds, "arena" is a heading and "contestant" a learner's label."""
