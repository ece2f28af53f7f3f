"""A runner by itself, without an algorithm."""

from typing import Any

import pytest

from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.environments import task_of
from rolecast.baselines.rllib.runner import JointEnvRunner


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
def test_a_runner_that_stops_closes_the_tasks_of_training_and_of_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    closed: list[Any] = []

    def watched(*args: Any) -> Any:
        task: Any = task_of(*args)
        close = task.close

        def noted() -> None:
            closed.append(task)
            close()

        task.close = noted
        made.append(task)
        return task

    monkeypatch.setattr("rolecast.baselines.rllib.runner.task_of", watched)
    config = algorithm_config("td3")().environment("gym:Pendulum-v1?horizon=5")
    one = JointEnvRunner(config=config, worker_index=0)
    one.sample(num_episodes=1)
    one.stop()
    assert len(made) == 2
    assert all(task in closed for task in made)
