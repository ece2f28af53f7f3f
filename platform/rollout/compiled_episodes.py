"""Plays episodes of a compiled task and policy: blocks of W lanes, float32, to a common horizon.

After the first step there is no Python between the kernels, where these can be called by address.
They release Python's lock, so several threads may play at once.
"""

import numpy as np

from rolecast.core.kernel_address import StepsTogether, has_own_kernels, knows_step, works_on
from rolecast.core.lane_arrays import lane_array
from rolecast.core.types import Float32, KernelCalls
from rolecast.envs.rewards.task import RAW_RETURNS, RewardEpisodes
from rolecast.envs.spec import EpisodeKernels, LaneEpisodes
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
from rolecast.policies.protocol import LanePolicy, PolicyKernels


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
    kept, step, together = [], 0, None

    def take_step() -> None:
        if sums is not None:
            sums.add(episodes.observations)
        actor.act(lane_weights, episodes.observations, actions)
        episodes.advance(actions)

    for pause in (*_steps_to_record(spec.horizon, keep), spec.horizon):
        if step == 0 < pause:
            take_step()  # which compiles the kernels, and refuses other sizes
            step, together = 1, _together(actor, episodes, lane_weights, actions, sums)
        if together is not None:
            together.take(step, pause)
        else:
            for _ in range(step, pause):
                take_step()
        step = pause
        if pause < spec.horizon:
            kept.append(from_lanes(episodes.observations, length))
    observed = from_lanes(episodes.returns, length)
    raw = getattr(episodes, RAW_RETURNS, None)
    returns = observed if raw is None else from_lanes(raw, length)
    lengths = np.full(length, spec.horizon, dtype=np.int64)
    over_lanes = None
    if sums is not None:
        over_lanes = np.stack([from_lanes(part, length) for part in sums.totals])
    summary = None if over_lanes is None else over_agents(over_lanes, spec.agents * lengths)
    return Played(returns, observed, lengths, {}, kept, summary)


def _steps_to_record(horizon: int, keep: int) -> list[int]:
    """Spread `keep` steps over the episode."""
    return sorted({int(step) for step in np.linspace(0, horizon - 1, min(keep, horizon))})


def _together(
    actor: LanePolicy,
    episodes: LaneEpisodes,
    weights: Float32,
    actions: Float32,
    sums: ObservationSums | None,
) -> StepsTogether | None:
    """Return all that a step calls; None: not all of it are kernels that work on these arrays."""
    moving: LaneEpisodes = episodes
    payment: KernelCalls = ()
    if isinstance(episodes, RewardEpisodes):
        moving, payment = episodes.unwrapped, episodes.payment()
    observations, returns = episodes.observations, moving.returns
    if not isinstance(actor, PolicyKernels) or not isinstance(moving, EpisodeKernels):
        return None
    if not has_own_kernels(actor) or not has_own_kernels(moving):
        return None
    acting, advancing = actor.calls(weights, observations, actions), moving.calls(actions)
    if not works_on(acting, (weights, observations, actions)) or knows_step(acting):
        return None
    if not works_on(advancing, (actions, observations, returns)):
        return None
    if sums is not None and not observations.flags.c_contiguous:
        return None
    summing = () if sums is None else sums.calls(observations)
    return StepsTogether.of((*summing, *acting, *advancing, *payment))
