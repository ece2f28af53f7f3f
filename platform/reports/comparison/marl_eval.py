"""Exchange of results with marl-eval and BenchMARL: the JSON of Gorsane et al. (2022), both ways.

{environment: {task: {algorithm: {run: {"step_1": {"step_count": n, "return": [..]}, ..,
                                        "absolute_metrics": {"return": [..]}}}}}}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.core.types import Float
from rolecast.envs.causal.task_ids import split_task_options
from rolecast.envs.ids import format_id, parse_id
from rolecast.platform.reports.comparison.groups import REPORT_FIGURES, Groups, MethodTrials, Trial
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.rewards import DENSE_REWARD, reward_name

EXCHANGE_FILE: Final = "marl-eval.json"
"""In the folder of a comparison."""

ENVIRONMENT_NAME: Final = "rolecast"
"""What stands for the environment; a task is a task's id, reward settings included."""

ABSOLUTE_METRICS: Final = "absolute_metrics"

RETURN_METRICS: Final = ("return", "mean_episode_return", "episode_return")
"""Names of an episode's return in files of others; the first is ours."""


def to_marl_eval(whole: Groups) -> dict[str, Any]:
    """Return the finished trials of a comparison as marl-eval reads them.

    marl-eval needs as many steps of every run. Steps are the evaluation points that all finished
    trials of a task have reached first; a trial without a report at one counts with its last.
    `absolute_metrics` is the policy at the end on more episodes; it is not chosen by its score.
    """
    tasks: dict[str, dict[str, Any]] = {}
    for task, reward in whole.settings:
        found = [cell for cell in _cells(whole, task, reward) if len(cell.finals)]
        first = max((_first_point(cell) for cell in found), default=0)
        name = task if reward == DENSE_REWARD else f"{task}{'&' if '?' in task else '?'}{reward}"
        runs = {cell.method: _runs(cell, first) for cell in found}
        if runs:
            tasks[name] = runs
    return {ENVIRONMENT_NAME: tasks}


def _cells(whole: Groups, task: str, reward: str) -> Iterator[MethodTrials]:
    for method in whole.methods:
        if (task, reward, method) in whole.cells:
            yield whole.cells[task, reward, method]


def _first_point(cell: MethodTrials) -> int:
    """Return the first point at which all finished trials of a cell have a score."""
    return max(int(trial.reports["point"][0]) for trial in cell.trials if trial.finished)


def _runs(cell: MethodTrials, first: int) -> dict[str, Any]:
    return {f"seed_{trial.seed}": _run(trial, first) for trial in cell.trials if trial.finished}


def _run(trial: Trial, first: int) -> dict[str, Any]:
    table = pd.DataFrame(trial.reports).set_index("point")[["env_steps", "test_return"]]
    along = table.reindex(range(1, int(table.index[-1]) + 1)).ffill().loc[first:]
    run: dict[str, Any] = {
        f"step_{place}": {"step_count": int(steps), RETURN_METRICS[0]: [float(score)]}
        for place, (steps, score) in enumerate(along.to_numpy(), start=1)
    }
    return {**run, ABSOLUTE_METRICS: {RETURN_METRICS[0]: [float(table["test_return"].iloc[-1])]}}


def with_others(whole: Groups, file: Path) -> Groups:
    """Return a comparison with the runs of a marl-eval file beside its own.

    Their methods are called "algorithm (file)". A task whose name is none of the comparison's is a
    task of its own. The end figure of a run is its last step, never `absolute_metrics`, which
    others choose by the score.

    Args:
        whole: the comparison.
        file: marl-eval's JSON.
    Raises:
        RequestError: it is not there, or no such file.
    """
    taken: dict[str, int] = {}
    for trial in whole.trials:
        taken[trial.method] = max(taken.get(trial.method, 0), trial.seed + 1)
    trials = [*_trials(file, taken)]
    kinds = {trial.method: LearnerMethod(algorithm=trial.method) for trial in trials}
    return replace(whole, trials=[*whole.trials, *trials], kinds={**whole.kinds, **kinds})


def others_text(own: Groups, whole: Groups) -> str:
    """Say which methods come from files, and at how many env steps their end figures are.

    Args:
        own: the comparison.
        whole: the same with the runs of files.
    Returns:
        Sentences; empty where there are no such runs.
    """
    last: dict[str, list[int]] = {}
    for trial in whole.trials[len(own.trials) :]:
        assert trial.last is not None
        last.setdefault(trial.method, []).append(int(trial.last["env_steps"]))
    spans = {method: sorted({min(steps), max(steps)}) for method, steps in last.items()}
    each = "; ".join(
        f"{method}, {' to '.join(f'{steps:,}' for steps in span)} env steps"
        for method, span in spans.items()
    )
    own_terms = "Their budget, episodes and count of steps are their own, not those told above"
    return f"From files: {each}. {own_terms}; each end figure is a run's last step." if each else ""


def _trials(file: Path, taken: Mapping[str, int]) -> Iterator[Trial]:
    """Read trials; a run's name is one seed of its method in all tasks.

    Where two environments have a task of one name, their runs of one name are two.

    Args:
        file: marl-eval's JSON.
        taken: first seed that is free, by method, as files may share names.
    """
    if not file.is_file():
        raise RequestError(f"--beside {file} is no file; expected marl-eval's JSON")
    numbers: dict[str, dict[tuple[str, ...], int]] = {}
    met: set[tuple[str, str, str, str]] = set()
    try:
        values = read_json(file)
        for environment, tasks in values.items():
            for name, algorithms in tasks.items():
                task, reward = _setting(name)
                for algorithm, runs in algorithms.items():
                    label = f"{algorithm} ({file.stem})"
                    for run, steps in runs.items():
                        again = (task, reward, label, run) in met
                        met.add((task, reward, label, run))
                        known = numbers.setdefault(label, {})
                        key = (environment, run) if again else (run,)
                        number = known.setdefault(key, len(known))
                        yield Trial(
                            name=f"{name}-{label}-{run}",
                            task=task,
                            reward=reward,
                            method=label,
                            policy="",
                            seed=taken.get(label, 0) + number,
                            status="ok",
                            error="",
                            reports=_reports(steps),
                            parameters=None,
                        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        text = f"--beside {file} is not marl-eval's JSON ({type(error).__name__}: {error})"
        raise RequestError(f"{text}; expected environment, task, algorithm, run, step") from error


def _setting(name: str) -> tuple[str, str]:
    """Return task and reward of a name as `to_marl_eval` writes it."""
    try:
        path, options = parse_id(name)
        own, others = split_task_options(path, options)
    except RequestError:
        return name, DENSE_REWARD
    return format_id(path, others), reward_name(own.options)


def _reports(run: Mapping[str, Any]) -> Mapping[str, Float]:
    """Return the steps of a run as the reports of a trial, in the order of their counts."""
    steps = sorted(
        (int(step["step_count"]), _score(step))
        for key, step in run.items()
        if key != ABSOLUTE_METRICS
    )
    if not steps:
        raise ValueError("a run has no step")
    counts, scores = np.array(steps, dtype=np.float64).T
    unknown = dict.fromkeys(REPORT_FIGURES, np.full(len(steps), np.nan))
    known = {"env_steps": counts, "test_return": scores}
    return {**unknown, **known, "point": np.arange(1.0, len(steps) + 1.0)}


def _score(step: Mapping[str, Sequence[float]]) -> float:
    """Return the mean return of a step's episodes."""
    name = next((each for each in RETURN_METRICS if each in step), RETURN_METRICS[0])
    found = np.asarray(step[name], dtype=np.float64)
    if not found.size or not np.isfinite(found).all():
        raise ValueError(f"a {name} is no number")
    return float(np.mean(found))
