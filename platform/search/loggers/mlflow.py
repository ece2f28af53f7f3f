"""Logger for MLflow."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from mlflow import MlflowClient, get_tracking_uri
from mlflow.entities import Metric, Param

from rolecast.core.errors import ConfigError, RequestError, RunError, on_one_line
from rolecast.platform.search.loggers.protocol import logged_figures

_EXPERIMENT_NAME: Final = "rolecast"
"""Where the environment names no experiment."""

_LONGEST_VALUE: Final = 500
"""Characters of a setting that are kept: every store of MLflow takes as many."""

_LONGEST_NAME: Final = 250
"""Characters of a name that are kept, likewise."""


class MlflowLogger:
    """A run of MLflow for each search or trial, set by the variables of MLflow.

    MLFLOW_TRACKING_URI names the store, MLFLOW_EXPERIMENT_NAME or MLFLOW_EXPERIMENT_ID the
    experiment.
    """

    def __init__(self) -> None:
        self._runs: dict[str, str] = {}
        self._steps: dict[str, int] = {}

    def setup(self, *, note: Callable[[str], None], **info: Any) -> None:
        """Open the store, and find the experiment or make it.

        Args:
            note: told of a server, for which MLflow may wait.
            info: what Tune would tell beside.
        Raises:
            RequestError: the store cannot be opened, or has no such experiment.
        """
        server = urlsplit(get_tracking_uri())
        if server.scheme in {"http", "https"}:
            note(
                f"contacting MLflow at {server.hostname}; where nothing answers, it gives up after "
                "minutes, or sooner with fewer MLFLOW_HTTP_REQUEST_MAX_RETRIES"
            )
        with _sentences(RequestError, "open its store"):
            self._client = MlflowClient()
            self._experiment = self._found_experiment()

    def log_trial_start(self, trial: Any) -> None:
        """Begin a run.

        Raises:
            RunError: the store does not let it begin.
        """
        if trial.trial_id in self._runs:
            return  # taken up again
        settings = {_legal(name): value[:_LONGEST_VALUE] for name, value in _flat(trial.config)}
        with _sentences(RunError, "begin a run"), ExitStack() as failed:
            created = self._client.create_run(self._experiment, run_name=str(trial))
            self._runs[trial.trial_id] = created.info.run_id
            failed.callback(self.log_trial_end, trial, failed=True)
            parameters = [Param(name, value) for name, value in settings.items()]
            self._client.log_batch(created.info.run_id, params=parameters)
            failed.pop_all()

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Add a point to every curve, at its env steps.

        Raises:
            RunError: the store does not take it.
        """
        now, step = int(1000 * time.time()), int(result["env_steps"])
        figures = logged_figures(result)
        if self._steps.get(trial.trial_id) == step:  # the held-out score, after the last batch
            del figures["env_steps"]
        metrics = [Metric(_legal(name), value, now, step) for name, value in figures.items()]
        with _sentences(RunError, "take a result"):
            self._client.log_batch(self._runs[trial.trial_id], metrics=metrics)
        self._steps[trial.trial_id] = step

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the run.

        Raises:
            RunError: the store does not let it end.
        """
        run = self._runs.pop(trial.trial_id, None)
        self._steps.pop(trial.trial_id, None)
        if run is not None:
            with _sentences(RunError, "end a run"):
                self._client.set_terminated(run, "FAILED" if failed else "FINISHED")

    def _found_experiment(self) -> str:
        """Return the id of the experiment that the environment names."""
        name, wanted = (os.environ.get(f"MLFLOW_EXPERIMENT_{part}") for part in ("NAME", "ID"))
        if wanted and not name:
            known = self._client.get_experiment(wanted)
        else:
            known = self._client.get_experiment_by_name(name or _EXPERIMENT_NAME)
        if known is None:
            created: str = self._client.create_experiment(name or _EXPERIMENT_NAME)
            return created
        found: str = known.experiment_id
        if wanted and wanted != found:
            expected = f"{found!r}, that of MLFLOW_EXPERIMENT_NAME"
            raise ConfigError("MLFLOW_EXPERIMENT_ID", wanted, expected)
        if known.lifecycle_stage != "active":
            raise RequestError(f"experiment {known.name!r} is deleted; expected one that is not")
        return found


@contextmanager
def _sentences(kind: type[RequestError | RunError], what: str) -> Iterator[None]:
    """Say in one sentence why MLflow cannot do something: its stores raise errors of any kind."""
    try:
        yield
    except Exception as error:
        raise kind(f"MLflow cannot {what}: {on_one_line(error)}") from error


def _legal(name: str) -> str:
    """Return a name as MLflow takes it."""
    return re.sub(r"[^\w./: -]", "_", name)[:_LONGEST_NAME]


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings as text, by dotted names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
