"""Plays episodes of a compiled task and policy: blocks of W lanes, float32, to a common horizon.

The kernels release Python's lock, so several threads may play at once.
"""

import numpy as np

from rolecast.core.lane_arrays import lane_array
from rolecast.envs.rewards.task import RAW_RETURNS
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
from rolecast.platform.rollout.sizes import COMPILED_LANES


def play_compiled(episodes: Episodes, record: int) -> Played:
    """Play episodes of a task with `lanes`, `COMPILED_LANES` at once.

    Args:
        episodes: to be played.
        record: observations to record, or a few more.
    """
    keep = record_share(record, episodes.seeds.size, COMPILED_LANES)
    return joined([_play_together(part, keep) for part in episodes.parts(COMPILED_LANES)])


def _play_together(asked: Episodes, keep: int) -> Played:
    task, policy, summed = asked.task, asked.policy, asked.summed
    spec, length = task.spec, asked.seeds.size
    episodes = task.lanes().start(asked.seeds)  # type: ignore[attr-defined]  # the caller has looked
    blocks = len(episodes.observations)
    actor, lane_weights = policy.lanes(), to_lanes(asked.weights, blocks, asked.candidate)
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
    summary = None if over_lanes is None else over_agents(over_lanes, spec.agents * lengths)
    return Played(returns, observed, lengths, {}, kept, summary)


def _steps_to_record(horizon: int, keep: int) -> frozenset[int]:
    """Spread `keep` steps over the episode."""
    return frozenset(np.linspace(0, horizon - 1, min(keep, horizon)).astype(int).tolist())
