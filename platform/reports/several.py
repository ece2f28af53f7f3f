"""One page of several runs on one task: their curves in one chart, their results in one table."""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from rolecast.core.errors import RequestError
from rolecast.core.files import write_bytes
from rolecast.envs.causal.task_ids import split_task_options
from rolecast.envs.ids import format_id, parse_id
from rolecast.platform.reports.charts.chart import Series, chart, levels
from rolecast.platform.reports.folder import Run
from rolecast.platform.reports.incumbents import incumbents_of
from rolecast.platform.reports.page import links, page, paragraph, rounded, section, table
from rolecast.platform.reports.style import COLOUR_CYCLE
from rolecast.platform.reports.verdict import verdict
from rolecast.platform.search.records.measurements import RunMeasurements, Yardstick


def write_report_of_several(paths: Sequence[str | Path], out: str | Path) -> Path:
    """Write a page that holds several runs side by side.

    Args:
        paths: folders of runs on the same task.
        out: the file to write.
    Returns:
        The file written.
    Raises:
        RequestError: a folder is no run, or the runs have different tasks. Reward settings may
            differ: scores are of the reward as earned.
        RunError: `out` cannot be written.
    """
    runs = [Run.read(path) for path in paths]
    tasks = sorted({_parted(run)[0] for run in runs})
    if len(tasks) > 1:
        raise RequestError(f"the runs are of different tasks, {tasks}; expected folders of one")
    names = _names([Path(path) for path in paths])
    target = Path(out)
    text = page(
        f"{tasks[0]}: {len(runs)} runs",
        "Each run is one seed. For intervals over seeds, and tests: rolecast compare.",
        [_curves(names, runs), _table(names, runs, target.parent)],
        verdict=_best(names, runs),
    )
    write_bytes(target, text.encode())
    return target


def _parted(run: Run) -> tuple[str, str]:
    """Return the task that a run is scored on, and the reward settings that it was paid by."""
    name, options = parse_id(run.task_id)
    own = split_task_options(name, options)[1]
    paid = {key: value for key, value in options.items() if key not in own}
    return format_id(name, own), format_id("", paid).removeprefix("?") or "dense"


def _names(paths: Sequence[Path]) -> list[str]:
    """Return the shortest ends of the paths that tell them apart."""
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise RequestError(f"a run is named twice among {[str(path) for path in paths]}")


def _best(names: Sequence[str], runs: Sequence[Run]) -> str:
    """Say which run has the highest held-out return, and how the others stand to it."""
    summaries = {name: run.folder.read_summary() for name, run in zip(names, runs, strict=True)}
    ended = [
        Yardstick(name=name, mean=summary["test_return"], stderr=summary["test_stderr"])
        for name, summary in summaries.items()
        if summary is not None
    ]
    if not ended:
        return "No run has finished yet."
    best = max(ended, key=lambda each: each.mean)
    others = [each for each in ended if each is not best]
    return f"Best: {best.name}. {verdict(best.mean, best.stderr, others)}"


def _curves(names: Sequence[str], runs: Sequence[Run]) -> Markup:
    series: list[Series] = []
    yardsticks: dict[str, float] = {}
    sources: dict[str, None] = {}
    for place, (name, run) in enumerate(zip(names, runs, strict=True)):
        measured = RunMeasurements.read(run.folder, after=len(run.batches))
        incumbents = incumbents_of(run, measured)
        sources[incumbents.source] = None
        if measured is not None:
            yardsticks |= {each.name: each.mean for each in measured.yardsticks}
        series.append(
            Series(
                name=name, at=incumbents.curve.env_steps, values=incumbents.curve.returns,
                errors=incumbents.curve.stderrs, form="points",
                colour=COLOUR_CYCLE[place % len(COLOUR_CYCLE)],
            )
        )  # fmt: skip
    drawn = chart(
        [*series, *levels(list(yardsticks.items()), series)],
        description="Return of the incumbents against environment steps",
        across="environment steps",
        up="episode return",
    )
    text = f"{' '.join(sources)} Bars are two standard errors."
    return section("Learning curves", drawn, paragraph(text))


def _table(names: Sequence[str], runs: Sequence[Run], beside: Path) -> Markup:
    rows = []
    for name, run in zip(names, runs, strict=True):
        search, summary = run.record["search"], run.folder.read_summary()
        spent = run.batches[-1].spent_after
        held = (
            ("", "") if summary is None else rounded(summary["test_return"], summary["test_stderr"])
        )
        report = run.folder.path / "report.html"
        leads = [("report", quote(os.path.relpath(report, beside)))] if report.is_file() else []
        method = (_parted(run)[1], search["policy"], search["optimizer"], run.record["seed"])
        rows.append((name, *method, run.env_steps(), spent.evaluations, *held, links(leads)))
    head = (
        *("run", "reward", "policy", "optimiser", "seed", "env steps", "evaluations"),
        *("held-out return", "standard error", ""),
    )
    return section("Runs", table(head, rows))
