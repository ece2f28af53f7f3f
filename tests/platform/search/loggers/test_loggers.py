"""Searches told to Weights & Biases offline, to a store of MLflow in files, and to Tune's loggers.

The first two are skipped where their packages are not installed: they are extras, and large.
"""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray.tune.logger import JsonLoggerCallback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.cli.app import main
from rolecast.platform.search.loggers.protocol import LoggedTrial, logged_figures, set_up
from rolecast.platform.search.loggers.registry import named_loggers
from rolecast.platform.search.progress import plain_lines
from rolecast.platform.search.result import SearchResult
from rolecast.platform.search.run import resume, search

SMALL: dict[str, Any] = {
    "policy": "mlp",
    "optimizer": "local_gp",
    "env_steps": 5_000,
    "episodes": 4,
    "batch_size": 10,
    "seed": 3,
    "workers": 0,
    "test_episodes": 20,
}

TAGS = {
    *("env_steps", "policy_evaluations", "episode_return_mean", "episode_return_stderr"),
    *("observed_return_mean", "best_return", "wall_time_s", "test_return", "test_return_stderr"),
}

CLIENTS = {"mlflow": "mlflow", "wandb": "wandb"}


class Recorder:
    """Keeps what it is told."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.told: list[tuple[Any, ...]] = []
        self._fails_at = fails_at

    def log_trial_start(self, trial: Any) -> None:
        self.told.append(("start", str(trial), trial.config["task"]))

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        self.told.append(("result", iteration, result))
        if iteration == self._fails_at:
            raise ConnectionError("the server is gone")

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        self.told.append(("end", failed))


def events(folder: Path) -> EventAccumulator:
    found = EventAccumulator(str(folder))
    found.Reload()
    return found


def test_a_callback_is_told_what_tensorboard_shows(tmp_path: Path) -> None:
    recorder = Recorder()
    result = search("pred_prey_3", out=tmp_path / "run", callbacks=[recorder], **SMALL)
    assert recorder.told[0] == ("start", "run", "pred_prey_3")
    assert recorder.told[-1] == ("end", False)
    results = [each for each in recorder.told if each[0] == "result"]
    *batches, last = [each[2] for each in results]
    assert [each[1] for each in results] == [*range(1, len(batches) + 1), len(batches)]
    assert last["test_return"] == result.test_return
    shown = events(tmp_path / "run" / "tensorboard")
    curve = shown.Scalars("episode_return_mean")
    np.testing.assert_allclose(
        [point.value for point in curve], [each["episode_return_mean"] for each in batches], 1e-6
    )
    tags = {tag for tag in shown.Tags()["scalars"] if "/" not in tag}
    assert tags == TAGS - {"env_steps"}  # the axis is no curve


def test_a_resumed_end_is_not_shown_twice(tmp_path: Path) -> None:
    search("pred_prey_3", out=tmp_path / "run", **SMALL)
    resume(tmp_path / "run")
    assert len(events(tmp_path / "run" / "tensorboard").Scalars("test_return")) == 1


def test_a_search_that_fails_ends_as_failed(tmp_path: Path) -> None:
    recorder, other = Recorder(fails_at=2), Recorder()
    with pytest.raises(ConnectionError):
        search("pred_prey_3", out=tmp_path / "run", callbacks=[other, recorder], **SMALL)
    assert recorder.told[-1] == other.told[-1] == ("end", True)


class Faulty(Recorder):
    """Fails at one of its ends."""

    def __init__(self, end: str) -> None:
        super().__init__()
        self._end = end

    def log_trial_start(self, trial: Any) -> None:
        super().log_trial_start(trial)
        if self._end == "start":
            raise ConnectionError("the server is not there")

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        super().log_trial_end(trial, failed)
        raise ConnectionError("the server is gone")


def test_where_one_callback_fails_to_end_the_others_end_and_the_result_is_told(
    tmp_path: Path,
) -> None:
    before, after, said = Recorder(), Recorder(), StringIO()
    with pytest.raises(ConnectionError, match="gone"):
        search(
            "pred_prey_3",
            out=tmp_path / "run",
            callbacks=[before, Faulty("end"), after],
            progress=plain_lines(said),
            **SMALL,
        )
    assert before.told[-1] == after.told[-1] == ("end", False)
    assert "the search has its result, but did not end well; everything is" in said.getvalue()
    assert "failed" not in said.getvalue()


def test_where_one_callback_fails_to_start_those_before_it_end(tmp_path: Path) -> None:
    before, faulty, after = Recorder(), Faulty("start"), Recorder()
    out, said = tmp_path / "run", StringIO()
    callbacks, progress = [before, faulty, after], plain_lines(said)
    with pytest.raises(ConnectionError, match="not there"):
        search("pred_prey_3", out=out, callbacks=callbacks, progress=progress, **SMALL)
    assert f"before its first batch; begin it with: rolecast resume {out}" in said.getvalue()
    assert [each[0] for each in before.told] == ["start", "end"]
    assert [each[0] for each in faulty.told] == ["start"]
    assert not after.told


def test_a_logger_of_tune_takes_a_search(tmp_path: Path) -> None:
    logger = JsonLoggerCallback()  # type: ignore[no-untyped-call]
    search("pred_prey_3", out=tmp_path / "run", callbacks=[logger], **SMALL)
    lines = (tmp_path / "run" / "result.json").read_text().splitlines()
    assert "test_return" in json.loads(lines[-1])
    assert json.loads((tmp_path / "run" / "params.json").read_text())["seed"] == 3


def test_what_is_logged_is_finite_and_of_the_vocabulary() -> None:
    result = {
        "env_steps": 5, "timesteps_total": 5, "test_return": float("nan"), "pid": 77,
        "optimizer/cloud_radius": 0.5, "task/caught": np.float64(2.0), "done": True,
    }  # fmt: skip
    assert logged_figures(result) == {
        "env_steps": 5.0, "optimizer/cloud_radius": 0.5, "task/caught": 2.0
    }  # fmt: skip


def test_unknown_loggers_and_missing_packages_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RequestError, match="logger 'wandbb' does not exist; did you mean 'wandb'"):
        named_loggers(["wandbb"])
    monkeypatch.setattr("rolecast.platform.search.loggers.registry.find_spec", lambda name: None)
    assert main(["search", "pred_prey_3", "--log", "tensorboard,wandb"]) == 2
    assert "pip install 'rolecast[wandb]'" in capsys.readouterr().err
    assert named_loggers(["tensorboard"]) == []


@pytest.fixture
def logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], SearchResult]:
    """Return a search that is told to a logger, all of whose files are in a folder of the test."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())

    def run(name: str) -> SearchResult:
        pytest.importorskip(name, reason=f"needs the extra: pip install 'rolecast[{name}]'")
        out = tmp_path / "run"
        return search("pred_prey_3", out=out, callbacks=named_loggers([name]), **SMALL)

    return run


def test_weights_and_biases_keeps_a_search_offline(
    logged: Callable[[str], SearchResult], tmp_path: Path
) -> None:
    result = logged("wandb")
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    kept = file.read_bytes()
    for tag in TAGS:
        assert tag.encode() in kept
    assert str(result.test_return).encode() in kept
    assert b"local_gp" in kept


def test_what_weights_and_biases_refuses_is_one_sentence(
    logged: Callable[[str], SearchResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values of its variables that it does not take are errors of pydantic."""
    wandb = pytest.importorskip("wandb", reason="needs the extra: pip install 'rolecast[wandb]'")

    def refuse(**settings: Any) -> None:
        raise ValueError("mode\n  Input should be 'online'")

    monkeypatch.setattr(wandb, "init", refuse)
    with pytest.raises(RunError, match="wandb cannot begin a run: mode Input should be 'online'"):
        logged("wandb")


@pytest.mark.filterwarnings("ignore:The filesystem tracking backend:FutureWarning")
def test_mlflow_keeps_a_search(logged: Callable[[str], SearchResult]) -> None:
    result = logged("mlflow")
    from mlflow import MlflowClient

    client = MlflowClient()
    experiment = client.get_experiment_by_name("rolecast")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.status, run.info.run_name) == ("FINISHED", "run")
    assert {tag for tag in run.data.metrics if "/" not in tag} == TAGS
    assert run.data.metrics["test_return"] == result.test_return
    assert run.data.params["optimizer"] == "local_gp"
    curve = client.get_metric_history(run.info.run_id, "best_return")
    assert curve[-1].step == result.summary["env_steps"]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_trial_taken_up_again_goes_on_in_its_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: object
) -> None:
    """Tune begins a trial again after a crash; the logger is told so, and makes no second run."""
    pytest.importorskip(name, reason=f"needs the extra: pip install 'rolecast[{name}]'")
    (logger,) = named_loggers([name])
    set_up([logger], print)
    trial = LoggedTrial(trial_id="t", config={}, local_path=str(tmp_path), evaluated_params={})
    for _ in range(2):
        logger.log_trial_start(trial)
        logger.log_trial_result(1, trial, {"env_steps": 3, "test_return": 1.0})
    logger.log_trial_end(trial, failed=True)
    logger.log_trial_end(trial, failed=True)
    runs = [*tmp_path.glob("wandb/offline-run-*"), *tmp_path.glob("mlruns/*/*/metrics")]
    assert len(runs) == 1


def test_a_callback_without_a_method_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    expected = "callbacks is 5; expected an object with log_trial_start, log_trial_result and"
    with pytest.raises(RequestError, match=expected):
        search("pred_prey_3", callbacks=[Recorder(), 5], out=tmp_path / "run", **SMALL)  # type: ignore[list-item]
    assert not (tmp_path / "run").exists()
    recorder = Recorder()
    search("pred_prey_3", callbacks=iter([recorder]), out=tmp_path / "run", **SMALL)  # type: ignore[arg-type]
    assert recorder.told[-1] == ("end", False)
    with pytest.raises(RequestError, match=expected):
        resume(tmp_path / "run", callbacks=[5], env_steps="+5000")  # type: ignore[list-item]
