"""One algorithm as a comparison drives it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.baselines.methods import METHODS
from rolecast.baselines.ppo.config import PPOConfig
from rolecast.baselines.rllib.trial import _validate
from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    # RLlib, about its own code and about the machine.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

TASK = "gym:Pendulum-v1?sparse=4&horizon=42"
SETTINGS: dict[str, Any] = {
    "size": "small",
    "critic_hidden": (8,),
    "train_batch_size_per_learner": 8,
    "rollout_fragment_length": 6,
    "replay_capacity": 500,
}


ON_POLICY: dict[str, Any] = {
    "size": "small",
    "critic_hidden": (8,),
    "train_batch_size_per_learner": 6,
    "minibatch_size": 6,
    "num_epochs": 2,
    "num_envs_per_env_runner": 1,
}


def start(name: str = "td3") -> Any:
    settings = ON_POLICY if name == "ppo" else SETTINGS
    return METHODS[name].start(TASK, settings, seed=1, workers=0, env_steps=400)


@pytest.mark.parametrize("name", ["td3", "ppo"])
def test_a_trial_goes_to_its_points_and_is_resumed_from_its_folder(
    name: str, tmp_path: Path
) -> None:
    trial = start(name)
    assert trial.parameters == 3 * 10 + 10 + 10 * 10 + 10 + 10 + 1
    assert len(trial.train(45).returns) == 1
    told = trial.train(130)
    assert 130 <= told.env_steps < 136
    assert len(told.returns) == len(told.observed_returns) == 2
    # All rewards are negative, and those of the last two steps of 42 are not paid.
    assert all(e < p < 0.0 for e, p in zip(told.returns, told.observed_returns, strict=True))
    trial.save(tmp_path)
    kept = METHODS[name].learnt(tmp_path, {})
    np.testing.assert_array_equal(kept.space.centre, trial.policy()[1][0])
    wanted = trial.train(200)
    assert 200 <= wanted.env_steps < 206
    assert trial.train(150) == type(wanted)(env_steps=wanted.env_steps)
    resumed = start(name)
    resumed.restore(tmp_path)
    assert resumed.train(200) == wanted
    (policy, weights), (again, same) = trial.policy(), resumed.policy()
    np.testing.assert_array_equal(weights, same)
    assert policy.space.size == trial.parameters
    one, other = (rollout(make_task(TASK), p, weights, [5, 6]).returns for p in (policy, again))
    np.testing.assert_array_equal(one, other)
    for learner in (trial, resumed):
        learner.close()


def test_a_short_budget_shortens_the_warm_up_that_nobody_asked_for() -> None:
    """TD3 takes 1,000 uniform steps; a tenth of 400 are 40."""
    trial = start()
    config = trial._algorithm.config
    assert config.num_steps_sampled_before_learning_starts == config.random_steps == 40
    trial.close()


@pytest.mark.parametrize(("given", "steps"), [({}, 200), ({"epsilon_steps": 350}, 350)])
def test_a_short_budget_shortens_exploration_that_nobody_asked_for(
    given: dict[str, Any], steps: int
) -> None:
    trial: Any = METHODS["iql"].start(
        "gym:CartPole-v1", {"size": "small", **given}, seed=1, workers=0, env_steps=400
    )
    assert trial._algorithm.config.epsilon_steps == steps
    assert trial._algorithm.get_module().exploration_rate(steps) == 0.05
    trial.close()


@pytest.mark.parametrize("name", ["td3", "ppo"])
def test_a_trial_ends_at_its_budget(name: str) -> None:
    """400 steps are no whole number of rounds; the last one is cut."""
    settings = ON_POLICY | {"train_batch_size_per_learner": 150} if name == "ppo" else SETTINGS
    settings = settings | ({"rollout_fragment_length": 150} if name == "td3" else {})
    trial = METHODS[name].start(TASK, settings, seed=1, workers=0, env_steps=400)
    assert trial.train(160).env_steps == 300  # points on the way cut nothing
    assert trial.train(400).env_steps == 400
    trial.close()


def test_a_last_batch_below_a_minibatch_is_not_learned_from() -> None:
    settings = ON_POLICY | {"train_batch_size_per_learner": 198, "minibatch_size": 6}
    trial = METHODS["ppo"].start(TASK, settings, seed=1, workers=0, env_steps=400)
    trial.train(396)
    _, before = trial.policy()
    assert trial.train(400).env_steps == 400
    np.testing.assert_array_equal(trial.policy()[1], before)
    trial.close()


@pytest.mark.parametrize(
    ("settings", "workers", "sentence"),
    [
        ({"num_envs_per_env_runner": 9}, 0, "is 9 env steps .* at most the budget, 8$"),
        ({"num_envs_per_env_runner": 4}, 3, "is 12 env steps .* env runners: 3"),
    ],
)
def test_a_trial_that_cannot_keep_its_budget_is_refused(
    settings: dict[str, Any], workers: int, sentence: str
) -> None:
    with pytest.raises(RequestError, match=sentence):
        METHODS["ppo"].start(TASK, ON_POLICY | settings, seed=1, workers=workers, env_steps=8)


def test_what_rllib_refuses_is_told_by_its_first_sentence() -> None:
    config = PPOConfig().environment(TASK).env_runners(rollout_fragment_length=100)
    with pytest.raises(RequestError, match=r"^Your .*_length=100\)$"):
        _validate(config)
