"""A trial of an algorithm whose process is killed between two points reports what it would have."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rolecast.baselines.methods import METHODS
from rolecast.envs.spec import TaskSpec
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, held_out_seeds
from rolecast.platform.search.records.metrics import METRIC_VOCABULARY
from rolecast.platform.tuning.comparison import compare
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.learner import LearningMethod
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.trial import held_out_score

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

TASK = "gym:Pendulum-v1?horizon=40"
STEPS, POINTS = 360, 3
SMALL: dict[str, Any] = {"size": "small", "critic_hidden": [8], "num_envs_per_env_runner": 2}
SETTINGS: dict[str, dict[str, Any]] = {
    "td3": {**SMALL, "train_batch_size_per_learner": 8, "rollout_fragment_length": 4},
    "ppo": {**SMALL, "train_batch_size_per_learner": 24, "minibatch_size": 12, "num_epochs": 2},
}


def killed_once(name: str, note: str) -> Any:
    """Return an algorithm's factory whose learner dies on its way to the second of three points.

    Made here so that other processes get it whole: they do not have the tests.
    """

    class Killed:
        def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
            METHODS[name].check(task, settings)

        def start(self, task: str, settings: Mapping[str, Any], **others: Any) -> LearningMethod:
            learner: Any = METHODS[name].start(task, settings, **others)
            train = learner.train

            def dying(env_steps: int) -> Any:
                if env_steps == 240 and not Path(note).exists():
                    train(200)
                    Path(note).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return train(env_steps)

            learner.train = dying
            return learner  # type: ignore[no-any-return]  # a method of the project

    return Killed()


@pytest.mark.nightly(
    "tuning/test_comparison.py kills a trial, and the tests of each algorithm restore it exactly"
)
def test_reports_of_a_killed_trial_are_those_of_one_that_was_not(tmp_path: Path) -> None:
    """One algorithm with a replay and one without; to the last bit, but for time."""
    notes = {name: tmp_path / f"{name} was killed" for name in SETTINGS}
    factories = {f"{name}_killed": killed_once(name, str(notes[name])) for name in SETTINGS}
    experiment = Experiment(
        name="killed",
        tasks=(TASK,),
        rewards=("sparse=3",),
        methods=tuple(
            LearnerMethod(algorithm=f"{name}_killed", settings=SETTINGS[name]) for name in SETTINGS
        ),
        seeds=1,
        env_steps=STEPS,
        points=POINTS,
        test_episodes=3,
        final_test_episodes=5,
        retries=1,
    )
    result = compare(experiment, out=tmp_path / "out", methods=factories)
    assert dict(result.failures) == {}
    for name in SETTINGS:
        assert notes[name].exists()
        found = result.rows[result.rows["method"] == f"{name}_killed"]
        wanted = pd.DataFrame(uninterrupted(name))
        columns = list(wanted.columns)
        pd.testing.assert_frame_equal(
            found[columns].reset_index(drop=True), wanted, check_exact=True, check_dtype=False
        )
        assert found[list(METRIC_VOCABULARY)].notna().all(axis=None)


def uninterrupted(name: str) -> list[dict[str, float]]:
    """Return what the trial should report, by the learner itself in this process."""
    learner = METHODS[name].start(
        f"{TASK}&sparse=3", SETTINGS[name], seed=0, workers=0, env_steps=STEPS
    )
    rows = []
    episodes = 0
    for point in range(1, POINTS + 1):
        told = learner.train(STEPS * point // POINTS)
        episodes += len(told.returns)
        count = 5 if point == POINTS else 3
        score, stderr = held_out_score(
            TASK, *learner.policy(), held_out_seeds(DEVELOPMENT_SET, 0, count)
        )
        rows.append(
            {
                "env_steps": told.env_steps,
                "policy_evaluations": episodes,
                "episode_return_mean": sum(told.returns) / len(told.returns),
                "observed_return_mean": sum(told.observed_returns) / len(told.returns),
                "test_return": score,
                "test_return_stderr": float(stderr or 0.0),
            }
        )
    learner.close()
    return rows
