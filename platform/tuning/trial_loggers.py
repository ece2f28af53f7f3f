"""Trials told to TensorBoard and to other loggers, by the names that searches have there."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ray.tune import Callback, TuneError
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
        self._begun: dict[str, Any] = {}
        self.error: Exception | None = None
        """What it raised, which Tune turns into text."""

    def log_trial_start(self, trial: Any) -> None:
        """Forward it, unless the callback has failed: Tune would try that trial again."""
        if self.error is not None:
            raise self.error
        with self._kept_error():
            self._told.log_trial_start(trial)
        self._begun[trial.trial_id] = trial

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Forward it."""
        with self._kept_error():
            self._told.log_trial_result(iteration, trial, result)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """Forward it, once."""
        if self._begun.pop(trial.trial_id, None) is not None:
            with self._kept_error():
                self._told.log_trial_end(trial, failed=failed)

    def end_all(self) -> None:
        """End the trials that Tune has left: after Ctrl-C, or an error of a callback."""
        with ExitStack() as ends:
            for trial in self._begun.values():
                ends.callback(self._told.log_trial_end, trial, failed=True)
            self._begun = {}

    @contextmanager
    def _kept_error(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.error = self.error or error
            raise


def for_tune(callbacks: Sequence[TrialCallback]) -> list[Callback]:
    """Return callbacks as Tune takes them; its own stay as they are."""
    return [each if isinstance(each, Callback) else ForwardedTrials(each) for each in callbacks]


@contextmanager
def all_ended(callbacks: Sequence[Callback]) -> Iterator[None]:
    """See to it that each trial that `ForwardedTrials` began is ended, whatever happens inside.

    Raises:
        Exception: what one of them raised inside, as itself and not as Tune's text of it.
    """
    forwarded = [each for each in callbacks if isinstance(each, ForwardedTrials)]
    with ExitStack() as ends:
        for each in forwarded:
            ends.callback(each.end_all)
        try:
            yield
        except TuneError:
            if all(each.error is None for each in forwarded):
                raise
        for each in forwarded:
            if each.error is not None:
                raise each.error
