"""One real Tune experiment after another on one real cluster: what comes out, whatever breaks."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ray import tune
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import rolecast
from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.search.records.metrics import METRIC_VOCABULARY
from rolecast.platform.tuning.comparison import (
    ComparisonInterrupted,
    ComparisonResult,
    compare,
    run_comparison,
)
from rolecast.platform.tuning.comparison_folder import ComparisonFolder, read_comparison
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.loading import Request
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.progress import Silent
from rolecast.platform.tuning.trial import ComparisonTrial

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
]
SEARCH = "pred_prey_3-sparse=5-cmaes-seed0"
CLIMB = "pred_prey_3-sparse=5-climb-seed0"


@pytest.fixture(scope="session")
def finished(
    climbing: Request, tmp_path_factory: pytest.TempPathFactory, ray_cluster: str
) -> ComparisonResult:
    """A search beside three learners: a sound one, one that is killed once, and a broken one.

    Tests only read it.
    """
    notes = tmp_path_factory.mktemp("notes")

    def climber(label: str, trouble: str) -> LearnerMethod:
        note = str(notes / label)
        settings = {"trouble": trouble, "note": note}
        return LearnerMethod(algorithm="climb", label=label, settings=settings)

    experiment = replace(
        climbing.experiment,
        methods=(
            *climbing.experiment.methods,
            climber("killed", "killed"),
            climber("broken", "broken"),
        ),
    )
    out = tmp_path_factory.mktemp("comparisons") / "finished"
    return compare(experiment, out=out, methods=climbing.methods)


def rows_of(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return what a method's trial reported, what depends on the clock or its label left out."""
    own = rows[rows["method"] == method]
    return own.drop(columns=["wall_time_s", "trial", "method"]).reset_index(drop=True)


def test_all_trials_report_the_vocabulary_at_the_same_points(finished: ComparisonResult) -> None:
    rows = finished.rows
    for method in ("cmaes", "climb"):
        own = rows[rows["method"] == method]
        assert list(own["env_steps"]) == [600, 1200, 1800, 2400, 3000]
        assert list(own["point"]) == [1, 2, 3, 4, 5]
        assert list(own["done"]) == [False] * 4 + [True]
        assert set(own["status"]) == {"ok"}
        assert own[list(METRIC_VOCABULARY)].notna().all(axis=None)
        assert (own["timesteps_total"] == own["env_steps"]).all()
        assert own["best_return"].is_monotonic_increasing
        assert own["wall_time_s"].is_monotonic_increasing
        assert (own["parameters"] == 16 * 4 + 4 + 4 * 2 + 2).all()


def test_a_trial_of_a_search_is_that_search(finished: ComparisonResult, tmp_path: Path) -> None:
    alone = rolecast.search(
        "pred_prey_3",
        task_options={"sparse": 5},
        optimizer="cmaes",
        policy="mlp",
        policy_options={"hidden": [4]},
        env_steps=3_000,
        episodes=4,
        batch_size=3,
        workers=0,
        test_episodes=30,
        out=tmp_path / "alone",
    )
    last = finished.rows[finished.rows["method"] == "cmaes"].iloc[-1]
    assert last["test_return"] == alone.test_return
    assert last["test_return_stderr"] == alone.test_stderr
    assert last["best_return"] == alone.summary["best_return"]
    assert last["policy_evaluations"] == alone.summary["policy_evaluations"]


def test_a_trial_with_a_worker_of_its_own_reports_the_same(
    finished: ComparisonResult, climbing: Request, tmp_path: Path
) -> None:
    """Of two CPUs the trial holds one and its rollout actor the other."""
    searches = tuple(each for each in climbing.experiment.methods if each.label == "cmaes")
    experiment = replace(climbing.experiment, methods=searches, workers=1)
    rows = compare(experiment, out=tmp_path / "out", methods=climbing.methods).rows
    pd.testing.assert_frame_equal(rows_of(rows, "cmaes"), rows_of(finished.rows, "cmaes"))


def test_a_learner_is_scored_as_any_policy_is(
    finished: ComparisonResult, climbing: Request
) -> None:
    learner = climbing.methods["climb"].start(
        "pred_prey_3?sparse=5", {}, seed=0, workers=0, env_steps=3_000
    )
    progress = learner.train(3_000)
    policy, weights = learner.policy()
    last = finished.rows[finished.rows["method"] == "climb"].iloc[-1]
    task = rolecast.make_task("pred_prey_3")
    from rolecast.core.seeds import Purpose, episode_seeds

    held_out = rolecast.rollout(task, policy, weights, episode_seeds(0, Purpose.HELD_OUT, 0, 30))
    assert last["test_return"] == held_out.returns.mean()
    fifth = progress.returns[-24:]
    assert last["episode_return_mean"] == pytest.approx(np.mean(fifth))
    assert last["episode_return_stderr"] == pytest.approx(np.std(fifth, ddof=1) / np.sqrt(24))
    assert last["observed_return_mean"] == pytest.approx(np.mean(progress.observed_returns[-24:]))
    assert last["policy_evaluations"] == len(progress.returns) == 120


def test_a_trial_that_is_killed_reports_what_it_would_have(finished: ComparisonResult) -> None:
    rows = finished.rows
    pd.testing.assert_frame_equal(rows_of(rows, "killed"), rows_of(rows, "climb"), check_exact=True)
    results = finished.out / "trials" / "pred_prey_3-sparse=5-killed-seed0" / "result.json"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert [line["env_steps"] for line in lines] == [600, 1200, 1800, 2400, 3000]
    assert [line["training_iteration"] for line in lines] == [1, 2, 3, 4, 5]


def test_a_trial_that_crashes_always_is_shown_as_failed(finished: ComparisonResult) -> None:
    own = finished.rows[finished.rows["method"] == "broken"]
    assert set(own["status"]) == {"failed"}
    assert set(own["error"]) == {"OSError: the ladder broke"}
    assert list(own["env_steps"]) == [600, 1200]
    name = "pred_prey_3-sparse=5-broken-seed0"
    assert dict(finished.failures) == {name: "OSError: the ladder broke"}


def test_tune_loads_the_comparison_as_its_own(finished: ComparisonResult) -> None:
    tuner = tune.Tuner.restore(str(finished.out / "trials"), ComparisonTrial)
    results: Any = tuner.get_results()
    assert len(results) == 4
    assert results.num_errors == 1
    ended = {Path(result.path).name: result for result in results}
    best = ended[SEARCH].metrics
    assert best["env_steps"] == best["timesteps_total"] == 3_000
    assert list(ended[CLIMB].metrics_dataframe["env_steps"]) == [600, 1200, 1800, 2400, 3000]
    assert ended[CLIMB].config["trial"]["method"] == "climb"


def test_tensorboard_has_all_trials_over_env_steps(finished: ComparisonResult) -> None:
    """By the same tags, and each in one folder: no chart shows a trial twice."""
    places = {SEARCH: f"work/{SEARCH}/run/tensorboard", CLIMB: f"trials/{CLIMB}"}
    found = {
        str(file.parent.relative_to(finished.out)) for file in finished.out.rglob("*tfevents*")
    }
    assert {place for place in found if SEARCH in place or CLIMB in place} == set(places.values())
    for name, place in places.items():
        events = EventAccumulator(str(finished.out / place))
        events.Reload()
        curve = events.Scalars("test_return")
        own = finished.rows[finished.rows["trial"] == name]
        assert [point.step for point in curve] == list(own["env_steps"])
        np.testing.assert_allclose([p.value for p in curve], own["test_return"], rtol=1e-6)


def test_a_finished_comparison_resumes_to_itself(
    finished: ComparisonResult, climbing: Request
) -> None:
    again = replace(climbing.experiment, env_steps=4_000)
    with pytest.raises(RequestError, match="another experiment, whose methods is"):
        compare(climbing.experiment, out=finished.out, resume=True, methods=climbing.methods)
    with pytest.raises(RequestError, match="exists; expected a path that does not or --resume"):
        compare(again, out=finished.out, methods=climbing.methods)


def test_a_comparison_goes_on_with_more_seeds_and_not_with_fewer(
    climbing: Request, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    climb = [each for each in climbing.experiment.methods if each.label == "climb"]
    experiment = replace(climbing.experiment, methods=tuple(climb), env_steps=1_000, points=2)
    two = experiment.scaled(seeds=2)
    compare(two, out=out, methods=climbing.methods, only=lambda plan: plan.seed == 1)
    assert set(read_comparison(out).rows["seed"]) == {1}
    before = read_comparison(out).rows
    three = experiment.scaled(seeds=3)
    compare(three, out=out, methods=climbing.methods, resume=True)
    rows = read_comparison(out).rows
    assert list(dict.fromkeys(rows["seed"])) == [0, 1, 2]
    kept = rows[rows["seed"] == 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before, check_exact=True)
    with pytest.raises(RequestError, match="whose seeds is 3; expected 2"):
        compare(two, out=out, methods=climbing.methods, resume=True)


def test_a_comparison_that_is_stopped_names_no_command_but_its_own(
    climbing: Request, tmp_path: Path
) -> None:
    folder, experiment = ComparisonFolder(tmp_path / "out"), climbing.experiment
    said = f"0 trials are done; the same command with --out {folder.path} --resume goes on"
    with pytest.raises(ComparisonInterrupted, match=re.escape(said)):
        run_comparison(folder, experiment, experiment.trials(), 1, Silent(), lambda _: None)


def test_an_algorithm_of_the_project_is_a_trial_like_any_other(tmp_path: Path) -> None:
    experiment = Experiment(
        name="pendulum",
        tasks=("gym:Pendulum-v1",),
        rewards=("delay=5",),
        methods=(LearnerMethod(algorithm="td3", settings={"size": "small"}),),
        seeds=1,
        env_steps=600,
        points=2,
        test_episodes=2,
        final_test_episodes=3,
    )
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGUSR1)]
    result = compare(experiment, out=tmp_path / "out")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGUSR1)] == handlers
    assert dict(result.failures) == {}
    rows = result.rows
    assert list(rows["point"]) == [1, 2]
    assert list(rows["done"]) == [False, True]
    assert (rows["env_steps"] >= [300, 600]).all()
    assert (rows["parameters"] == 3 * 10 + 10 + 10 * 10 + 10 + 10 + 1).all()
    assert rows["test_return"].between(-16.3 * 200, 0.0).all()
    assert [path.name for path in result.out.glob("work/*/learner-*")] == ["learner-2"]


def test_a_killed_driver_is_resumed_without_running_anything_twice(
    finished: ComparisonResult,
    climbing_file: Path,
    ray_cluster: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its trials run one after another, those that it is compared with ran side by side."""
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "rolecast", "compare", str(climbing_file)]
    command += ["--out", str(out), "--workers", "1", "--address", ray_cluster]
    begun = subprocess.Popen(command, stderr=subprocess.PIPE)
    climber = out / "work" / CLIMB / "record.json"
    deadline = time.monotonic() + 300
    while not (climber.is_file() and json.loads(climber.read_text())["rows"]):
        assert begun.poll() is None, begun.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(begun.pid, signal.SIGKILL)
    begun.communicate()
    search = out / "work" / SEARCH / "run" / "history.parquet"
    before = search.stat().st_mtime_ns
    assert main([*command[3:], "--resume"]) == 0, capsys.readouterr().err
    assert search.stat().st_mtime_ns == before
    rows = read_comparison(out).rows
    for method in ("cmaes", "climb"):
        pd.testing.assert_frame_equal(
            rows_of(rows, method), rows_of(finished.rows, method), check_exact=True
        )
    for name in (SEARCH, CLIMB):
        lines = (out / "trials" / name / "result.json").read_text().splitlines()
        assert [json.loads(line)["env_steps"] for line in lines] == [600, 1200, 1800, 2400, 3000]
