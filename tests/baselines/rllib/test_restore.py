"""What evaluation plays after another checkpoint was restored in place."""

from pathlib import Path
from typing import Any

import pytest

from tests.baselines.rllib.test_algorithm import tiny_config, train

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    # RLlib, about its own code and about the machine.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def acting_weights(runner: Any) -> list[float]:
    (net,) = runner.module["default_policy"].acting_modules()
    return [number for p in net.parameters() for number in p.detach().flatten().tolist()]


@pytest.mark.parametrize("runners", [0, 1])
def test_evaluation_plays_what_was_restored(runners: int, tmp_path: Path) -> None:
    """Though it has played later weights, and though it had not played these when saved.

    For so many env steps, by runners of its own or here.
    """
    config = tiny_config()
    config.evaluation(
        evaluation_interval=100,
        evaluation_duration=30,
        evaluation_duration_unit="timesteps",
        evaluation_num_env_runners=runners,
    )
    algorithm = config.build_algo()
    train(algorithm, 1)
    algorithm.save_to_path(str(tmp_path / "saved"))
    train(algorithm, 1)
    algorithm.evaluate()
    algorithm.restore_from_path(str(tmp_path / "saved"))
    for _ in range(2):
        evaluated = algorithm.evaluate()
        assert evaluated["env_runners"]["num_env_steps_sampled"] >= 30
        played = algorithm.eval_env_runner_group.foreach_env_runner(
            acting_weights, local_env_runner=not runners
        )
        assert played == [acting_weights(algorithm.env_runner)]
        train(algorithm, 1)
    algorithm.stop()
