"""PPO as an RLlib user meets it: built, trained, saved and restored."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray.rllib.algorithms.ppo import ppo

from rolecast.baselines.ppo.config import MAPPOConfig, PPOConfig

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


def test_the_same_seed_gives_the_same_run(trained: Any) -> None:
    algorithm = config().build_algo()
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


def test_runners_elsewhere_sample_the_whole_batch() -> None:
    algorithm = config(MAPPOConfig, runners=1).build_algo()
    before = weights(algorithm)
    result = algorithm.train()
    after = weights(algorithm)
    algorithm.stop()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 120
    assert not np.array_equal(before, after)


def test_evaluation_scores_whole_episodes() -> None:
    algorithm = (
        config()
        .evaluation(evaluation_interval=1, evaluation_duration=3, evaluation_num_env_runners=0)
        .build_algo()
    )
    result = algorithm.train()
    algorithm.stop()
    assert result["evaluation"]["env_runners"]["num_episodes"] == 3
