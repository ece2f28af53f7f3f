"""How a search or a trial is told to others: by the names of Ray Tune's `LoggerCallback`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from rolecast.core.errors import ConfigError, RequestError, RunError, on_one_line
from rolecast.platform.search.records.metrics import METRIC_VOCABULARY

_OWN_PREFIXES: Final = ("optimizer/", "task/")
"""Of figures beside the vocabulary: the optimiser's own, and the task's."""


_SECOND_NAME: Final = "timesteps_total"
"""Of env_steps, for Tune alone."""


@runtime_checkable
class TrialCallback(Protocol):
    """Whoever is told; every `LoggerCallback` of Ray Tune is one."""

    def log_trial_start(self, trial: Any) -> None:
        """Begin, or begin again where a trial is taken up; `trial` is as `LoggedTrial`."""

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Take in the figures after a batch, or at a point of a comparison's trial."""

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End; `failed` where an error or Ctrl-C ended it."""


def checked_callbacks(callbacks: Iterable[TrialCallback]) -> tuple[TrialCallback, ...]:
    """Return callbacks that can be told.

    Raises:
        ConfigError: one lacks a method of `TrialCallback`.
    """
    given = tuple(callbacks)
    for each in given:
        if not isinstance(each, TrialCallback):
            expected = "log_trial_start, log_trial_result and log_trial_end, as Tune's loggers have"
            raise ConfigError("callbacks", each, f"an object with {expected}")
    return given


def set_up(callbacks: Iterable[TrialCallback], note: Callable[[str], None]) -> None:
    """Let callbacks that have Tune's `setup` make ready, before anything is written.

    Args:
        callbacks: as of `checked_callbacks`.
        note: shows a sentence; handed on by its name.
    Raises:
        RequestError: one is not ready, such as a logger whose store cannot be opened.
    """
    for each in callbacks:
        setup = getattr(each, "setup", None)
        if setup is not None:
            setup(note=note)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoggedTrial:
    """A search, with what Tune's loggers read of a trial; equal to itself alone, as a trial is."""

    trial_id: str
    """Name of its folder."""

    config: dict[str, Any]
    """Its settings."""

    local_path: str
    """Its folder."""

    evaluated_params: Mapping[str, Any]
    """What was varied: nothing."""

    checkpoint: None = None
    """What Tune would begin a trial from; a search begins from its folder."""

    def __str__(self) -> str:
        return self.trial_id

    def init_local_path(self) -> None:
        """Make the folder, which is there."""


def logged_figures(result: Mapping[str, Any]) -> dict[str, float]:
    """Return what is logged of a result: finite numbers, by names that all trials share."""
    return {
        name: float(value)
        for name, value in result.items()
        if ((name in METRIC_VOCABULARY and name != _SECOND_NAME) or name.startswith(_OWN_PREFIXES))
        and isinstance(value, Real)
        and isfinite(value)
    }


@contextmanager
def store_sentences(kind: type[RequestError | RunError], what: str) -> Iterator[None]:
    """Say in one sentence what a store cannot do: stores raise errors of any kind.

    Args:
        kind: of the error.
        what: "MLflow cannot begin a run", for example.
    Raises:
        RequestError: of that kind.
        RunError: of that kind.
    """
    try:
        yield
    except Exception as error:
        raise kind(f"{what}: {on_one_line(error)}") from error


class Told:
    """One search and those who are told of it."""

    def __init__(
        self,
        callbacks: Sequence[TrialCallback],
        path: Path,
        config: dict[str, Any],
        clock: Callable[[], float],
        leave_out: Callable[[float], None],
    ) -> None:
        """Tell nothing yet.

        Args:
            callbacks: who is told.
            path: of the search's folder.
            config: its settings.
            clock: seconds.
            leave_out: takes seconds that were no searching, but telling.
        """
        self._callbacks, self._failed = tuple(callbacks), False
        self._clock, self._leave_out = clock, leave_out
        self._trial = LoggedTrial(
            trial_id=path.resolve().name, config=config, local_path=str(path), evaluated_params={}
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Tell of begin and end; however many fail to, each that was begun is asked to end."""
        self._failed = True
        with ExitStack() as ends:
            with self._telling():
                for each in self._callbacks:
                    each.log_trial_start(self._trial)
                    ends.callback(self._end, each)
            yield
            self._failed = False

    def result(self, iteration: int, metrics: Mapping[str, float]) -> None:
        """Tell of figures."""
        with self._telling():
            for each in self._callbacks:
                told = {**metrics, _SECOND_NAME: metrics["env_steps"]}
                each.log_trial_result(iteration, self._trial, told)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Do not count what happens inside as searching."""
        began = self._clock()
        yield
        self._leave_out(self._clock() - began)

    def _end(self, callback: TrialCallback) -> None:
        # Where the search has failed, why is on its way to the user.
        with suppress(Exception) if self._failed else nullcontext():
            callback.log_trial_end(self._trial, failed=self._failed)
