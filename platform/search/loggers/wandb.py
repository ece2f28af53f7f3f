"""Logger for Weights & Biases."""

import os
from typing import Any, Final

import wandb

from rolecast.core.errors import RunError
from rolecast.platform.search.loggers.protocol import logged_figures, store_sentences

_PROJECT_NAME: Final = "rolecast"
"""Where the environment names no project."""


class WandbLogger:
    """A run of Weights & Biases for each search or trial, set by the variables of `wandb`.

    WANDB_MODE=offline keeps it on this machine, WANDB_PROJECT names the project, WANDB_DIR the
    folder of its files.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Any] = {}

    def log_trial_start(self, trial: Any) -> None:
        """Begin a run.

        Raises:
            RunError: wandb does not let it begin: no account, no network, no disk.
        """
        if trial.trial_id in self._runs:
            return  # taken up again
        with store_sentences(RunError, "wandb cannot begin a run"):
            run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", _PROJECT_NAME),
                name=str(trial),
                config=trial.config,
                dir=os.environ.get("WANDB_DIR"),  # wandb itself reads it once a process
                reinit="create_new",
                settings=wandb.Settings(console="off", silent=True),
            )
            self._runs[trial.trial_id] = run
            run.define_metric("*", step_metric="env_steps")

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        """Add a point to every curve.

        Raises:
            RunError: wandb does not take it.
        """
        with store_sentences(RunError, "wandb cannot take a result"):
            self._runs[trial.trial_id].log(logged_figures(result))

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        """End the run.

        Raises:
            RunError: wandb does not let it end.
        """
        run = self._runs.pop(trial.trial_id, None)
        if run is not None:
            with store_sentences(RunError, "wandb cannot end a run"):
                run.finish(exit_code=int(failed))
