"""PPO as an RLlib user meets it: built, trained, saved and restored."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray.rllib.algorithms.ppo import ppo
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

from rolecast.baselines.ppo.config import MAPPOConfig, PPOConfig, side_by_side
from rolecast.baselines.ppo.sampler import PPOEnvRunner
from tests.baselines.ppo.test_sampler import Counting

pytestmark = pytest.mark.usefixtures("ray_cluster")


def config(kind: type[PPOConfig] = PPOConfig, seed: int = 3, runners: int = 0) -> Any:
    return (
        kind()
        .environment("pred_prey_3", env_config={"sparse": 5})
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=4)
        .training(size="small", train_batch_size_per_learner=120, minibatch_size=60, num_epochs=2)
        .debugging(seed=seed)
    )


def weights(algorithm: Any) -> np.ndarray[Any, Any]:
    state = algorithm.get_module().get_state()
    return np.concatenate([np.ravel(state[name]) for name in sorted(state)])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Train two rounds, save, train one more; return the folder, weights and results."""
    folder = tmp_path_factory.mktemp("ppo") / "checkpoint"
    algorithm: Any = config().build_algo()
    assert issubclass(type(algorithm), ppo.PPO)
    results = [algorithm.train() for _ in range(2)]
    algorithm.save_to_path(folder)
    results.append(algorithm.train())
    final = weights(algorithm)
    algorithm.stop()
    return folder, final, results


def test_results_have_the_names_that_rllib_gives_them(trained: Any) -> None:
    _, _, results = trained
    runners = [result["env_runners"] for result in results]
    assert [each["num_env_steps_sampled_lifetime"] for each in runners] == [120, 240, 360]
    assert {"episode_return_mean", "observed_return_mean", "episode_len_mean"} <= runners[-1].keys()
    assert {"policy_loss", "vf_loss", "entropy"} <= results[-1]["learners"]["default_policy"].keys()


@pytest.mark.parametrize("fragment", ["auto", 5])
def test_the_same_seed_gives_the_same_run_however_rllib_cuts_batches(
    trained: Any, fragment: str | int
) -> None:
    algorithm = config().env_runners(rollout_fragment_length=fragment).build_algo()
    for _ in range(3):
        algorithm.train()
    again = weights(algorithm)
    algorithm.stop()
    np.testing.assert_array_equal(again, trained[1])


def test_a_restored_algorithm_goes_on_as_the_original_did(trained: Any, tmp_path: Path) -> None:
    folder, final, _ = trained
    algorithm: Any = ppo.PPO.from_checkpoint(folder)
    result = algorithm.train()
    again = weights(algorithm)
    algorithm.stop()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 360
    np.testing.assert_array_equal(again, final)


def test_two_runners_elsewhere_do_what_they_would_do_here(tmp_path: Path) -> None:
    """Each has half of the batch, the first the very one that a runner in this process has.

    And, taken back to its start, the algorithm does it again.
    """
    settings = config(MAPPOConfig, runners=2).env_runners(num_envs_per_env_runner=2)
    algorithm: Any = settings.build_algo()
    algorithm.save_to_path(tmp_path / "start")
    before = weights(algorithm)
    result = algorithm.train()
    after = weights(algorithm)
    algorithm.restore_from_path(tmp_path / "start")
    algorithm.train()
    again = weights(algorithm)
    algorithm.restore_from_path(tmp_path / "start")
    np.testing.assert_array_equal(weights(algorithm), before)
    runners = [PPOEnvRunner(config=algorithm.config, worker_index=index) for index in (0, 1, 2)]
    for runner in runners:
        runner.set_state({"rl_module": algorithm.env_runner.module.get_state()})
    alone, *fragments = [runner.collect(30, 0, 4) for runner in runners]
    for name, rows in alone.samples.items():
        np.testing.assert_array_equal(rows, fragments[0].samples[name])
    samples = side_by_side(fragments)
    assert samples["rewards"].shape == (30, 4, 3)
    told = algorithm.learner_group.foreach_learner(
        lambda learner: learner.learn(samples, {NUM_ENV_STEPS_SAMPLED_LIFETIME: 120})
    )
    assert [answer.ok for answer in told] == [True]
    algorithm.send_weights()
    here = weights(algorithm)
    for runner in runners:
        runner.stop()
    algorithm.stop()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 120
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(again, after)
    np.testing.assert_array_equal(here, after)


def test_evaluation_scores_whole_episodes() -> None:
    algorithm = (
        config()
        .evaluation(evaluation_interval=1, evaluation_duration=3, evaluation_num_env_runners=0)
        .build_algo()
    )
    result = algorithm.train()
    algorithm.stop()
    assert result["evaluation"]["env_runners"]["num_episodes"] == 3


def test_a_round_of_less_than_a_minibatch_is_learned_from() -> None:
    """Of 4 steps in each of 3 episodes, which wait for each other, 9 are live."""
    algorithm: Any = (
        PPOConfig()
        .environment(Counting)
        .env_runners(num_envs_per_env_runner=3)
        .training(size="small", train_batch_size_per_learner=12, minibatch_size=12, num_epochs=1)
        .debugging(seed=3)
        .build_algo()
    )
    before = weights(algorithm)
    algorithm.train()
    assert algorithm.env_steps == 9
    assert not np.array_equal(weights(algorithm), before)
    algorithm.stop()
