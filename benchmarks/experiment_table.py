"""Tables whose rows are trials of experiments: what is missing is run, what has ended is kept.

    DIR/NAME.json             the rows of finished trials; committed
    DIR/unfinished/<name>/    the comparison of an experiment some of whose trials are not over

A comparison takes hours, so it can be stopped and started: each trial goes on from its last point.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.commits import commits_of, forget_commits, note_commit
from rolecast.benchmarks.kept_rows import COMMIT_KEY, SET_KEY
from rolecast.benchmarks.result_table import (
    UNFINISHED_KEY,
    Row,
    finished,
    forget_rows,
    keep_rows,
    read_rows,
)
from rolecast.benchmarks.table_trials import TableTrial, TrialEnd, other_terms_text
from rolecast.core.errors import RequestError
from rolecast.core.files import write_all
from rolecast.core.locks import lock_folder
from rolecast.platform.tuning.comparison import ComparisonInterrupted, check_folder, compare
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.progress import progress_for
from rolecast.platform.tuning.status import ComparisonStatus, TrialStatus

UNFINISHED_FOLDER: Final = "unfinished"
"""Beside the results file."""


@dataclass(frozen=True, kw_only=True)
class ExperimentTable:
    """How the trials of a table become rows, and its rows files for readers."""

    file: str
    """Name of the results file, JSON."""

    kinds: Sequence[str]
    """Kinds of filters."""

    row: Callable[[TableTrial, TrialEnd], Row]
    """Returns a trial's row, JSON values, without its key, commit and held-out set."""

    order: Callable[[Row], Any]
    """Key by which rows are sorted in the file."""

    line: Callable[[Row], str]
    """Says in words what a row has found."""

    pages: Callable[[Sequence[Row], Path, Path | None], Mapping[Path, bytes]]
    """Returns the files for readers, of rows, a folder and the page that has their regions."""

    keeps_unfinished: bool = False
    """Whether a trial that was stopped has a row too, marked as unfinished."""

    def write(self, rows: Sequence[Row], folder: Path, page: Path | None = None) -> list[Path]:
        """Write the files for readers; return them behind the results file, none without rows.

        Raises:
            RequestError: the page is not there, or has no region; none of these was written.
        """
        if not rows:
            return []
        return [folder / self.file, *write_all(self.pages(rows, folder, page))]


def run_missing_trials(
    trials: Sequence[TableTrial],
    path: Path,
    table: ExperimentTable,
    *,
    processes: int,
    note: Callable[[str], None],
    fresh: bool = False,
    methods: Mapping[str, MethodFactory] = MappingProxyType({}),
    trust: bool = False,
) -> list[Row]:
    """Run the trials that a results file lacks, an experiment at a time; return all its rows.

    Args:
        trials: what the table should have.
        path: the results file, JSON.
        table: how trials become rows.
        processes: trials at once, each on one core.
        note: told what is there, and each row as it is kept.
        fresh: forget the trials first.
        methods: further learning methods by name.
        trust: go on with learners of a folder that was not begun here.
    Raises:
        RequestError: a method does not fit its task; nothing of the experiment was run.
        RunError: trials failed; all others are kept.
        ComparisonInterrupted: Ctrl-C; what was computed is kept.
    """
    if fresh:
        forget_trials(trials, path, note)
    groups = list(_by_experiment(trials))
    for experiment, mine in groups:
        gather_rows(path, experiment, mine, table, note)
    done = finished(read_rows(path))
    there = sum(trial.key in done for trial in trials)
    if trials:
        note(f"{there} of {len(trials)} cells are there; {len(trials) - there} to run")
        if terms := other_terms_text(trials, read_rows(path)):
            note(terms)
    for experiment, mine in groups:
        missing = [trial.plan.trial for trial in mine if trial.key not in done]
        if not missing:
            continue
        folder = _folder(path, experiment)
        note_commit(folder)
        try:
            result = compare(
                _with_seeds_of(folder, experiment),
                out=folder.path,
                resume=folder.known,
                workers=processes,
                methods=methods,
                only=[f"trial={name}" for name in missing],
                progress=progress_for(sys.stderr),
                trust=trust,
            )
        except ComparisonInterrupted as stop:
            raise ComparisonInterrupted("stopped; the same command goes on from there") from stop
        finally:
            gather_rows(path, experiment, mine, table, note)
            if not folder.known:
                forget_commits(folder)
        result.require_success()
    return sorted(read_rows(path), key=table.order)


def forget_trials(trials: Sequence[TableTrial], path: Path, note: Callable[[str], None]) -> None:
    """Drop the rows of trials, and what they have come to; other trials of theirs stay.

    A comparison of another plan goes as a whole: no trial of it could go on or become a row.

    Args:
        trials: those to run again.
        path: the results file.
        note: told how many rows are dropped, and which comparisons of another plan.
    Raises:
        RequestError: another process runs an experiment of them, or a folder cannot be read;
            nothing is dropped.
    """
    groups = [
        (_folder(path, experiment), experiment, mine) for experiment, mine in _by_experiment(trials)
    ]
    with ExitStack() as locks:
        refused: dict[Path, RequestError] = {}
        for folder, experiment, _ in groups:
            if folder.known:
                locks.enter_context(lock_folder(folder.path))
                planned = _with_seeds_of(folder, experiment)
                try:
                    check_folder(folder, planned, resume=True)
                except RequestError as error:
                    refused[folder.path] = error
        forget_rows(path, trials, note)
        for folder, _, mine in groups:
            for trial in mine:
                for kept in (folder.work(trial.plan.trial).path, folder.trials / trial.plan.trial):
                    folder.disk.remove_folder(kept)
            if folder.path in refused:
                note(f"{refused[folder.path]}; it is removed")
            if folder.path in refused or not any(folder.path.glob("work/*")):
                folder.disk.remove_folder(folder.path)
                forget_commits(folder)


def _by_experiment(
    trials: Iterable[TableTrial],
) -> Iterator[tuple[Experiment, list[TableTrial]]]:
    """Yield experiments with their trials; those of one experiment follow each other."""
    for _, group in groupby(trials, lambda trial: trial.experiment.name):
        mine = list(group)
        yield mine[0].experiment, mine


def _folder(path: Path, experiment: Experiment) -> ComparisonFolder:
    return ComparisonFolder(path.parent / UNFINISHED_FOLDER / experiment.name)


def _with_seeds_of(folder: ComparisonFolder, experiment: Experiment) -> Experiment:
    """Return the experiment with at least as many seeds as its folder has."""
    if not folder.known:
        return experiment
    before = Experiment.from_json(folder.read_experiment()["experiment"])
    return experiment.scaled(seeds=max(before.seeds, experiment.seeds))


def gather_rows(
    path: Path,
    experiment: Experiment,
    trials: Sequence[TableTrial],
    table: ExperimentTable,
    note: Callable[[str], None],
) -> None:
    """Take the rows of an experiment's trials into the results file of a table.

    The folder of the comparison is removed when none of its trials has begun and is not over, and
    no other process runs it. A folder of another plan stays as it is: its trials were not made by
    this one's settings.
    """
    folder = _folder(path, experiment)
    if not folder.known:
        return
    planned = _with_seeds_of(folder, experiment)
    try:
        check_folder(folder, planned, resume=True)
    except RequestError as error:
        note(f"{error}; nothing is taken from there, and `--fresh` removes it")
        return
    status = ComparisonStatus.of(folder, planned)
    begun = {each.plan.trial: each for each in status.trials if each.begun}
    kept = {row["key"]: row for row in read_rows(path)}
    done, commits = finished(kept.values()), commits_of(folder)
    news = {}
    for trial in trials:
        found = begun.get(trial.plan.trial)
        if found is None or not found.record.rows or trial.key in done:
            continue
        if found.record.done or table.keeps_unfinished:
            news[trial.key] = _row(trial, found, table, commits)
    if news:
        keep_rows(path, news.values(), table.order)
    over = finished(news.values())
    for key in filter(over.__contains__, news):
        note(f"{key}: {table.line(news[key])}")
    kept_trials = {trial.plan.trial for trial in trials if trial.key in done | over}
    if _leaves_nothing(status, kept_trials):
        _remove_unless_run(folder, experiment, kept_trials)


def _leaves_nothing(status: ComparisonStatus, kept_trials: set[str]) -> bool:
    """Return whether each trial that has begun is kept as a row."""
    begun = {each.plan.trial for each in status.trials if each.begun}
    return begun <= kept_trials and not status.failures()


def _remove_unless_run(
    folder: ComparisonFolder, experiment: Experiment, kept_trials: set[str]
) -> None:
    """Remove a comparison's folder; one that another process runs, or has run since, stays.

    A comparison that runs may have no trial under way: none has begun, or it is between two.
    """
    try:
        lock = lock_folder(folder.path)
    except RequestError:
        return
    with lock:
        status = ComparisonStatus.of(folder, _with_seeds_of(folder, experiment))
        if _leaves_nothing(status, kept_trials):
            folder.disk.remove_folder(folder.path)
            forget_commits(folder)


def _row(
    trial: TableTrial, found: TrialStatus, table: ExperimentTable, commits: Sequence[str]
) -> Row:
    record = found.record
    end = TrialEnd(points=record.rows, parameters=record.parameters, seconds=record.seconds)
    row = {
        "key": trial.key,
        **table.row(trial, end),
        COMMIT_KEY: " ".join(commits) or None,
        SET_KEY: trial.experiment.held_out_set,
    }
    return row if record.done else {**row, UNFINISHED_KEY: True}
