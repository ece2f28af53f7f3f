"""Tasks of every family pass the contract that plug-ins inherit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rolecast.core.types import Float, Seeds
from rolecast.envs.check import check_task
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask, TaskSpec
from rolecast.testing import TaskContract

TASKS = (
    "pred_prey_3",
    "het_pred_prey_6",
    "drone_delivery_1",
    "drone_delivery_6",
    "hopper?horizon=50",
    "ma_ant_4x2?horizon=30",
    "gym:Pendulum-v1?horizon=40",
    "pred_prey_3?sparse=5",
)


@pytest.mark.parametrize("task_id", TASKS)
class TestRegistry(TaskContract):
    """The shipped contract over a task of each family, and over reward settings."""

    @pytest.fixture(autouse=True)
    def case(self, task_id: str) -> None:
        self._task_id = task_id

    def make(self) -> BatchedTask:
        return make_task(self._task_id)


class Leaking:
    """A task that is wrong: what an agent sees depends on how many episodes run beside it."""

    def __init__(self) -> None:
        self._true = make_task("pred_prey_3")
        self.spec = self._true.spec

    def reset(self, seeds: Seeds) -> Float:
        return self._true.reset(seeds) + len(seeds)

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        seen, reward, done, metrics = self._true.step(actions)
        return seen + len(actions), reward, done, metrics

    def close(self) -> None:
        self._true.close()


def test_a_task_whose_episodes_see_each_other_fails_the_contract() -> None:
    class Broken(TaskContract):
        def make(self) -> Any:
            return Leaking()

    Broken().test_the_same_seeds_and_actions_give_the_same_episodes()
    with pytest.raises(AssertionError):
        Broken().test_an_episode_does_not_depend_on_its_neighbours()


class Restarting(Leaking):
    """A task of one number that counts up, and begins some of its episodes anew in some way."""

    def __init__(self, way: str) -> None:
        self.spec = TaskSpec(id="counts", agents=1, observation_size=1, action_size=1, horizon=9)
        self._way = way

    def look(self) -> Float:
        return (self._start + self._steps)[:, None, None]

    def reset(self, seeds: Seeds) -> Float:
        self._start, self._steps = seeds % 101 / 100.0, np.zeros(len(seeds))
        return self.look()

    def restart(self, episodes: NDArray[np.int64], seeds: Seeds) -> Float:
        if self._way != "of another seed":
            self._start[episodes] = seeds % 101 / 100.0
        if self._way == "of all":
            self._steps[:] = 0.0
        if self._way != "goes on":
            self._steps[episodes] = 0.0
        return self.look()[episodes] if self._way == "alone" else self.look()

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        self._steps += 1.0
        done = self._steps >= self.spec.horizon
        return self.look(), np.where(done, 0.0, self._start), done, {}

    def close(self) -> None:
        """Nothing."""


@pytest.mark.parametrize("way", ["right", "alone", "goes on", "of all", "of another seed"])
def test_an_episode_begun_in_the_place_of_another_is_checked(way: str) -> None:
    class Mine(TaskContract):
        def make(self) -> Any:
            return Restarting(way)

    report = check_task(Restarting, way=way)
    assert [found.name for found in report.checks if not found.ok] == ["restart"] * (way != "right")
    if way == "right":
        Mine().test_an_episode_begun_in_the_place_of_another_is_as_fresh()
        return
    with pytest.raises(AssertionError, match="restart is not as a reset"):
        Mine().test_an_episode_begun_in_the_place_of_another_is_as_fresh()
