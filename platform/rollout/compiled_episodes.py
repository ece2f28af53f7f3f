"""Plays episodes of a compiled task and policy: blocks of W lanes, float32, to a common horizon.

The kernels release Python's lock, so several threads may play at once.
"""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import Float, Seeds
from rolecast.envs.rewards.task import RAW_RETURNS
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.played import (
    ObservationSums,
    Played,
    from_lanes,
    joined,
    over_agents,
    record_share,
    to_lanes,
)
from rolecast.platform.rollout.sizes import COMPILED_LANES
from rolecast.policies.protocol import Policy


def play_compiled(
    task: BatchedTask,
    policy: Policy,
    weights: Float,
    candidate: NDArray[np.int64],
    seeds: Seeds,
    record: int,
    summed: float | None,
) -> Played:
    """Play L episodes, `COMPILED_LANES` at once.

    Args:
        task: with `lanes`.
        policy: of its sizes.
        weights: [P, D].
        candidate: [L], row of the weights with which each episode is played.
        seeds: [L].
        record: observations to record, or a few more.
        summed: sum the observations, clipped to this bound; None: do not.
    """
    keep = record_share(record, seeds.size, COMPILED_LANES)
    parts = [slice(start, start + COMPILED_LANES) for start in range(0, seeds.size, COMPILED_LANES)]
    return joined(
        [
            _play_together(task, policy, weights, candidate[part], seeds[part], keep, summed)
            for part in parts
        ]
    )


def _play_together(
    task: BatchedTask,
    policy: Policy,
    weights: Float,
    candidate: NDArray[np.int64],
    seeds: Seeds,
    keep: int,
    summed: float | None,
) -> Played:
    spec, length = task.spec, seeds.size
    episodes = task.lanes().start(seeds)  # type: ignore[attr-defined]  # the caller has looked
    blocks = len(episodes.observations)
    actor, lane_weights = policy.lanes(), to_lanes(weights, blocks, candidate)
    actions = lane_array(blocks, spec.agents, spec.action_size)
    sums = None if summed is None else ObservationSums(episodes.observations.shape, summed)
    kept, steps = [], _steps_to_record(spec.horizon, keep)
    for step in range(spec.horizon):
        if step in steps:
            kept.append(from_lanes(episodes.observations, length))
        if sums is not None:
            sums.add(episodes.observations)
        actor.act(lane_weights, episodes.observations, actions)
        episodes.advance(actions)
    observed = from_lanes(episodes.returns, length)
    raw = getattr(episodes, RAW_RETURNS, None)
    returns = observed if raw is None else from_lanes(raw, length)
    lengths = np.full(length, spec.horizon, dtype=np.int64)
    over_lanes = None
    if sums is not None:
        over_lanes = np.stack([from_lanes(part, length) for part in sums.totals])
    summary = None if over_lanes is None else over_agents(over_lanes)
    return Played(returns, observed, lengths, {}, kept, summary)


def _steps_to_record(horizon: int, keep: int) -> frozenset[int]:
    """Spread `keep` steps over the episode."""
    return frozenset(np.linspace(0, horizon - 1, min(keep, horizon)).astype(int).tolist())
