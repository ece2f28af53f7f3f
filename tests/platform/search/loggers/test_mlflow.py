"""The logger of MLflow, at stores that cannot be opened and at one in files.

Skipped where the package is not installed: it is an extra, and large.
"""

from pathlib import Path
from typing import Any

import pytest
from ray.air.integrations.mlflow import MLflowLoggerCallback

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.cli.app import main
from rolecast.platform.search.loggers.protocol import LoggedTrial, set_up
from rolecast.platform.search.loggers.registry import named_loggers
from rolecast.platform.search.run import search

mlflow = pytest.importorskip("mlflow", reason="needs the extra: pip install 'rolecast[mlflow]'")

pytestmark = pytest.mark.filterwarnings(
    "ignore:The filesystem tracking backend:FutureWarning",
    "ignore::ResourceWarning",  # of stores that are given up
)

QUICK = ("--evaluations", "6", "--episodes", "2", "--test-episodes", "2", "--workers", "0")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a store that the environment names."""
    folder = tmp_path / "mlruns"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", folder.as_uri())
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_ID", raising=False)
    return folder


def logger() -> Any:
    (made,) = named_loggers(["mlflow"])
    set_up([made], print)
    return made


def trial(**config: Any) -> LoggedTrial:
    return LoggedTrial(trial_id="t", config=config, local_path=".", evaluated_params={})


def runs(experiment: str = "rolecast") -> list[Any]:
    client = mlflow.MlflowClient()
    found = client.get_experiment_by_name(experiment)
    return [] if found is None else list(client.search_runs([found.experiment_id]))


@pytest.mark.parametrize(
    "uri",
    ["postgresql+none://host/db", "postgresql://host/db", "nothing://host", "file:///proc/nope/at"],
)
def test_a_store_that_cannot_be_opened_is_one_sentence_and_leaves_no_folder(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    command = ["search", "pred_prey_3", *QUICK, "--log", "mlflow", "--out", str(tmp_path / "run")]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    *_, sentence = said.splitlines()
    assert "MLflow cannot use its store: " in sentence
    assert not (tmp_path / "run").exists()


def test_a_server_is_named_before_it_is_contacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """MLflow says nothing while it tries again, by default for more than four minutes."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://user:secret@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    command = ["search", "pred_prey_3", *QUICK, "--log", "mlflow", "--out", str(tmp_path / "run")]
    assert main(command) == 2
    *_, note, sentence = capsys.readouterr().err.splitlines()
    assert note.startswith("contacting MLflow at 127.0.0.1; ")
    assert note.endswith("MLFLOW_HTTP_REQUEST_MAX_RETRIES")
    assert "MLflow cannot use its store: " in sentence
    assert not (tmp_path / "run").exists()


def test_a_refused_request_opens_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert main(["search", "pred_prey_3", *QUICK, "--episodes", "0", "--log", "mlflow"]) == 2
    assert main(["compare", "quickstart", "--seeds", "0", "--log", "mlflow"]) == 2
    assert not [*tmp_path.iterdir()]


def test_a_run_that_cannot_begin_is_ended_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = logger()

    def refuse(*words: Any, **options: Any) -> None:
        raise ConnectionError("the server\nis gone")

    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", refuse)
    with pytest.raises(RunError, match="MLflow cannot begin a run: the server is gone"):
        made.log_trial_start(trial(seed=3))
    (run,) = runs()
    assert run.info.status == "FAILED"


def test_a_result_that_is_not_taken_ends_the_search_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = logger()
    made.log_trial_start(trial())

    def refuse(*words: Any, **options: Any) -> None:
        raise ConnectionError("the server is gone")

    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", refuse)
    with pytest.raises(RunError, match="MLflow cannot take a result: the server is gone"):
        made.log_trial_result(1, trial(), {"env_steps": 3})


def test_the_environment_names_the_experiment_by_name_or_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = mlflow.MlflowClient()
    mine = client.create_experiment("mine")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", mine)
    logger().log_trial_start(trial())
    assert len(runs("mine")) == 1
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "mine")
    logger().log_trial_start(trial())
    assert len(runs("mine")) == 2
    client.create_experiment("other")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "other")
    with pytest.raises(RequestError, match=f"MLFLOW_EXPERIMENT_ID is '{mine}'; expected '"):
        logger()
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "")
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "77")
    with pytest.raises(RequestError, match=r"MLflow cannot use its store: .*77"):
        logger()
    client.delete_experiment(mine)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", mine)
    with pytest.raises(RequestError, match="'mine' is deleted"):
        logger()


def test_no_curve_has_two_points_at_one_step(tmp_path: Path) -> None:
    """The held-out score comes at the env steps of the last batch."""
    search(
        "pred_prey_3", optimizer="random", evaluations=12, episodes=2, batch_size=4, workers=0,
        test_episodes=2, out=tmp_path / "run", callbacks=named_loggers(["mlflow"]),
    )  # fmt: skip
    (run,) = runs()
    for name in ("env_steps", "best_return", "test_return"):
        curve = mlflow.MlflowClient().get_metric_history(run.info.run_id, name)
        steps = [point.step for point in curve]
        assert len({*steps}) == len(steps) > 0


def test_names_that_mlflow_would_refuse_are_made_legal() -> None:
    made = logger()
    made.log_trial_start(trial(task_options={"gains[0]": 5}))
    made.log_trial_result(1, trial(), {"env_steps": 3, "task/speed (m/s)": 2.0, "task/Δx": 1.0})
    (run,) = runs()
    assert run.data.params == {"task_options.gains_0_": "5"}
    assert run.data.metrics == {"env_steps": 3.0, "task/speed _m/s_": 2.0, "task/Δx": 1.0}


def test_tunes_logger_for_mlflow_takes_a_search(tmp_path: Path, store: Path) -> None:
    """It opens its store in `setup`, which Tune calls."""
    theirs = MLflowLoggerCallback(tracking_uri=store.as_uri(), experiment_name="tunes")
    search(
        "pred_prey_3", optimizer="random", evaluations=4, episodes=2, batch_size=4, workers=0,
        test_episodes=2, out=tmp_path / "run", callbacks=[theirs],
    )  # fmt: skip
    (run,) = runs("tunes")
    assert run.info.status == "FINISHED"
