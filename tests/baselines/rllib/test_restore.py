"""What an algorithm plays and learns from after another checkpoint was restored in place."""

from pathlib import Path
from typing import Any

import pytest

from tests.baselines.rllib.test_algorithm import build_tiny, train

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
    """Though it has played later weights, and though it had not played these when saved."""
    config = build_tiny().config.copy(copy_frozen=False)
    config.evaluation(
        evaluation_interval=100, evaluation_duration=1, evaluation_num_env_runners=runners
    )
    algorithm = config.build_algo()
    train(algorithm, 1)
    algorithm.save_to_path(str(tmp_path / "saved"))
    train(algorithm, 1)
    algorithm.evaluate()
    algorithm.restore_from_path(str(tmp_path / "saved"))
    for _ in range(2):
        algorithm.evaluate()
        played = algorithm.eval_env_runner_group.foreach_env_runner(
            acting_weights, local_env_runner=not runners
        )
        assert played == [acting_weights(algorithm.env_runner)]
        train(algorithm, 1)
    algorithm.stop()


def test_a_run_goes_on_with_other_runners(tmp_path: Path) -> None:
    """The only runner and the first of several are the same; a second one begins a new life.

    A checkpoint of one names it 0 here, 1 elsewhere.
    """
    here, one = build_tiny(runners=0), build_tiny(runners=1)
    train(here, 1)
    here.save_to_path(str(tmp_path / "here"))
    wanted = train(here, 1)
    one.restore_from_path(str(tmp_path / "here"))
    one.save_to_path(str(tmp_path / "one"))
    assert train(one, 1) == wanted
    one.stop()
    here.restore_from_path(str(tmp_path / "one"))
    assert train(here, 1) == wanted
    two = build_tiny(runners=2)
    for life in (1, 2):
        two.restore_from_path(str(tmp_path / "one"))
        states = two.env_runner_group.foreach_env_runner(
            lambda runner: runner.sampling_state()["sampler"], local_env_runner=False
        )
        assert [(state["begun"], state["life"]) for state in states] == [(2, 0), (0, life)]
        two.save_to_path(str(tmp_path / "two"))
        here.restore_from_path(str(tmp_path / "two"))
        here.save_to_path(str(tmp_path / "one"))
    for algorithm in (here, two):
        algorithm.stop()
