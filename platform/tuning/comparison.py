"""`rolecast.compare`: one Tune experiment in which all trials of a comparison run side by side."""

import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import pandas as pd

from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.core.files import make_folder, remove_half_written
from rolecast.core.locks import lock_folder
from rolecast.core.signals import signals_given_back
from rolecast.envs.trust import remember_task, remember_use, require_trusted
from rolecast.platform.search.loggers.protocol import TrialCallback, checked_callbacks, set_up
from rolecast.platform.search.planning.plan import versions
from rolecast.platform.tuning.comparison_folder import ComparisonFolder, read_comparison
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.loading import Request, load_experiment, require_new_folder
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.plan_checks import check_experiment, check_memory
from rolecast.platform.tuning.progress import ComparisonProgress, Silent
from rolecast.platform.tuning.selection import Selection, selected
from rolecast.platform.tuning.status import ComparisonStatus
from rolecast.platform.tuning.watch import Watch

RUNS_FOLDER: Final = Path("runs")
"""Where comparisons without a folder of their own are put."""


class ComparisonInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a comparison; the message says how to go on."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonResult:
    """A comparison that has run to its end."""

    out: Path
    """Its folder."""

    failures: Mapping[str, str]
    """Trials that were given up, and why."""

    @property
    def rows(self) -> pd.DataFrame:
        """One row a report of every trial, as in `Comparison.rows`."""
        return read_comparison(self.out).rows

    def require_success(self) -> None:
        """Refuse a comparison some of whose trials failed.

        Raises:
            RunError: names the first of them, and how many there are.
        """
        if self.failures:
            (name, why), *others = self.failures.items()
            more = f", and {len(others)} more" if others else ""
            raise RunError(f"failed: {name} ({why}){more}; the other trials are kept")


def compare(
    experiment: str | Path | Experiment,
    *,
    out: str | Path | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    address: str | None = None,
    resume: bool = False,
    budget_fraction: float = 1.0,
    methods: Mapping[str, MethodFactory] | None = None,
    only: Selection | None = None,
    progress: ComparisonProgress | None = None,
    callbacks: Sequence[TrialCallback] = (),
    trust: bool = False,
) -> ComparisonResult:
    """Run searches and learners side by side, at one budget, scored on the same held-out episodes.

    Args:
        experiment: a name of `rolecast.tune_configs`, the path of a file that has an `EXPERIMENT`,
            or an `Experiment`.
        out: folder of the comparison, new or empty unless `resume`; None makes one.
        seeds: number of seeds; None is the experiment's.
        workers: trials at once; None is one for each core of this machine, or what the cluster has.
        address: Ray cluster to run in ("auto", or host:port); None starts one on this machine.
        resume: go on in `out`; what has finished is not computed again. There may be more seeds
            than before; all else must be equal.
        budget_fraction: share of budgets and held-out episodes, to run an experiment small.
        methods: further learning methods by name, which cloudpickle can send to other processes.
        only: says which trials to run now, as `selected` takes it: a function of a `TrialPlan`, or
            conditions such as "method=facmac". None runs all. The others keep what they have.
        progress: shows the comparison; nothing is shown when None.
        callbacks: told of every point of every trial, such as loggers of Tune or of `--log`.
        trust: resume learners of a folder that was not begun here: their states can run any code.
    Raises:
        RequestError: the request is wrong; nothing was run and nothing written.
        ComparisonInterrupted: Ctrl-C; what was computed is kept.
    """
    callbacks = tuple(callbacks)
    ours = checked_callbacks(each for each in callbacks if not hasattr(each, "on_trial_result"))
    if isinstance(experiment, Experiment):
        request = Request(experiment=experiment)
    else:
        request = load_experiment(experiment)
    scaled = request.experiment.scaled(budget_fraction=budget_fraction, seeds=seeds)
    known = {**request.methods, **(methods or {})}
    plans = selected(scaled.trials(), only)
    if workers is not None and (type(workers) is not int or workers < 1):
        raise ConfigError("workers", workers, "an integer >= 1")
    if resume and out is None:
        raise RequestError("nothing says what to resume; expected the folder as --out DIR")
    folder = ComparisonFolder(Path(out) if out is not None else _free_folder(scaled))
    check_folder(folder, scaled, resume=resume)
    learners = any(isinstance(method, LearnerMethod) for method in scaled.methods)
    if resume and learners:
        require_trusted("comparison", str(folder.path.resolve()), trust=trust)
    check_experiment(scaled, known)
    here = address is None and not os.environ.get("RAY_ADDRESS")
    if here and not resume:  # else another machine's memory, or trials that have ended
        check_memory(scaled, plans, known)
    shown = progress or Silent()
    set_up(ours, shown.note)
    remember_use("comparison", str(folder.path.resolve()))
    for task in scaled.tasks:
        remember_task(task)
    return _run(folder, scaled, plans, known, workers, address, shown, callbacks)


def check_folder(folder: ComparisonFolder, experiment: Experiment, *, resume: bool) -> None:
    """Refuse a folder in which something else would be overwritten.

    Raises:
        RequestError: names what is there.
    """
    if not resume:
        require_new_folder(folder.path)
        return
    # A folder of an older release lacks settings that were added since.
    defaults = {each.name: each.default for each in fields(Experiment)}
    before = {**defaults, **folder.read_experiment()["experiment"]}
    wanted = experiment.to_json()
    for name, value in before.items():
        more_seeds = name == "seeds" and value <= wanted[name]
        if value != wanted.get(name) and not more_seeds:
            raise RequestError(
                f"{folder.path} is of another experiment, whose {name} is {value!r}; "
                f"expected {wanted.get(name)!r}"
            )


def _run(
    folder: ComparisonFolder,
    experiment: Experiment,
    plans: Sequence[TrialPlan],
    methods: Mapping[str, MethodFactory],
    workers: int | None,
    address: str | None,
    progress: ComparisonProgress,
    callbacks: Sequence[TrialCallback],
) -> ComparisonResult:
    """Run what is left to run."""
    with signals_given_back():
        # Ray is loaded only where it is used.
        from rolecast.platform.actors.cluster import Cluster, require_cpus, require_gpu, resources
        from rolecast.platform.tuning.resources import cluster_cpus, method_device
        from rolecast.platform.tuning.tuner import run_trials

        cores = cluster_cpus(workers, experiment.workers)
        cluster = Cluster(address, cores, note=progress.note)
    try:
        require_cpus(experiment.workers)
        devices = {method.label: method_device(method) for method in experiment.methods}
        for device in devices.values():
            require_gpu(device)
        fitting = max(1, int(resources().get("CPU", 1)) // (1 + experiment.workers))
        at_once = min(workers or fitting, fitting)

        def run(watch: Watch) -> None:
            with watch.running():
                run_trials(folder, experiment, plans, methods, workers, devices, callbacks)

        return run_comparison(folder, experiment, plans, at_once, progress, run)
    finally:
        cluster.close()


def run_comparison(
    folder: ComparisonFolder,
    experiment: Experiment,
    plans: Sequence[TrialPlan],
    at_once: int,
    progress: ComparisonProgress,
    run: Callable[[Watch], None],
) -> ComparisonResult:
    """Let `run` run planned trials, and keep what comes of it in a folder.

    Raises:
        ComparisonInterrupted: it has not run all.
        RequestError: another process writes here, or the folder cannot be written.
        RunError: the disk is full.
    """
    with _locked(folder):
        known = folder.read_experiment() if folder.known else None
        record = _record(experiment) if known is None else _resumed(folder, known, experiment)
        if record != known:
            folder.write_experiment(record)
        progress.start(_title(folder, experiment, len(plans)))
        watch = Watch(folder, experiment, plans, at_once, progress)
        try:
            run(watch)
            standing = watch.look(last=True)
        except BaseException:
            progress.finish(f"the comparison has failed; what was computed is in {folder.path}")
            raise
        return _ended(folder, standing, progress)


def _ended(
    folder: ComparisonFolder,
    standing: ComparisonStatus,
    progress: ComparisonProgress,
) -> ComparisonResult:
    """Say how it ended."""
    again = f"the same command with --out {folder.path} --resume"
    if not standing.finished:
        text = f"stopped, {standing.count('ok')} trials are done; {again} goes on"
        progress.finish(text)
        raise ComparisonInterrupted(text)
    failures = standing.failures()
    text = f"everything is in {folder.path}"
    if failures:
        text += f"; {len(failures)} of {len(standing.trials)} trials failed, {again} retries them"
    progress.finish(text)
    return ComparisonResult(out=folder.path, failures=failures)


@contextmanager
def _locked(folder: ComparisonFolder) -> Iterator[None]:
    """Keep other processes from running the same comparison.

    Raises:
        RequestError: another process does, or the folder cannot be written.
    """
    try:
        with suppress(FileExistsError):
            make_folder(folder.path, disk=folder.disk, new=True)
    except OSError as error:
        raise RequestError(f"--out {folder.path} cannot be written: {error.strerror}") from error
    with lock_folder(folder.path, disk=folder.disk):
        remove_half_written(folder.path, disk=folder.disk)
        yield


def _record(experiment: Experiment) -> dict[str, Any]:
    """Return what experiment.json says of a comparison that begins."""
    return {
        "experiment": experiment.to_json(),
        "trials": [asdict(plan) for plan in experiment.trials()],
        "versions": versions(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],  # a report is passed on
    }


def _resumed(
    folder: ComparisonFolder, known: dict[str, Any], experiment: Experiment
) -> dict[str, Any]:
    """Return what experiment.json says of a comparison that goes on, `known` if nothing else.

    What other versions run, or further seeds, is a part of its own; those before keep theirs.
    """
    now, parts = _record(experiment), known.get("resumed", [])
    same = [known, *parts][-1].get("versions") == now["versions"]
    if same and known["experiment"]["seeds"] == experiment.seeds:
        return known
    trials = ComparisonStatus.of(folder, experiment).trials
    ended = [trial.plan.trial for trial in trials if trial.status == "ok"]
    if len(ended) == len(trials):
        return known
    part = {"versions": now.pop("versions"), "command": now.pop("command"), "ended": ended}
    return {**known, **now, "resumed": [*parts, part]}


def _title(folder: ComparisonFolder, experiment: Experiment, trials: int) -> str:
    return (
        f"{experiment.name}: {trials} trials of {experiment.env_steps:,} env "
        f"steps, {len(experiment.methods)} methods x {len(experiment.tasks)} tasks x "
        f"{len(experiment.rewards)} rewards x {experiment.seeds} seeds, in {folder.path}"
    )


def _free_folder(experiment: Experiment) -> Path:
    """Return runs/compare-<name>-<n> with the first n that is free."""
    paths = (RUNS_FOLDER / f"compare-{experiment.name}-{n}" for n in itertools.count())
    return next(path for path in paths if not path.exists())
