"""Hands the trials of a comparison to Tune, and takes back what Tune takes hold of meanwhile."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from io import StringIO
from typing import Any

from ray import tune

from rolecast.core.signals import signals_given_back
from rolecast.platform.search.loggers.protocol import TrialCallback
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.failures import FailureNotes
from rolecast.platform.tuning.learner import MethodFactory
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.trial import ComparisonTrial
from rolecast.platform.tuning.trial_loggers import LearnerEvents, all_ended, for_tune


def run_trials(
    folder: ComparisonFolder,
    experiment: Experiment,
    plans: Sequence[TrialPlan],
    methods: Mapping[str, MethodFactory],
    workers: int | None,
    devices: Mapping[str, str],
    callbacks: Sequence[TrialCallback] = (),
) -> None:
    """Let Tune run planned trials; those that have finished only hand over their reports.

    `devices` says where each method's optimiser computes, by its label; `callbacks` are told.

    A new Tune experiment each time, not `Tuner.restore`: Tune's own snapshot may be older than
    what the trials have written, and it can be cut off when its process is killed.
    """
    folder.begin_again(plans)
    out = folder.path.resolve()
    learners = frozenset(
        each.label for each in experiment.methods if isinstance(each, LearnerMethod)
    )
    told = for_tune(callbacks)
    tuner = tune.Tuner(
        tune.with_parameters(ComparisonTrial, methods=dict(methods)),
        param_space={
            "out": str(out),
            "workers": experiment.workers,
            "devices": dict(devices),
            "trial": tune.grid_search([asdict(plan) for plan in plans]),
        },
        tune_config=tune.TuneConfig(
            trial_name_creator=_trial_name,
            trial_dirname_creator=_trial_name,
            max_concurrent_trials=workers,
        ),
        run_config=tune.RunConfig(
            name=folder.trials.name,
            storage_path=str(out),
            failure_config=tune.FailureConfig(max_failures=experiment.retries),
            # A trial keeps its own state, with every report.
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            callbacks=[FailureNotes(out), LearnerEvents(learners), *told],
            verbose=0,
        ),
    )
    with _quiet(), signals_given_back(), all_ended(told):
        tuner.fit()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Tune from printing tracebacks of trials, even at its lowest verbosity, into our view."""
    log = logging.getLogger("ray.tune")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        log.setLevel(level)


def _trial_name(trial: Any) -> str:
    """Return the name under which Tune, its folders and the Ray dashboard show a trial."""
    name: str = trial.config["trial"]["trial"]
    return name
