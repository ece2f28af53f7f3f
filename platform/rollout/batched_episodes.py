"""Plays episodes by the batched contract, with the same compiled policy.

A task that can restart episodes refills its lanes: where one episode ends, the next one begins, so
that no lane waits for the longest episode.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import LANE_COUNT, Float
from rolecast.envs.rewards.task import RAW_REWARD, RewardTask, unwrapped
from rolecast.envs.spec import KnowsPresence
from rolecast.platform.rollout.played import (
    Episodes,
    ObservationSums,
    Played,
    from_lanes,
    joined,
    over_agents,
    record_share,
    to_lanes,
)
from rolecast.platform.rollout.sizes import BATCHED_LANES


def play_batched(episodes: Episodes, record: int) -> Played:
    """Play episodes, `BATCHED_LANES` at once; arguments as of `play_compiled`.

    Where observations are recorded, which ones depends on the episodes that run together: then
    nothing is refilled.
    """
    if hasattr(episodes.task, "restart") and not record:
        return _Lanes(episodes).play()
    keep = record_share(record, episodes.seeds.size, BATCHED_LANES)
    return joined([_Lanes(part, keep).play() for part in episodes.parts(BATCHED_LANES)])


class _Lanes:
    """L episodes in B lanes; a lane takes the next episode when its own has ended."""

    def __init__(self, episodes: Episodes, keep: int = 0) -> None:
        self._task, self._weights = episodes.task, episodes.weights
        self._candidate, self._seeds, self._keep = episodes.candidate, episodes.seeds, keep
        length, spec = self._seeds.size, self._task.spec
        self._width = min(length, BATCHED_LANES)
        self._blocks = -(-self._width // LANE_COUNT)
        self._episode = np.arange(self._width)
        self._next = self._width
        self._actor = episodes.policy.lanes()
        self._lane_weights = to_lanes(self._weights, self._blocks, self._candidate[: self._width])
        shape = (self._width, spec.agents, spec.observation_size)
        self._sums = None if episodes.summed is None else ObservationSums(shape, episodes.summed)
        self._lengths = np.zeros(length, dtype=np.int64)
        self._totals: dict[str, Float] = {"": np.zeros(length)}
        self._counts = np.zeros(self._width, dtype=np.int64)
        self._summed = np.zeros((length, 3, spec.observation_size))

    def play(self) -> Played:
        """Play all episodes to their ends."""
        task, width = self._task, self._width
        observations = task.reset(self._seeds[:width])
        live = np.ones(width, dtype=bool)
        steps, totals = np.zeros(width, dtype=np.int64), {"": np.zeros(width)}
        spec = task.spec
        actions = np.empty(
            (self._blocks, spec.agents, spec.action_size, LANE_COUNT), dtype=np.float32
        )
        kept = _Kept(self._keep * width)
        while live.any():
            kept.add(observations, live)
            if self._sums is not None:
                self._count(self._sums, observations, live)
            self._actor.act(self._lane_weights, to_lanes(observations, self._blocks), actions)
            steps += live
            observations, reward, done, metrics = task.step(from_lanes(actions, width))
            with np.errstate(over="ignore"):  # what is not finite is refused by its candidate
                totals[""] += reward
            for name, value in metrics.items():
                totals[name] = totals.get(name, 0.0) + value
            ended = np.flatnonzero(live & (done | (steps >= spec.horizon)))
            if len(ended):
                self._finish(ended, steps, totals)
                live[ended] = False
                begun = self._refill(ended, live)
                if len(begun):
                    rows: Any = self._task
                    observations = rows.restart(begun, self._seeds[self._episode[begun]])
        observed = self._totals.pop("")
        summary = None if self._sums is None else self._summed
        rewarded = isinstance(self._task, RewardTask)
        returns = self._totals.pop(RAW_REWARD) if rewarded else observed
        return Played(returns, observed, self._lengths, self._totals, kept.rows, summary)

    def _count(self, sums: ObservationSums, observations: Float, live: NDArray[np.bool_]) -> None:
        """Add the observations of live episodes to their sums; not the zeros of absent agents."""
        counted = np.repeat(live[:, None], self._task.spec.agents, axis=1)
        environment = unwrapped(self._task)
        if isinstance(environment, KnowsPresence):
            counted &= environment.present
        sums.add(observations, counted)
        self._counts += counted.sum(axis=1)

    def _finish(
        self, ended: NDArray[np.int64], steps: NDArray[np.int64], totals: dict[str, Float]
    ) -> None:
        """Keep what the episodes of some lanes gave, and clear those lanes."""
        episodes = self._episode[ended]
        self._lengths[episodes], steps[ended] = steps[ended], 0
        for name, total in totals.items():
            if name not in self._totals:
                self._totals[name] = np.zeros(self._seeds.size)
            self._totals[name][episodes], total[ended] = total[ended], 0.0
        if self._sums is not None:
            sums = self._sums.totals
            self._summed[episodes] = over_agents(sums[:, ended], self._counts[ended])
            sums[:, ended], self._counts[ended] = 0.0, 0

    def _refill(self, ended: NDArray[np.int64], live: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Give lanes their next episodes, while there are any; return the lanes that begin."""
        begun = ended[: self._seeds.size - self._next]
        self._episode[begun] = np.arange(self._next, self._next + len(begun))
        self._next += len(begun)
        live[begun] = True
        for lane in begun.tolist():
            row = self._weights[self._candidate[self._episode[lane]]]
            self._lane_weights[lane // LANE_COUNT, :, lane % LANE_COUNT] = row
        return begun


class _Kept:
    """Observations recorded, some `wanted` or up to twice as many.

    Episodes may end long before the horizon, so every step is kept, and then every second one each
    time that twice as many observations have come together as are wanted.
    """

    def __init__(self, wanted: int) -> None:
        self.rows: list[Float] = []
        self._wanted, self._stride, self._step = wanted, 1, 0

    def add(self, observations: Float, live: NDArray[np.bool_]) -> None:
        """Keep the observations of live episodes in this step, if it is one to keep."""
        if self._wanted and self._step % self._stride == 0:
            self.rows.append(observations[live])
            if sum(map(len, self.rows)) >= 2 * self._wanted:
                self.rows, self._stride = self.rows[::2], 2 * self._stride
        self._step += 1
