"""What a chunk of episodes gave, and what the ways to play them share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled_exactly
from rolecast.core.kernel_address import call_all
from rolecast.core.lane_arrays import gather_lanes, gather_rows, lane_array, spread_rows
from rolecast.core.types import LANE_COUNT, Float, Float32, KernelCalls, Seeds
from rolecast.envs.spec import BatchedTask
from rolecast.policies.protocol import Policy


@dataclass(frozen=True, kw_only=True, eq=False)
class Episodes:
    """L episodes that are to be played."""

    task: BatchedTask
    """The task."""

    policy: Policy
    """The policy, of the task's sizes."""

    weights: Float
    """[P, D]."""

    candidate: NDArray[np.int64]
    """[L], row of the weights with which each episode is played."""

    seeds: Seeds
    """[L]."""

    summed: float | None
    """Bound to which observations are clipped and summed; None: they are not summed."""

    def parts(self, size: int) -> "list[Episodes]":
        """Return the episodes in parts of this size, in their order."""
        cuts = [slice(start, start + size) for start in range(0, self.seeds.size, size)]
        return [replace(self, candidate=self.candidate[cut], seeds=self.seeds[cut]) for cut in cuts]


@dataclass(frozen=True, eq=False)
class Played:
    """L episodes that were played."""

    returns: Float
    """[L], as earned."""

    observed: Float
    """[L], as paid; the same array where the task has no reward settings."""

    lengths: NDArray[np.int64]
    """[L], steps."""

    metrics: Mapping[str, Float]
    """Name to [L], summed over the episode."""

    observations: list[Float]
    """Of [S, n, do] each, the observations recorded."""

    sums: Float | None
    """[L, 3, do], number of observations, their sums and those of their squares, where they were
    asked for."""


def joined(parts: list[Played]) -> Played:
    """Return the episodes of all parts, in their order."""
    if len(parts) == 1:
        return parts[0]
    returns = np.concatenate([part.returns for part in parts])
    same = all(part.observed is part.returns for part in parts)
    summed = [part.sums for part in parts if part.sums is not None]
    return Played(
        returns=returns,
        observed=returns if same else np.concatenate([part.observed for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
        metrics={
            name: np.concatenate(
                [part.metrics.get(name, np.zeros(part.returns.size)) for part in parts]
            )
            for name in dict.fromkeys(name for part in parts for name in part.metrics)
        },
        observations=[rows for part in parts for rows in part.observations],
        sums=np.concatenate(summed) if summed else None,
    )


def record_share(record: int, lanes: int, at_once: int) -> int:
    """Return how many steps to keep of each part, so that `record` observations come out."""
    return -(-record // max(min(lanes, at_once), 1)) if record else 0


class ObservationSums:
    """Sums of observations and of their squares, of each number alone, in float64.

    Entry by entry, so that an episode's sums do not depend on the episodes beside it.
    """

    def __init__(self, shape: tuple[int, ...], bound: float) -> None:
        self._bound, self.totals = bound, np.zeros((2, *shape))
        self._all = np.ones(shape[0], dtype=bool)

    def add(self, observations: Float | Float32, counted: NDArray[np.bool_] | None = None) -> None:
        """Add observations; of those that count, [B] or [B, n], where they are [B, n, do]."""
        if observations.dtype.kind != "f":  # bounds of integers wrap and are rounded
            observations = observations.astype(np.float64)
        call_all(self.calls(observations, counted))

    def calls(
        self, observations: Float | Float32, counted: NDArray[np.bool_] | None = None
    ) -> KernelCalls:
        """Return what `add` calls; observations are floats."""
        counts = self._all if counted is None else counted.ravel()
        arguments = (
            observations.reshape(counts.size, -1),
            observations.dtype.type(self._bound),
            counts,
            self.totals.reshape(2, counts.size, -1),
        )
        return ((add_clipped, arguments),)


@compiled_exactly
def add_clipped(
    rows: Float | Float32, bound: np.floating[Any], live: NDArray[np.bool_], totals: Float
) -> None:
    """Add live rows [R, D], clipped to a bound, and their squares to totals [2, R, D]."""
    for row in range(rows.shape[0]):
        if live[row]:
            for d in range(rows.shape[1]):
                number = rows[row, d]
                number = bound if number > bound else -bound if number < -bound else number
                clipped = np.float64(number)
                totals[0, row, d] += clipped
                totals[1, row, d] += clipped * clipped


def over_agents(sums: Float, counts: NDArray[np.int64]) -> Float:
    """Return counts and sums [L, 3, do] over the agents, in their order.

    Args:
        sums: [2, L, n, do].
        counts: [L], observations of all agents.
    """
    _, length, agents, size = sums.shape
    total = np.zeros((3, length, size))
    total[0] = counts[:, None]
    for agent in range(agents):
        total[1:] += sums[:, :, agent]
    return np.asarray(total.swapaxes(0, 1))


def to_lanes(rows: Float, blocks: int, held: NDArray[np.int64] | None = None) -> Float32:
    """Lay rows [P, ...] out as [K, ..., W].

    Lane l holds row held[l], or row l by default; lanes past the last one repeat it.
    """
    lanes = lane_array(blocks, *rows.shape[1:])
    if held is None:
        fill_lanes(rows, lanes)
    else:
        flat, spread = rows.reshape(len(rows), -1), lanes.reshape(blocks, -1, LANE_COUNT)
        gather_lanes(flat.astype(np.float32), in_blocks(held, blocks), spread)
    return lanes


def fill_lanes(rows: Float, lanes: Float32) -> None:
    """Write row l of rows [L, ...] to lane l of lanes [K, ..., W]; others repeat the last."""
    spread_rows(rows.reshape(len(rows), -1), lanes.reshape(len(lanes), -1, LANE_COUNT))


def in_blocks(rows: NDArray[np.int64], blocks: int) -> NDArray[np.int64]:
    """Lay out what each of L lanes holds as [K, W]; lanes past the last one repeat it."""
    lanes = np.minimum(np.arange(blocks * LANE_COUNT), len(rows) - 1)
    return rows[lanes].reshape(blocks, LANE_COUNT)


def from_lanes(lanes: Float32, length: int) -> Float:
    """Undo `to_lanes`: [K, ..., W] to rows [L, ...]."""
    shape = lanes.shape[1:-1]
    rows = np.empty((length, math.prod(shape)))
    gather_rows(lanes.reshape(len(lanes), -1, LANE_COUNT), rows)
    return rows.reshape(length, *shape)
