"""`report.html` of a comparison: every method side by side, in one file, and its figures as CSV."""

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pandas as pd
from markupsafe import Markup

from rolecast.core.errors import RequestError
from rolecast.core.files import write_bytes, write_json
from rolecast.core.threads import OneThread
from rolecast.platform.reports.comparison.groups import WAITING_STATUS, Groups, groups
from rolecast.platform.reports.comparison.improvement import (
    Improvement,
    Pair,
    chosen_pairs,
    improvements,
)
from rolecast.platform.reports.comparison.interactive import efficiency_section
from rolecast.platform.reports.comparison.leaders import leaders
from rolecast.platform.reports.comparison.marl_eval import (
    EXCHANGE_FILE,
    others_text,
    to_marl_eval,
    with_others,
)
from rolecast.platform.reports.comparison.normalised import (
    method_scores,
    profile_pictures,
    scores_frame,
    scores_sections,
)
from rolecast.platform.reports.comparison.paper import PRINTED_MISTAKES
from rolecast.platform.reports.comparison.pictures import (
    Pictures,
    curve_pictures,
    improvement_pictures,
    statistics,
)
from rolecast.platform.reports.comparison.statistics import (
    BOOTSTRAP_RESAMPLES,
    LEAST_SEEDS_OF_INTERVAL,
)
from rolecast.platform.reports.comparison.table import (
    curves,
    improvement_rows,
    results,
    results_html,
    trials,
)
from rolecast.platform.reports.comparison.trial_list import trials_section
from rolecast.platform.reports.page import (
    WIDE_PAGE,
    details,
    heading,
    page,
    paragraph,
    section,
    table,
)
from rolecast.platform.tuning.comparison_folder import (
    Comparison,
    ComparisonFolder,
    read_comparison,
)
from rolecast.platform.tuning.yardsticks import NOT_MEASURED, TaskYardsticks, read_yardsticks

FIGURES_FOLDER: Final = "report"
"""Folder, in that of the comparison, of the CSV files and the pictures."""


def write_exchange_file(out: str | Path) -> Path:
    """Write the results of a comparison, finished or not, for marl-eval; return the file.

    Raises:
        RequestError: this is no comparison.
        RunError: the folder cannot be written.
    """
    target = Path(out) / EXCHANGE_FILE
    write_json(target, to_marl_eval(groups(read_comparison(out))))
    return target


def require_reportable(
    out: str | Path, *, pairs: Sequence[str] = (), beside: Sequence[Path] = ()
) -> None:
    """Refuse what `write_comparison_report` would refuse; arguments and errors are its own."""
    whole = reduce(with_others, beside, groups(read_comparison(out)))
    _shown_pairs(Path(out), whole, pairs)


def _shown_pairs(out: Path, whole: Groups, pairs: Sequence[str]) -> list[Pair]:
    """Return the pairs of methods to show; RequestError where there is nothing to show."""
    if not any(trial.reported for trial in whole.trials) and not _failures(whole):
        raise RequestError(f"{out} has no report of a trial yet; expected one at least")
    return chosen_pairs(whole, pairs)


def write_comparison_report(
    out: str | Path, *, pairs: Sequence[str] = (), beside: Sequence[Path] = ()
) -> Path:
    """Write report.html, and report/*.csv and *.png beside it, for a comparison finished or not.

    Args:
        out: folder of the comparison.
        pairs: "OURS:THEIRS", whose probability of improvement is told; without any, each search
            against each learner.
        beside: files of marl-eval whose runs are shown with ours.
    Returns:
        The page.
    Raises:
        RequestError: this is no comparison, or it has no report yet.
        RunError: the folder cannot be written.
    """
    with OneThread()():  # more of them only wait for each other in matrices of a few seeds
        return _written(Path(out), pairs, beside)


def _written(out: Path, pairs: Sequence[str], beside: Sequence[Path]) -> Path:
    """Write the report as `write_comparison_report` says."""
    comparison = read_comparison(out)
    own = groups(comparison)
    whole = reduce(with_others, beside, own)
    found = improvements(whole, _shown_pairs(out, whole, pairs))
    figures = results(whole)
    frames = {
        "results": figures,
        "curves": curves(whole),
        "improvement": improvement_rows(found),
        "trials": trials(whole),
    }
    measured = read_yardsticks(ComparisonFolder(out))
    yardsticks = {
        task: measured.get(task, TaskYardsticks(missing=NOT_MEASURED)) for task in whole.tasks
    }
    drawn = {
        (task, statistic): curve_pictures(whole, task, statistic, yardsticks[task].yardsticks)
        for task in whole.tasks
        for statistic in statistics(whole)
    }
    summed = improvement_pictures(whole, found)
    scores = method_scores(whole, yardsticks)
    profiles = profile_pictures(scores)
    frames |= {"scores": scores_frame(scores)} if scores else {}
    text = page(
        f"{comparison.experiment['experiment']['name']}: methods side by side",
        _lead(comparison, own),
        [
            _results(comparison, whole, figures, others_text(own, whole)),
            efficiency_section(whole, drawn, yardsticks),
            _improvement(whole, found, summed),
            *scores_sections(scores, profiles, whole.methods),
            trials_section(frames["trials"], out),
            _settings(comparison),
        ],
        width=WIDE_PAGE,
        verdict=leaders(whole),
    )
    target = out / "report.html"
    for name, frame in frames.items():
        write_bytes(out / FIGURES_FOLDER / f"{name}.csv", frame.to_csv(index=False).encode())
    for picture in chain(*drawn.values(), summed, profiles):
        write_bytes(out / FIGURES_FOLDER / f"{picture.name}.png", picture.png)
    write_bytes(target, text.encode())
    return target


def _failures(whole: Groups) -> int:
    return sum(trial.status == "failed" for trial in whole.trials)


def _lead(comparison: Comparison, whole: Groups) -> str:
    """Say what is compared, at which budget, and how far it is."""
    settings = comparison.experiment["experiment"]
    ended = sum(trial.finished for trial in whole.trials)
    state = [f"{ended} of {len(whole.trials)} trials finished"]
    for status in ("failed", "running", WAITING_STATUS):
        count = sum(trial.status == status for trial in whole.trials)
        state += [f"{count} {status}"] if count else []
    paper = settings.get("paper")
    layout = f" Rows and columns are those of the paper's {paper}." if paper else ""
    return (
        f"{settings.get('summary') or 'A comparison'}.{layout} {settings['env_steps']:,} env "
        f"steps a trial (or the evaluations of its method), {settings['seeds']} seeds; "
        f"{', '.join(state)}."
    )


def _results(comparison: Comparison, whole: Groups, figures: pd.DataFrame, others: str) -> Markup:
    settings = comparison.experiment["experiment"]
    parts = [
        paragraph(
            "Return of an episode as earned (raw, in the task's own unit), whatever the learner "
            "was paid; of the policy at the end of the budget, on "
            f"{settings['final_test_episodes']:,} held-out episodes, the same for all. Mean over "
            "seeds (standard error), bold what is not told apart from the best mean of a row, each "
            "method by itself; beside a method of five seeds, those of fewer are neither best nor "
            "bold; "
            "under it the interquartile mean with a 95 % expanded percentile interval of "
            f"{BOOTSTRAP_RESAMPLES:,} bootstrap resamples of the seeds, each taken under all "
            "rewards where a row joins several; such a row is of the seeds that finished in each. "
            "No figure was chosen by its held-out return."
        )
    ]
    if any(0 < len(cell.finals) < LEAST_SEEDS_OF_INTERVAL for cell in whole.cells.values()):
        parts.append(
            paragraph(
                "There is no interval (-) with fewer than five seeds, and nothing is told apart: "
                "resamples of so few hold little but their range. The interquartile mean of fewer "
                "than four is the mean."
            )
        )
    parts += [paragraph(others)] if others else []
    for task in whole.tasks:
        parts += [heading(task), results_html(figures, task, whole.methods)]
    if figures["paper_mean"].notna().any():
        parts.append(paragraph(_paper_note(figures)))
    return section("Return at the end", *parts)


def _paper_note(figures: pd.DataFrame) -> str:
    marks = sorted(set(figures["paper_mistake"].dropna()) - {""})
    note = (
        "paper: as printed in tables 4 and 5 of Rajpal et al., 'Dependency Structure Search "
        "Bayesian Optimization for Decision Making Models' (mean of 5 runs, standard error), on "
        "Gym's tasks of version 3; its methods had 200,000 env steps (one agent) or 2,000,000 "
        "(several), its search one figure for every reward. 'best so far' is the paper's tables 7 "
        "and 8, of the best policy on the way; ours beside it is chosen by its held-out return, "
        "and so too high by luck; all else is of the last policy. "
    )
    return note + " ".join(f"[?] {PRINTED_MISTAKES[mark]}." for mark in marks)


def _improvement(whole: Groups, found: Sequence[Improvement], summed: Pictures) -> Markup:
    if not found:
        return section("Who beats whom", paragraph("There is one method."))
    parts = [
        paragraph(
            "Probability that a seed of the first method ends with a higher held-out return than "
            "a seed of the second, a tie counting half, with its 95 % bootstrap "
            "interval from five seeds in each setting on; over all settings in which both have "
            "finished trials, each of the same weight. [1.00, 1.00] says that every seed won, not "
            "that the next one will."
        ),
        *(picture.image for picture in summed),
    ]
    if len(whole.settings) > 1:
        head = ("first", "second", "task", "learned on", "seeds", "probability")
        rows = [
            (each.ours, each.theirs, each.task, each.reward, f"{each.seeds[0]} / {each.seeds[1]}",
             _share(each))
            for each in found if each.task
        ]  # fmt: skip
        parts.append(details("by setting", table(head, rows)))
    return section("Who beats whom", *parts)


def _share(each: Improvement) -> str:
    return "too few seeds ended" if each.estimate is None else each.estimate.text


def _settings(comparison: Comparison) -> Markup:
    experiment = comparison.experiment["experiment"]
    rows = [
        (name, _plain(value))
        for name, value in experiment.items()
        if name != "methods" and value != ""
    ]
    rows += [
        (f"method {method['label']}", _plain({k: v for k, v in method.items() if k != "label"}))
        for method in experiment["methods"]
    ]
    seeds = sorted({plan["seed"] for plan in comparison.experiment["trials"]})
    rows.append(("seeds run", ", ".join(map(str, seeds))))
    for part in (comparison.experiment, *comparison.experiment.get("resumed", ())):
        after = f", after {len(part['ended'])} trials had ended" if "ended" in part else ""
        rows.append((f"versions{after}", _plain(part["versions"])))
        if part.get("command"):
            rows.append((f"command{after}", _plain(part["command"])))
    return section("Settings", table((), rows))


def _plain(value: Any) -> str:
    """Write a setting in words: empty ones are left out of mappings."""
    if isinstance(value, Mapping):
        parts = [f"{k}={_plain(v)}" for k, v in value.items() if v not in (None, "", [], {})]
        return ", ".join(parts) or "-"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "-"
    return value if isinstance(value, str) else json.dumps(value)
