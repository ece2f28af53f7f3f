"""Plays episodes by the batched contract, with the same compiled policy.

A task that can restart episodes refills its lanes: where one episode ends, the next one begins, so
that no lane waits for the longest episode.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RunError
from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.envs.rewards.task import RAW_REWARD, RewardTask, unwrapped
from rolecast.envs.spec import KnowsPresence
from rolecast.platform.rollout.played import (
    Episodes,
    ObservationSums,
    Played,
    fill_lanes,
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
    if record or not hasattr(episodes.task, "restart"):
        keep = record_share(record, episodes.seeds.size, BATCHED_LANES)
        return joined([_play_once(part, keep) for part in episodes.parts(BATCHED_LANES)])
    ledger = _Ledger(episodes)
    _Lanes(ledger, BATCHED_LANES).play()
    return ledger.played()


def _play_once(episodes: Episodes, keep: int) -> Played:
    """Play episodes that all begin together, and keep observations of some of their steps."""
    ledger, kept = _Ledger(episodes), _Kept(keep * episodes.seeds.size)
    _Lanes(ledger, episodes.seeds.size).play(kept)
    return ledger.played(kept.rows)


class _Ledger:
    """L episodes that wait for a lane, and what those gave that have ended."""

    def __init__(self, episodes: Episodes) -> None:
        self.asked = episodes
        length = episodes.seeds.size
        self._next = 0
        self._lengths = np.zeros(length, dtype=np.int64)
        self._totals: dict[str, Float] = {"": np.zeros(length)}
        self._summed = np.zeros((length, 3, episodes.task.spec.observation_size))

    def take(self, count: int) -> NDArray[np.int64]:
        """Return the next episodes, so many or those that are left."""
        taken = np.arange(self._next, min(self._next + count, self._lengths.size))
        self._next += len(taken)
        return taken

    def enter(
        self, episodes: NDArray[np.int64], lengths: NDArray[np.int64], totals: Mapping[str, Float]
    ) -> None:
        """Write lengths, and the sums of rewards (named "") and metrics, of some episodes."""
        self._lengths[episodes] = lengths
        for name, total in totals.items():
            if name not in self._totals:
                self._totals[name] = np.zeros(self._lengths.size)
            self._totals[name][episodes] = total

    def enter_sums(self, episodes: NDArray[np.int64], summed: Float) -> None:
        """Write sums [K, 3, do] of the observations of some episodes."""
        self._summed[episodes] = summed

    def played(self, rows: list[Float] | None = None) -> Played:
        """Return what all episodes gave, with the observations that were kept."""
        observed = self._totals.pop("")
        rewarded = isinstance(self.asked.task, RewardTask)
        returns = self._totals.pop(RAW_REWARD) if rewarded else observed
        summary = None if self.asked.summed is None else self._summed
        return Played(returns, observed, self._lengths, self._totals, rows or [], summary)


class _Lanes:
    """B lanes; a lane takes the next episode when its own has ended."""

    def __init__(self, ledger: _Ledger, width: int) -> None:
        self._ledger, asked = ledger, ledger.asked
        self._task = asked.task
        self._episode = ledger.take(width)
        self._width = self._episode.size
        self._seeds, self._weights, self._candidate = asked.seeds, asked.weights, asked.candidate
        self._blocks = -(-self._width // LANE_COUNT)
        self._actor = asked.policy.lanes()
        self._sums: ObservationSums | None = None
        if asked.summed is not None:
            spec = asked.task.spec
            shape = (self._width, spec.agents, spec.observation_size)
            self._sums = ObservationSums(shape, asked.summed)
        self._counts = np.zeros(self._width, dtype=np.int64)

    def play(self, kept: "_Kept | None" = None) -> None:
        """Play until all lanes have ended and no episode waits."""
        task, width = self._task, self._width
        if not width:
            return
        spec = task.spec
        lane_weights = to_lanes(self._weights, self._blocks, self._candidate[self._episode])
        seen = lane_array(self._blocks, spec.agents, spec.observation_size)
        actions = lane_array(self._blocks, spec.agents, spec.action_size)
        observations = task.reset(self._seeds[self._episode])
        live = np.ones(width, dtype=bool)
        steps, totals = np.zeros(width, dtype=np.int64), {"": np.zeros(width)}
        while live.any():
            if kept is not None:
                kept.add(observations, live)
            if self._sums is not None:
                self._count(self._sums, observations, live)
            fill_lanes(observations, seen)
            self._actor.act(lane_weights, seen, actions)
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
                begun = self._refill(ended, live, lane_weights)
                if len(begun):
                    rows: Any = task
                    observations = rows.restart(begun, self._seeds[self._episode[begun]])
                    self._require_all(observations)

    def _require_all(self, observations: Float) -> None:
        """Refuse what `restart` returned of some episodes alone.

        Raises:
            RunError: says what was expected.
        """
        spec = self._task.spec
        expected = self._width, spec.agents, spec.observation_size
        if np.shape(observations) != expected:
            raise RunError(
                f"task {spec.id!r} returned observations {np.shape(observations)} from restart; "
                f"expected {expected}, those of all episodes"
            )

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
        """Enter what the episodes of some lanes gave, and clear those lanes."""
        episodes = self._episode[ended]
        gave = {name: total[ended] for name, total in totals.items()}
        self._ledger.enter(episodes, steps[ended], gave)
        steps[ended] = 0
        for total in totals.values():
            total[ended] = 0.0
        if self._sums is not None:
            sums = self._sums.totals
            summed = over_agents(sums[:, ended], self._counts[ended])
            self._ledger.enter_sums(episodes, summed)
            sums[:, ended], self._counts[ended] = 0.0, 0

    def _refill(
        self, ended: NDArray[np.int64], live: NDArray[np.bool_], lane_weights: Float32
    ) -> NDArray[np.int64]:
        """Give lanes their next episodes, while there are any; return the lanes that begin."""
        episodes = self._ledger.take(len(ended))
        begun = ended[: len(episodes)]
        self._episode[begun], live[begun] = episodes, True
        for lane, episode in zip(begun.tolist(), episodes.tolist(), strict=True):
            row = self._weights[self._candidate[episode]]
            lane_weights[lane // LANE_COUNT, :, lane % LANE_COUNT] = row
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
