"""Trials told to TensorBoard and to other loggers, by the names that searches have there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ray.tune import Callback
from ray.tune.logger import LoggerCallback, TBXLoggerCallback

from rolecast.platform.search.loggers.protocol import TrialCallback, logged_figures
from rolecast.platform.search.reporting import Events


class LearnerEvents(TBXLoggerCallback):
    """Events of learners' trials, in the place of those that Tune would write for every trial.

    A search writes its own, with a point a batch and the held-out scores between; both have the
    same tags, and nothing is there twice.
    """

    def __init__(self, learners: frozenset[str]) -> None:
        """Take the labels of the methods that are learners."""
        self._learners = learners
        self._writers: dict[str, Events] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Open a file where a learner begins or goes on."""
        if trial.config["trial"]["method"] in self._learners:
            self.log_trial_end(trial)
            trial.init_local_path()
            self._writers[trial.trial_id] = Events(Path(trial.local_path))

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Add a point to every curve of a learner."""
        if trial.trial_id in self._writers:
            self._writers[trial.trial_id].write(logged_figures(result))

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Write what is held back."""
        writer = self._writers.pop(trial.trial_id, None)
        if writer is not None:
            writer.close()


class ForwardedTrials(LoggerCallback):
    """Tells Tune's trials to a callback that is none of Tune's."""

    def __init__(self, told: TrialCallback) -> None:
        self._told = told

    def log_trial_start(self, trial: Any) -> None:
        """Forward it."""
        self._told.log_trial_start(trial)

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Forward it."""
        self._told.log_trial_result(iteration, trial, result)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Forward it."""
        self._told.log_trial_end(trial, failed=failed)


def for_tune(callbacks: Sequence[TrialCallback]) -> list[Callback]:
    """Return callbacks as Tune takes them; its own stay as they are."""
    return [each if isinstance(each, Callback) else ForwardedTrials(each) for each in callbacks]
