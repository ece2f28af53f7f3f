"""Tables whose rows are trials of experiments: what is missing is run, what has ended is kept.

    DIR/NAME.json             the rows of finished trials; committed
    DIR/unfinished/<name>/    the comparison of an experiment some of whose trials are not over

A comparison takes hours, so it can be stopped and started: each trial goes on from its last point.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.commits import commits_of, forget_commits, note_commit
from rolecast.benchmarks.result_table import (
    SET_KEY,
    UNFINISHED_KEY,
    Row,
    finished,
    forget_rows,
    read_rows,
    write_rows,
)
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET
from rolecast.platform.tuning.comparison import ComparisonInterrupted, compare
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.methods import Method, SearchMethod
from rolecast.platform.tuning.progress import progress_for
from rolecast.platform.tuning.status import ComparisonStatus, TrialStatus

UNFINISHED_FOLDER: Final = "unfinished"
"""Beside the results file."""


@dataclass(frozen=True, kw_only=True)
class TableTrial:
    """A trial with its place in a table."""

    heading: str
    """Part of the table that it belongs to."""

    experiment: Experiment
    plan: TrialPlan
    key: str
    """Name of its row in the results file."""

    names: Mapping[str, str]
    """What filters call it, by kind."""

    @property
    def method(self) -> Method:
        """The search or learner of the trial."""
        return self.experiment.method(self.plan.method)


@dataclass(frozen=True, kw_only=True)
class TrialEnd:
    """What a trial has come to."""

    points: Sequence[Mapping[str, Any]]
    """Its reports in order; see `rolecast.platform.tuning.comparison_folder`."""

    parameters: int | None
    """D of the policy that acts."""

    seconds: float
    """Time that it took, held-out scoring included."""


@dataclass(frozen=True, kw_only=True)
class ExperimentTable:
    """How the trials of a table become rows."""

    row: Callable[[TableTrial, TrialEnd], Row]
    """Returns a trial's row, JSON values, without its key, commit and held-out set."""

    order: Callable[[Row], Any]
    """Key by which rows are sorted in the file."""

    line: Callable[[Row], str]
    """Says in words what a row has found."""

    keeps_unfinished: bool = False
    """Whether a trial that was stopped has a row too, marked as unfinished."""


def trials_of(
    sections: Mapping[str, Sequence[Experiment]],
    seeds: int,
    key: Callable[[str, Experiment, TrialPlan], str],
    names: Callable[[str, Experiment, TrialPlan], Mapping[str, str]],
) -> list[TableTrial]:
    """Return all trials of a table, by heading, experiment, seed and method."""
    scaled = [
        (heading, experiment.scaled(seeds=seeds))
        for heading, experiments in sections.items()
        for experiment in experiments
    ]
    return [
        TableTrial(
            heading=heading,
            experiment=experiment,
            plan=plan,
            key=key(heading, experiment, plan),
            names=names(heading, experiment, plan),
        )
        for heading, experiment in scaled
        for plan in experiment.trials()
    ]


def method_settings(method: Method) -> dict[str, Any]:
    """Return the settings of a trial's method as its row has them, JSON values."""
    if isinstance(method, SearchMethod):
        named = {
            "policy_options": dict(method.policy_options),
            "settings": dict(method.optimizer_settings),
        }
    else:
        named = {"settings": dict(method.settings)}
    plain: dict[str, Any] = json.loads(json.dumps(named))
    return plain


def other_terms_text(trials: Sequence[TableTrial], rows: Sequence[Row]) -> str:
    """Say which rows were scored on other episodes or name other settings than their trials now.

    A row is known by its key alone, so that it stays when the trial is changed.

    Args:
        trials: what the table should have.
        rows: those that are there, of these trials and others.
    Returns:
        Sentences that name the rows without their seeds; empty where all agree.
    """
    planned = {trial.key: trial for trial in trials}
    mine = [row for row in rows if row["key"] in planned]
    others = {
        "are of other held-out episodes than the table now has": _is_of_other_episodes,
        "name other settings than the table now does (what a row leaves out was the default of its "
        "version)": _names_other_settings,
    }
    sentences = []
    for what, differs in others.items():
        found = [row for row in mine if differs(row, planned[row["key"]])]
        names = ", ".join(dict.fromkeys(f"`{row['key'].rpartition(' / ')[0]}`" for row in found))
        if found and len(found) == len(mine):
            sentences.append(f"All {len(mine)} rows {what}.")
        elif found:
            sentences.append(f"{len(found)} of {len(mine)} rows {what}: {names}.")
    return " ".join([*sentences, "`--fresh` makes them anew."]) if sentences else ""


def _is_of_other_episodes(row: Row, trial: TableTrial) -> bool:
    experiment = trial.experiment
    ended = not row.get(UNFINISHED_KEY)
    planned = experiment.final_test_episodes if ended else experiment.test_episodes
    return (row.get(SET_KEY, DEVELOPMENT_SET), row.get("test_episodes", planned)) != (
        experiment.held_out_set,
        planned,
    )


def _names_other_settings(row: Row, trial: TableTrial) -> bool:
    named = method_settings(trial.method)
    return any(row.get(name, value) != value for name, value in named.items())


def run_missing_trials(
    trials: Sequence[TableTrial],
    path: Path,
    table: ExperimentTable,
    *,
    processes: int,
    note: Callable[[str], None],
    methods: Mapping[str, MethodFactory] = MappingProxyType({}),
) -> list[Row]:
    """Run the trials that a results file lacks, an experiment at a time; return all its rows.

    Args:
        trials: what the table should have.
        path: the results file, JSON.
        table: how trials become rows.
        processes: trials at once, each on one core.
        note: told what is there, and each row as it is kept.
        methods: further learning methods by name.
    Raises:
        RequestError: a method does not fit its task; nothing of the experiment was run.
        RunError: trials failed; all others are kept.
        ComparisonInterrupted: Ctrl-C; what was computed is kept.
    """
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
        missing = frozenset(trial.plan.trial for trial in mine if trial.key not in done)
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
                only=partial(_is_among, missing),
                progress=progress_for(sys.stderr),
            )
        except ComparisonInterrupted as stop:
            raise ComparisonInterrupted("stopped; the same command goes on from there") from stop
        finally:
            gather_rows(path, experiment, mine, table, note)
        result.require_success()
    return sorted(read_rows(path), key=table.order)


def forget_trials(trials: Sequence[TableTrial], path: Path, note: Callable[[str], None]) -> None:
    """Drop the rows of trials, and all unfinished trials of their experiments.

    Args:
        trials: those to run again.
        path: the results file.
        note: told how many rows are dropped.
    """
    forget_rows(path, trials, note)
    for experiment, _ in _by_experiment(trials):
        folder = _folder(path, experiment)
        if folder.known:
            shutil.rmtree(folder.path)
        forget_commits(folder)


def _is_among(names: frozenset[str], plan: TrialPlan) -> bool:
    return plan.trial in names


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

    The folder of the comparison is removed when none of its trials has begun and is not over.
    """
    folder = _folder(path, experiment)
    if not folder.known:
        return
    status = ComparisonStatus.of(folder, _with_seeds_of(folder, experiment))
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
        write_rows(path, sorted((kept | news).values(), key=table.order))
    over = finished(news.values())
    for key in filter(over.__contains__, news):
        note(f"{key}: {table.line(news[key])}")
    keys = {trial.plan.trial: trial.key for trial in trials}
    if all(keys.get(name) in done | over for name in begun) and not status.failures():
        shutil.rmtree(folder.path)
        forget_commits(folder)


def _row(
    trial: TableTrial, found: TrialStatus, table: ExperimentTable, commits: Sequence[str]
) -> Row:
    record = found.record
    end = TrialEnd(points=record.rows, parameters=record.parameters, seconds=record.seconds)
    row = {
        "key": trial.key,
        **table.row(trial, end),
        "commit": " ".join(commits) or None,
        SET_KEY: trial.experiment.held_out_set,
    }
    return row if record.done else {**row, UNFINISHED_KEY: True}
