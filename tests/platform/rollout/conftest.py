"""A task and policies small enough to know what a rollout of them must be."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Float32, Seeds
from rolecast.envs.spec import BatchedTask, TaskSpec


@dataclass(frozen=True)
class Space:
    """The part of a parameter space that a rollout needs."""

    size: int


class Steady:
    """Two weights: the action that every agent takes, whatever it sees."""

    space = Space(2)

    def lanes(self) -> "Steady":
        return self

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        actions[:] = weights[:, None]


class Chase:
    """One weight: how fast every predator runs to the nearest prey that it sees."""

    space = Space(1)

    def lanes(self) -> "Chase":
        return self

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        towards = observations[:, :, 12:14]
        largest = np.maximum(np.abs(towards).max(2, keepdims=True), np.float32(1e-9))
        actions[:] = weights[:, None] * towards / largest


class Diary:
    """A task by the batched contract whose episodes tell which they are and when.

    Agent 0 observes (seed, steps taken), agent 1 the negative; a step pays the sum of the actions;
    an episode of seed s has 1 + s % 5 steps; the metric `late` counts steps after the second.
    """

    def __init__(self, pays: float = 1.0, horizon: int = 5) -> None:
        self.pays, self.horizon = pays, horizon
        self.widths: list[int] = []

    @property
    def spec(self) -> TaskSpec:
        return TaskSpec(
            id="diary", agents=2, observation_size=2, action_size=2, horizon=self.horizon
        )

    def reset(self, seeds: Seeds) -> Float:
        self.widths.append(len(seeds))
        self._seeds, self._steps = seeds.astype(np.float64), 0
        return self._observe()

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        running = self._steps < 1 + self._seeds % 5
        self._steps += 1
        paid = np.where(running, self.pays * actions.sum((1, 2)), 0.0)
        late = np.where(running & (self._steps > 2), 1.0, 0.0)
        return self._observe(), paid, self._steps >= 1 + self._seeds % 5, {"late": late}

    def close(self) -> None:
        self.widths.clear()

    def _observe(self) -> Float:
        told = np.stack([self._seeds, np.full(len(self._seeds), float(self._steps))], axis=-1)
        return np.stack([told, -told], axis=1)


class Reference:
    """The batched float64 face of a task alone, its compiled one hidden."""

    def __init__(self, task: BatchedTask) -> None:
        self.spec = task.spec
        self.reset, self.step, self.close = task.reset, task.step, task.close
