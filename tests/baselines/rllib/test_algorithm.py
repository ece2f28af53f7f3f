"""Whole algorithms: counts, resumption, determinism, evaluation, refusals."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.registry import algorithm_config
from rolecast.core.errors import RequestError, RunError
from tests.baselines.conftest import settings_it_has
from tests.envs.adapters.test_faults import Faulty

SPREAD = "pettingzoo:mpe2.simple_spread_v3?N=2&continuous_actions=true"

pytestmark = [
    pytest.mark.usefixtures("ray_cluster"),
    # RLlib, about its own code and about the machine.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def tiny_config(
    name: str = "td3", environment: Any = "gym:Pendulum-v1", runners: int = 0, **options: Any
) -> Any:
    """Of an algorithm of tiny networks that learns from its 40th env step on, 10 steps a round.

    Four runners elsewhere fit on the two CPUs of the cluster.
    """
    return (
        algorithm_config(name)()
        .environment(environment, env_config=options)
        .training(
            **settings_it_has(name, hidden=(8,), critic_hidden=(8,)),
            train_batch_size_per_learner=16,
            random_steps=30,
            num_steps_sampled_before_learning_starts=40,
            updates_per_step=0.25,
            replay_capacity=150,
        )
        .env_runners(
            num_env_runners=runners,
            num_cpus_per_env_runner=0.5,
            num_envs_per_env_runner=2,
            rollout_fragment_length=5,
        )
        .reporting(min_sample_timesteps_per_iteration=60)
        .debugging(seed=3)
    )


def build_tiny(*given: Any, **options: Any) -> Any:
    """Return the algorithm of such a config."""
    return tiny_config(*given, **options).build_algo()


def faulty(fault: str) -> Faulty:
    return Faulty(fault)


def figures(result: dict[str, Any]) -> dict[str, Any]:
    """What must come out the same again."""
    learnt = result.get("learners", {}).get("default_policy", {})
    sampled = result["env_runners"]
    names = ("num_env_steps_sampled_lifetime", "episode_returns")
    losses = {name: float(value) for name, value in learnt.items() if "num_" not in name}
    return losses | {name: sampled.get(name) for name in names}


def train(algorithm: Any, iterations: int) -> list[dict[str, Any]]:
    return [figures(algorithm.train()) for _ in range(iterations)]


def test_updates_follow_env_steps_and_returns_are_told() -> None:
    algorithm = build_tiny()
    result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 60
    # 40 steps are sampled first; a quarter of an update is owed for each from the round that
    # reaches them on: 3 rounds of 10 steps.
    assert result["learners"]["default_policy"]["num_updates_lifetime"] == int(0.25 * 30)
    while algorithm.env_steps < 420:
        result = algorithm.train()
    sampled = result["env_runners"]
    assert sampled["episode_len_mean"] == 200
    assert len(sampled["episode_returns"]) == 2
    assert sampled["episode_return_mean"] == pytest.approx(sum(sampled["episode_returns"]) / 2)
    assert sampled["observed_return_mean"] == sampled["episode_return_mean"]
    algorithm.stop()


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("td3", "gym:Pendulum-v1"),
        ("sac", "gym:Pendulum-v1"),
        ("maddpg", SPREAD),
        ("facmac", SPREAD),
        ("g2anet", SPREAD),
        ("comix", SPREAD),
        ("covdn", SPREAD),
    ],
)
def test_a_restored_algorithm_goes_on_as_the_original_would_have(
    name: str, environment: str, tmp_path: Path
) -> None:
    """In the middle of episodes, of a ring that has come round, and of Adam's moments."""
    build = partial(build_tiny, name, environment)
    original = build()
    train(original, 3)
    original.save_to_path(str(tmp_path / "saved"))
    wanted = train(original, 3)
    restored = build()
    train(restored, 1)
    restored.restore_from_path(str(tmp_path / "saved"))
    assert train(restored, 3) == wanted
    loaded = type(original).from_checkpoint(str(tmp_path / "saved"))
    assert train(loaded, 1) == wanted[:1]
    # And one that is further on can be taken back.
    original.restore_from_path(str(tmp_path / "saved"))
    assert train(original, 1) == wanted[:1]
    assert len({str(each) for each in wanted}) == 3  # there was something to learn
    for algorithm in (original, restored, loaded):
        algorithm.stop()


def test_a_run_restored_without_its_replay_fills_a_new_one_before_it_learns(tmp_path: Path) -> None:
    """As many transitions as before the first update, of which 40 are asked for."""
    config = tiny_config().training(replay_in_checkpoints=False)
    original, restored = config.copy().build_algo(), config.copy().build_algo()
    train(original, 2)
    original.save_to_path(str(tmp_path / "saved"))
    train(restored, 1)
    restored.restore_from_path(str(tmp_path / "saved"))
    assert (restored.env_steps, len(restored.replay)) == (120, 0)
    kept: list[int] = []
    take_updates = restored._update

    def watched(updates: int) -> None:
        kept.append(len(restored.replay))
        take_updates(updates)

    restored._update = watched
    train(restored, 1)
    assert kept == [40, 50, 60]
    for algorithm in (original, restored):
        algorithm.stop()


def test_evaluation_plays_greedy_episodes_beside_training() -> None:
    config = tiny_config()
    config.evaluation(
        evaluation_interval=1,
        evaluation_duration=3,
        evaluation_duration_unit="episodes",
        evaluation_config={"explore": False},
    )
    algorithm = config.build_algo()
    evaluated = algorithm.train()["evaluation"]["env_runners"]
    assert evaluated["num_episodes"] == 3
    assert len(evaluated["episode_returns"]) == 3
    assert algorithm.env_steps == 60
    algorithm.stop()


def test_a_task_that_fails_ends_the_training_in_its_own_words() -> None:
    algorithm = build_tiny(environment=faulty, fault="nan", horizon=5)
    with pytest.raises(RunError, match="showed NaN or infinity in step 3 of the episode of seed"):
        algorithm.train()
    algorithm.stop()


def test_a_task_that_does_not_fit_is_refused_before_anything_runs() -> None:
    with pytest.raises(RequestError, match="td3 acts for one agent"):
        build_tiny(environment=SPREAD)
    with pytest.raises(RequestError, match=r"TD3Config\.tau is 2\.0; expected a number in"):
        algorithm_config("td3")().environment("hopper").training(tau=2.0).build_algo()


def test_evaluation_may_have_runners_of_its_own() -> None:
    """As long as training takes, which has a runner elsewhere too, where it goes on meanwhile."""
    config = tiny_config(runners=1)
    config.evaluation(
        evaluation_interval=1,
        evaluation_num_env_runners=1,
        evaluation_duration="auto",
        evaluation_duration_unit="timesteps",
        evaluation_parallel_to_training=True,
        evaluation_config={"explore": False},
    )
    algorithm = config.build_algo()
    evaluated = algorithm.train()["evaluation"]
    assert algorithm.env_steps == 60
    # Training as short as this may be over before anything of this length has come back.
    patience = time.monotonic() + 120
    while "env_runners" not in evaluated and time.monotonic() < patience:
        evaluated = algorithm.train()["evaluation"]
    assert evaluated["env_runners"]["num_env_steps_sampled"] >= 1
    algorithm.stop()


def test_a_part_of_an_env_step_is_sampled_whole() -> None:
    """RLlib asks for what an evaluation lacks, divided by runners: not always a whole number."""
    algorithm = build_tiny()
    (transitions,) = algorithm.env_runner.sample(num_timesteps=7.5)
    assert len(transitions) == 8
    algorithm.stop()


def test_without_a_seed_two_algorithms_differ_and_with_one_they_do_not() -> None:
    """Of the steps before the first update, which depend on no network: episodes and noise."""

    def sampled(seed: int | None) -> Any:
        algorithm = tiny_config().debugging(seed=seed).build_algo()
        (transitions,) = algorithm.env_runner.sample(num_timesteps=8)
        numbers = algorithm.learner_group.foreach_learner(lambda one: one.generator.initial_seed())
        drawn = algorithm.replay.get_state()["random"]["state"]["state"]
        algorithm.stop()
        return (
            transitions.actions.tolist(),
            transitions.observations.tolist(),
            [answer.get() for answer in numbers],
            drawn,
        )

    first, second = sampled(None), sampled(None)
    assert all(one != other for one, other in zip(first, second, strict=True))
    assert sampled(5) == sampled(5)


def test_an_exploring_evaluation_plays_the_policy_from_its_first_step() -> None:
    """Uniform actions are for the first steps of training alone."""
    config = tiny_config().training(exploration_noise=0.0)
    config.evaluation(evaluation_interval=1, evaluation_duration=1)
    algorithm = config.build_algo()
    runner = algorithm.eval_env_runner_group.local_env_runner
    (transitions,) = runner.sample(num_timesteps=6)
    seen = {"obs": torch.from_numpy(transitions.observations)}
    wanted = runner._net.forward_inference(seen)["actions"].numpy()
    np.testing.assert_allclose(transitions.actions, wanted, rtol=1e-5, atol=1e-6)
    algorithm.stop()
