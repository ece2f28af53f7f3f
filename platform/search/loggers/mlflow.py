"""Logger for MLflow."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from mlflow import MlflowClient, get_tracking_uri
from mlflow.entities import Metric, Param

from rolecast.core.errors import ConfigError, RequestError, RunError
from rolecast.platform.search.loggers.protocol import logged_figures, store_sentences

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
        with store_sentences(RequestError, "MLflow cannot use its store"):
            server = urlsplit(get_tracking_uri())
            if server.scheme in {"http", "https"}:
                note(
                    f"contacting MLflow at {server.hostname}; where nothing answers, it gives up "
                    "after minutes, or sooner with fewer MLFLOW_HTTP_REQUEST_MAX_RETRIES"
                )
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
        with store_sentences(RunError, "MLflow cannot begin a run"):
            created = self._client.create_run(self._experiment, run_name=str(trial))
            self._runs[trial.trial_id] = created.info.run_id
            parameters = [Param(name, value) for name, value in settings.items()]
            try:
                self._client.log_batch(created.info.run_id, params=parameters)
            except BaseException:
                with suppress(Exception):  # the first error says why
                    self.log_trial_end(trial, failed=True)
                raise

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Add a point to every curve, at its env steps.

        Raises:
            RunError: the store does not take it.
        """
        now, step = int(1000 * time.time()), int(result["env_steps"])
        figures = logged_figures(result)
        if self._steps.get(trial.trial_id) == step:  # the held-out score, after the last batch
            del figures["env_steps"]
        named = {_legal(name): value for name, value in figures.items()}
        metrics = [Metric(name, value, now, step) for name, value in named.items()]
        with store_sentences(RunError, "MLflow cannot take a result"):
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
            with store_sentences(RunError, "MLflow cannot end a run"):
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


def _legal(name: str) -> str:
    """Return a name as MLflow takes it."""
    parts = re.sub(r"[^\w./: -]", "_", name)[:_LONGEST_NAME].split("/")
    return "/".join(part if part.strip(".") else "_" for part in parts)


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings as text, by dotted names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
