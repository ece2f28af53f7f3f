"""Steps in their order, in a task whose episodes count their own steps and end apart."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rolecast.baselines.ppo.sampler import StepsSampler
from rolecast.baselines.rllib.sampler import Act
from rolecast.core.types import Float, Float32, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec


class Counting:
    """Episode b observes how often it was stepped, ends after 2 + b % 3 steps, and waits."""

    spec = TaskSpec(id="counting", agents=1, observation_size=1, action_size=1, horizon=4)

    def reset(self, seeds: Seeds) -> Float:
        self.steps = np.zeros(seeds.size)
        self.lengths = 2 + np.arange(seeds.size) % 3
        self.acted = np.zeros(0)
        return self.steps[:, None, None].copy()

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        live = self.steps < self.lengths
        self.steps += live
        self.acted = actions[:, 0, 0]
        rewards = np.where(live, actions[:, 0, 0], 0.0)
        return self.steps[:, None, None].copy(), rewards, self.steps >= self.lengths, {}

    def close(self) -> None:
        pass


def drawn(observations: Float32, _: Float32) -> Float32:
    """Draw 3 at the first step, 0.5 later."""
    return np.where(observations == 0.0, 3.0, 0.5).astype(np.float32)


def test_steps_are_kept_in_order_and_those_that_wait_are_marked() -> None:
    samples = StepsSampler(Counting(), 3, (0,)).record(drawn, 6).samples
    np.testing.assert_array_equal(
        samples["live"],
        [[1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 1, 1]],
    )
    np.testing.assert_array_equal(
        samples["ended"],
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 0]],
    )
    seen, after = samples["observations"][..., 0, 0], samples["next_observations"][..., 0, 0]
    np.testing.assert_array_equal(seen[:, 2], [0, 1, 2, 3, 0, 1])
    np.testing.assert_array_equal(after[:, 2], [1, 2, 3, 4, 1, 2])


def test_an_episode_that_ends_before_the_horizon_terminates_and_at_it_is_truncated() -> None:
    samples = StepsSampler(Counting(), 3, (0,)).record(drawn, 4).samples
    np.testing.assert_array_equal(
        samples["terminated"] * samples["live"],
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]],
    )


def test_tasks_are_given_clipped_actions_and_learners_those_that_were_drawn() -> None:
    fragment = StepsSampler(Counting(), 2, (0,)).record(drawn, 2)
    np.testing.assert_array_equal(fragment.samples["actions"][:, 0, 0, 0], [3.0, 0.5])
    np.testing.assert_array_equal(fragment.samples["rewards"][:, 0, 0], [1.0, 0.5])
    assert [episode.earned for episode in fragment.ended] == [1.5]
    assert fragment.env_steps == 4


def test_fragments_go_on_where_the_last_one_stopped() -> None:
    whole = StepsSampler(make_task("pred_prey_3"), 2, (7,)).record(drawn_at_random(), 40).samples
    sampler, act = StepsSampler(make_task("pred_prey_3"), 2, (7,)), drawn_at_random()
    parts = [sampler.record(act, steps).samples for steps in (13, 27)]
    for name, column in whole.items():
        np.testing.assert_array_equal(column, np.concatenate([part[name] for part in parts]))


def drawn_at_random() -> Act:
    rng = np.random.default_rng(0)

    def act(observations: Float32, memory: Float32) -> Float32:
        return rng.normal(size=memory.shape).astype(np.float32)

    return act
