"""Contract of a batched task as a test class: inherit it, define `make`, let pytest collect it.

Example:
    class TestMine(TaskContract):
        def make(self) -> BatchedTask:
            return make_task("mine:arena")
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float, Seeds
from rolecast.envs.spec import BatchedTask
from rolecast.envs.trajectory import random_trajectory, restarts_afresh

FIRST_SEEDS = np.array([11, 2**63 + 1, 33, 11], dtype=np.uint64)
"""Seeds of a batch: one that no signed integer of 64 bits holds, and the first again."""

CHECKED_STEPS = 60
"""Steps of each episode that the contract looks at."""


class TaskContract:
    """Tests that every task passes: shapes, seeds, and episodes apart from their neighbours."""

    def make(self) -> BatchedTask:
        """Return a fresh task.

        Raises:
            NotImplementedError: the inheriting class does not define it.
        """
        raise NotImplementedError("define make() in the class that inherits TaskContract")

    def test_observations_rewards_and_ends_have_their_shapes(self) -> None:
        task = self.make()
        spec, batch = task.spec, len(FIRST_SEEDS)
        assert min(spec.agents, spec.observation_size, spec.action_size, spec.horizon) >= 1
        first = task.reset(FIRST_SEEDS)
        assert first.shape == (batch, spec.agents, spec.observation_size)
        seen, reward, done, _ = task.step(drawn_actions(task, FIRST_SEEDS, 0))
        assert seen.shape == first.shape
        assert reward.shape == done.shape == (batch,)
        assert done.dtype == np.bool_
        assert np.isfinite(first).all()
        assert np.isfinite(seen).all()
        task.close()

    def test_the_same_seeds_and_actions_give_the_same_episodes(self) -> None:
        task = self.make()
        first, again = played(task, FIRST_SEEDS), played(task, FIRST_SEEDS)
        other = self.make()
        for same in (again, played(other, FIRST_SEEDS)):
            require_same_episodes(same, first)
        require_same_episodes(first.episode(0), first.episode(len(FIRST_SEEDS) - 1))
        task.close()
        other.close()

    def test_another_seed_begins_another_episode(self) -> None:
        task = self.make()
        first = np.array(task.reset(FIRST_SEEDS))
        assert not np.array_equal(first[0], first[1]) or not np.array_equal(first[1], first[2])
        task.close()

    def test_an_episode_does_not_depend_on_its_neighbours(self) -> None:
        task = self.make()
        together = played(task, FIRST_SEEDS)
        for place in range(len(FIRST_SEEDS)):
            alone = played(task, FIRST_SEEDS[place : place + 1])
            require_same_episodes(alone, together.episode(place, len(alone.rewards)))
        task.close()

    def test_an_episode_begun_in_the_place_of_another_is_as_fresh(self) -> None:
        """Of a task with `restart`, by which episodes of unequal length share their places."""
        task = self.make()
        if hasattr(task, "restart"):
            first = random_trajectory(task, FIRST_SEEDS)
            assert restarts_afresh(task, FIRST_SEEDS, first), "restart is not as a reset"
        task.close()

    def test_actions_outside_their_range_are_clipped(self) -> None:
        task = self.make()
        shape = (len(FIRST_SEEDS), task.spec.agents, task.spec.action_size)
        for end in (1.0, -1.0):
            task.reset(FIRST_SEEDS)
            tame = [np.array(part) for part in task.step(np.full(shape, end))[:2]]
            task.reset(FIRST_SEEDS)
            wild = task.step(np.full(shape, 7.0 * end))[:2]
            for one, other in zip(tame, wild, strict=True):
                np.testing.assert_array_equal(one, other)
        task.close()

    def test_episodes_end_by_the_horizon_and_pay_nothing_afterwards(self) -> None:
        task = self.make()
        task.reset(FIRST_SEEDS)
        ended = np.zeros(len(FIRST_SEEDS), dtype=bool)
        for step in range(task.spec.horizon):
            _, reward, done, _ = task.step(drawn_actions(task, FIRST_SEEDS, step))
            assert (reward[ended] == 0.0).all()
            assert (done | ~ended).all(), "an episode that has ended goes on"
            ended = np.array(done)
            if ended.all():
                break
        assert ended.all()
        task.close()


def drawn_actions(task: BatchedTask, seeds: Seeds, step: int) -> Float:
    """Return random actions [B, n, da] that depend on each episode's seed and step alone."""
    shape = (task.spec.agents, task.spec.action_size)
    return np.stack(
        [np.random.default_rng([int(seed), step]).uniform(-1.0, 1.0, shape) for seed in seeds]
    )


@dataclass(frozen=True)
class PlayedEpisodes:
    """What B episodes of T steps showed."""

    observations: Float
    """[T + 1, B, n, do]."""

    rewards: Float
    """[T, B]."""

    metrics: Mapping[str, Float]
    """Name to [T, B], 0 in a step that did not tell it."""

    def episode(self, place: int, steps: int | None = None) -> "PlayedEpisodes":
        """Return one of the episodes, or the first of its steps."""
        of, length = slice(place, place + 1), len(self.rewards) if steps is None else steps
        return PlayedEpisodes(
            self.observations[: length + 1, of],
            self.rewards[:length, of],
            {name: values[:length, of] for name, values in self.metrics.items()},
        )


def played(task: BatchedTask, seeds: Seeds) -> PlayedEpisodes:
    """Play episodes of random actions."""
    observations, rewards, told = [np.array(task.reset(seeds))], [], []
    for step in range(min(task.spec.horizon, CHECKED_STEPS)):
        seen, reward, done, metrics = task.step(drawn_actions(task, seeds, step))
        observations.append(np.array(seen))
        rewards.append(np.array(reward))
        told.append({name: np.array(values) for name, values in metrics.items()})
        if done.all():
            break
    nothing = np.zeros(len(seeds))
    names = dict.fromkeys(name for metrics in told for name in metrics)
    columns = {name: np.array([each.get(name, nothing) for each in told]) for name in names}
    return PlayedEpisodes(np.array(observations), np.array(rewards), columns)


def require_same_episodes(one: PlayedEpisodes, other: PlayedEpisodes) -> None:
    """Fail unless episodes are equal to the last bit; a metric that is not told is 0."""
    np.testing.assert_array_equal(one.observations, other.observations)
    np.testing.assert_array_equal(one.rewards, other.rewards)
    nothing = np.zeros_like(one.rewards)
    for name in one.metrics.keys() | other.metrics.keys():
        mine, theirs = (each.metrics.get(name, nothing) for each in (one, other))
        np.testing.assert_array_equal(mine, theirs, err_msg=f"metric {name!r}")
