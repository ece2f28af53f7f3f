"""Tasks of every family pass the contract that plug-ins inherit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rolecast.core.types import Float, Seeds
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask
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
