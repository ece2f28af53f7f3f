"""A runner by itself, without an algorithm."""

import time
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.environments import task_of
from rolecast.baselines.rllib.rounds import _revive
from rolecast.baselines.rllib.runner import JointEnvRunner
from rolecast.core.errors import RunError
from rolecast.core.patience import Patience
from rolecast.envs.registry import make_task
from rolecast.platform.tuning.trial import held_out_score
from rolecast.policies.registry import make_policy
from tests.platform.search.test_hanging_task import Slow


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


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
def test_a_policy_knows_the_action_size_of_each_agent() -> None:
    config = algorithm_config("masac")().environment("python:tests.envs.adapters.test_task:Unequal")
    runner = JointEnvRunner(config=config, worker_index=0)
    assert runner.module[DEFAULT_MODULE_ID].own_sizes == (4, 1)
    runner.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
def test_a_runner_that_came_back_has_other_episodes_and_noise() -> None:
    """Uniform actions, as of the first steps, do not depend on what is observed."""
    config = algorithm_config("td3")().environment("gym:Pendulum-v1").debugging(seed=1)

    def played(life: int) -> tuple[str, str]:
        runner = JointEnvRunner(config=config, worker_index=1)
        if life:
            _revive(runner, life, state={})
        transitions = runner.collect(3, env_steps=0, stride=1).transitions
        runner.stop()
        return str(transitions.observations), str(transitions.actions)

    lives = [played(life) for life in (0, 1, 2)]
    assert [len(set(parts)) for parts in zip(*lives, strict=True)] == [3, 3]
    assert played(1) == lives[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
def test_training_episodes_are_greedy_without_exploration() -> None:
    config = algorithm_config("td3")().environment("gym:Pendulum-v1").env_runners(explore=False)
    runner = JointEnvRunner(config=config, worker_index=0)
    transitions = runner.collect(6, env_steps=0, stride=1).transitions
    seen = {"obs": torch.from_numpy(transitions.observations)}
    wanted = runner.module[DEFAULT_MODULE_ID].forward_inference(seen)["actions"].numpy()
    runner.stop()
    np.testing.assert_allclose(transitions.actions, wanted, rtol=1e-5, atol=1e-6)


class Stuck(Slow):
    """Hangs in its third step."""

    def step(self, action: Any) -> Any:
        if self.taken == 2:
            time.sleep(600.0)
        return super().step(action)


STUCK_TASK = "python:tests.baselines.rllib.test_runner:Stuck"
ENDED = "has not answered for 0.3 s in step 3 of the episode of seed"


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")
@pytest.mark.parametrize("wanted", [{"num_timesteps": 5}, {"num_episodes": 1}])
def test_a_step_that_hangs_is_ended(
    monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
) -> None:
    monkeypatch.setattr("rolecast.baselines.rllib.runner.Patience", partial(Patience, 0.3))
    config = algorithm_config("td3")().environment(STUCK_TASK)
    runner = JointEnvRunner(config=config, worker_index=0)
    with pytest.raises(RunError, match=ENDED):
        runner.sample(**wanted)
    runner.stop()


def test_a_held_out_step_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rolecast.platform.tuning.trial.Patience", partial(Patience, 0.3))
    policy = make_policy("linear", make_task(STUCK_TASK))
    weights = policy.space.centre[None]
    with pytest.raises(RunError, match=ENDED):
        held_out_score(STUCK_TASK, policy, weights, np.arange(2, dtype=np.uint64))
