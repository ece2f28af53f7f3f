"""Episodes of a body and a compiled policy in one compiled call, without Python between steps."""

from typing import Any, Final

import numpy as np

from rolecast.core.compiled import compiled_exactly
from rolecast.core.kernel_address import call_kernel
from rolecast.core.types import Float, Float32
from rolecast.envs.mujoco.step_fused import Counts, Rules, Running, clipped, take_step

ACTION_FAULT: Final = -1
REWARD_FAULT: Final = -2
"""What is returned in place of steps where an action, or a reward, is not finite."""


@compiled_exactly
def play_steps(
    rules: Rules,
    running: Running,
    torques: Float,
    moved: Counts,
    policy: int,
    arguments: tuple[Any, ...],
    seen: Float32,
    acted: Float32,
    bound: float,
    sums: Float,
    log: Float,
    totals: Float,
) -> int:
    """Play the only running episode on, to its end or as many steps as the log has.

    Args:
        rules: of the body.
        running: one episode, with its first observations, written.
        torques: [1, nu], written.
        moved: [n da], motor of each action.
        policy: address of the policy's kernel.
        arguments: of the kernel, among them `seen` and `acted`.
        seen: [1, n, do, W], observations, of which the first lane is written.
        acted: [1, n, da, W], actions, of which the first lane is read.
        bound: to which observations are clipped before they are summed.
        sums: [2, n, do], sums of observations acted upon and of their squares, added to; or
            [0, n, do].
        log: [T, 2], reward and part of it for a healthy body of each step, written.
        totals: [2], rewards and distances, added to.
    Returns:
        The steps taken, or what was not finite.
    """
    observations = running.observations
    actions, summed = acted.shape[2], sums.shape[0] > 0
    for step in range(len(log)):
        for agent in range(seen.shape[1]):
            for place in range(seen.shape[2]):
                number = observations[0, agent, place]
                seen[0, agent, place, 0] = number
                if summed:
                    number = clipped(number, bound)
                    sums[0, agent, place] += number
                    sums[1, agent, place] += number * number
        call_kernel(policy, arguments)
        for index in range(moved.size):
            action = np.float64(acted[0, index // actions, index % actions, 0])
            if not np.isfinite(action):
                return ACTION_FAULT
            torques[0, moved[index]] = clipped(action, 1.0)
        if not take_step(rules, running, torques, 0):
            return REWARD_FAULT
        log[step, 0], log[step, 1] = running.reward[0], running.bonus[0]
        totals[0] += running.reward[0]
        totals[1] += running.distance[0]
        if running.done[0]:
            return step + 1
    return len(log)
