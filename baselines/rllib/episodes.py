"""B running episodes of a task in float32, whichever of its faces steps them."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import LANE_COUNT, Float, Float32, Seeds
from rolecast.envs.rewards.task import RAW_RETURNS, earned_reward
from rolecast.envs.spec import BatchedTask, LaneEpisodes

Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a step of B episodes brought; of one that had ended before, rewards are 0."""

    observations: Float32
    """[B, n, do], after the step."""

    rewards: Float32
    """[B, n], as paid to each agent."""

    paid: Float
    """[B], as paid to the team."""

    earned: Float
    """[B], as earned by the team."""

    done: Flags
    """[B], from this step on."""

    terminated: Flags
    """[B], of those that are done: whether they ended by themselves."""


class Episodes(Protocol):
    """B episodes that run side by side."""

    can_restart: bool
    """Whether some can begin anew while others go on; else all end before the next begin."""

    def begin(self, seeds: Seeds) -> Float32:
        """Begin all B; return observations [B, n, do]."""

    def restart(self, rows: NDArray[np.int64], seeds: Seeds) -> Float32:
        """Begin some anew; return observations [B, n, do] of all."""

    def step(self, actions: Float32) -> Step:
        """Advance all with actions [B, n, da] in [-1, 1]."""

    def state(self) -> Float32:
        """Return the task's states [B, S]; S is 0 where it has none."""


def state_size_of(task: BatchedTask) -> int:
    """Return the size S of a task's state, 0 where it has none or its compiled form is run."""
    return 0 if hasattr(task, "lanes") else int(getattr(task, "state_size", 0))


def episodes_of(task: BatchedTask) -> Episodes:
    """Return the running episodes of a task: compiled where it is."""
    return CompiledEpisodes(task) if hasattr(task, "lanes") else BatchedEpisodes(task)


def in_float32(values: Float) -> Float32:
    """Return a copy in float32; infinite, which a sampler refuses, where that is too narrow."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


class BatchedEpisodes:
    """Episodes by the batched contract."""

    def __init__(self, task: BatchedTask) -> None:
        self._task: Any = task
        self._spec = task.spec
        self._has_state = state_size_of(task) > 0
        self.can_restart = hasattr(task, "restart")
        self._steps = np.zeros(0, dtype=np.int64)

    def begin(self, seeds: Seeds) -> Float32:
        """Begin all B; return observations [B, n, do]."""
        self._steps = np.zeros(seeds.size, dtype=np.int64)
        return in_float32(self._task.reset(seeds))

    def restart(self, rows: NDArray[np.int64], seeds: Seeds) -> Float32:
        """Begin some anew; return observations [B, n, do] of all."""
        self._steps[rows] = 0
        return in_float32(self._task.restart(rows, seeds))

    def step(self, actions: Float32) -> Step:
        """Advance all with actions [B, n, da]."""
        seen, paid, done, metrics = self._task.step(actions.astype(np.float64))
        self._steps += 1
        each = getattr(self._task, "agent_rewards", None)
        if each is None:
            each = np.repeat(paid[:, None], self._spec.agents, axis=1)
        # A task that does not say why an episode ended: before the horizon it was no limit.
        terminated = getattr(self._task, "terminated", self._steps < self._spec.horizon)
        return Step(
            observations=in_float32(seen),
            rewards=in_float32(each),
            paid=paid,
            earned=earned_reward(self._task, paid, metrics),
            done=done,
            terminated=done & terminated,
        )

    def state(self) -> Float32:
        """Return the task's states [B, S]."""
        if not self._has_state:
            return np.zeros((self._steps.size, 0), dtype=np.float32)
        return in_float32(self._task.state())


class CompiledEpisodes:
    """Episodes of a compiled task, in blocks of lanes; all last to the horizon."""

    can_restart = False

    def __init__(self, task: BatchedTask) -> None:
        self._lanes = task.lanes()  # type: ignore[attr-defined]  # the caller has looked
        self._spec = task.spec
        self._running: LaneEpisodes | None = None

    def begin(self, seeds: Seeds) -> Float32:
        """Begin all B; return observations [B, n, do]."""
        self._batch, self._step = seeds.size, 0
        running: LaneEpisodes = self._lanes.start(seeds)
        blocks = len(running.observations)
        self._actions = lane_array(blocks, self._spec.agents, self._spec.action_size)
        self._earned = np.zeros(self._batch)
        self._running = running
        return self._rows(running.observations)

    def restart(self, rows: NDArray[np.int64], seeds: Seeds) -> Float32:
        """Refuse: these episodes end together."""
        raise NotImplementedError(f"episodes of task {self._spec.id!r} begin together")

    def step(self, actions: Float32) -> Step:
        """Advance all with actions [B, n, da]."""
        running, batch, agents = self._running, self._batch, self._spec.agents
        assert running is not None, "begin comes first"
        for block in range(len(self._actions)):
            part = actions[block * LANE_COUNT : (block + 1) * LANE_COUNT]
            self._actions[block, ..., : len(part)] = part.transpose(1, 2, 0)
        running.advance(self._actions)
        self._step += 1
        paid = running.rewards.ravel()[:batch].astype(np.float64)
        raw = getattr(running, RAW_RETURNS, None)
        earned = paid
        if raw is not None:
            total = raw.ravel()[:batch].astype(np.float64)
            earned, self._earned = total - self._earned, total
        return Step(
            observations=self._rows(running.observations),
            rewards=np.repeat(paid.astype(np.float32)[:, None], agents, axis=1),
            paid=paid,
            earned=earned,
            done=np.full(batch, self._step >= self._spec.horizon),
            terminated=np.zeros(batch, dtype=np.bool_),
        )

    def state(self) -> Float32:
        """Return states [B, 0]: compiled tasks tell no more than their observations."""
        return np.zeros((self._batch, 0), dtype=np.float32)

    def _rows(self, lanes: Float32) -> Float32:
        """Return lanes [K, n, do, W] as rows [B, n, do]."""
        rows = lanes.transpose(0, 3, 1, 2).reshape(-1, *lanes.shape[1:3])
        return rows[: self._batch]
