"""A comparison of as many trials as one likes, as its trials leave it: made-up reports on disk."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rolecast.core.files import sealed_json
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.record import TrialRecord

SEARCH_NAMES = ("dss_gp_ucb", "cmaes", "local_gp", "random", "snes")
LEARNER_NAMES = ("ddpg", "sac", "td3", "ppo", "maddpg")
TRIAL_POINTS = 20
ROBOT_TASKS = ("hopper", "swimmer", "ant", "walker2d", "ma_hopper_3x1")


def many_trials(out: Path, seeds: int, tasks: tuple[str, ...] = ROBOT_TASKS) -> Experiment:
    """Write the folder of a comparison whose trials have finished, twenty a task and seed.

    Args:
        out: the folder, which does not exist.
        seeds: how many, of 10 methods under 2 rewards.
        tasks: their ids.
    Returns:
        The experiment.
    """
    experiment = Experiment(
        name="large",
        tasks=tasks,
        rewards=("dense", "sparse=5"),
        methods=(
            *(SearchMethod(optimizer=name, policy="mlp") for name in SEARCH_NAMES),
            *(LearnerMethod(algorithm=name, settings={"size": "small"}) for name in LEARNER_NAMES),
        ),
        seeds=seeds,
        env_steps=1000 * TRIAL_POINTS,
        points=TRIAL_POINTS,
    )
    folder, rng = ComparisonFolder(out), np.random.default_rng(0)
    folder.write_experiment(
        {
            "experiment": experiment.to_json(),
            "trials": [vars(plan) for plan in experiment.trials()],
            "versions": {"rolecast": "0.1.0"},
            "command": ["rolecast", "compare", "large"],
        }
    )
    for plan in experiment.trials():
        work = folder.work(plan.trial)
        work.path.mkdir(parents=True)
        rows = [
            report(point, float(rng.normal(100.0, 20.0))) for point in range(1, TRIAL_POINTS + 1)
        ]
        record = TrialRecord(rows=rows, parameters=263, seconds=60.0)
        # As the trial writes it, without waiting for the disk.
        work.record_file.write_bytes(sealed_json(asdict(record)))
    return experiment


def report(point: int, test_return: float) -> dict[str, Any]:
    """Return one report of a trial."""
    return {
        "env_steps": 1000 * point,
        "policy_evaluations": 10 * point,
        "episode_return_mean": 1.5 * point,
        "episode_return_stderr": 0.5,
        "observed_return_mean": 1.5 * point,
        "best_return": 2.0 * point,
        "test_return": test_return,
        "test_return_stderr": 1.0,
        "wall_time_s": 3.0 * point,
        "timesteps_total": 1000 * point,
        "point": point,
        "done": point == TRIAL_POINTS,
        "optimizer/trust_region": 0.1,
    }
