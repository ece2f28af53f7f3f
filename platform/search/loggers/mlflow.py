"""Logger for MLflow."""

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.search.loggers.protocol import logged_figures

_EXPERIMENT_NAME: Final = "rolecast"
"""Where the environment names no experiment."""

_LONGEST_VALUE: Final = 500
"""Characters of a setting that are kept: every store of MLflow takes as many."""


class MlflowLogger:
    """A run of MLflow for each search or trial, set by the variables of MLflow.

    MLFLOW_TRACKING_URI names the store, MLFLOW_EXPERIMENT_NAME the experiment.
    """

    def __init__(self) -> None:
        """Open the store.

        Raises:
            RequestError: it cannot be opened.
        """
        try:
            self._client = MlflowClient()
        except MlflowException as error:
            raise RequestError(f"MLflow cannot open its store: {error}") from error
        self._runs: dict[str, str] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Begin a run.

        Raises:
            RunError: the store does not let it begin.
        """
        if trial.trial_id in self._runs:
            return  # taken up again
        try:
            run = self._client.create_run(self._experiment(), run_name=str(trial)).info.run_id
            settings = [Param(name, value[:_LONGEST_VALUE]) for name, value in _flat(trial.config)]
            self._client.log_batch(run, params=settings)
        except MlflowException as error:
            raise RunError(f"MLflow cannot begin a run: {error}") from error
        self._runs[trial.trial_id] = run

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Add a point to every curve, at its env steps."""
        now, step = int(1000 * time.time()), int(result["env_steps"])
        metrics = [Metric(name, value, now, step) for name, value in logged_figures(result).items()]
        self._client.log_batch(self._runs[trial.trial_id], metrics=metrics)

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the run."""
        run = self._runs.pop(trial.trial_id, None)
        if run is not None:
            self._client.set_terminated(run, "FAILED" if failed else "FINISHED")

    def _experiment(self) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", _EXPERIMENT_NAME)
        known = self._client.get_experiment_by_name(name)
        created: str = known.experiment_id if known else self._client.create_experiment(name)
        return created


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings as text, by dotted names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
