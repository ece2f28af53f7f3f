"""What a step of a body does beside the simulator, compiled: rewards, health, ends, observations.

Each number is rounded as NumPy would round it.
"""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled_exactly
from rolecast.core.types import Float

Flags = NDArray[np.bool_]


@compiled_exactly
def settle(
    live: Flags,
    distance: Float,
    state: Float,
    low: Float,
    high: Float,
    squares: Float,
    numbers: tuple[float, float, float, float],
    mortal: bool,
    steps: NDArray[np.int64],
    horizon: int,
    done: Flags,
    fallen: Flags,
    bonus: Float,
    reward: Float,
) -> int:
    """Write rewards, and which of B episodes have ended.

    Args:
        live: [B], episodes that took this step.
        distance: [B], in metres.
        state: [B, F], positions and velocities first.
        low: lower bounds of a healthy body's positions and velocities.
        high: upper bounds.
        squares: [2, B], sums of squared motor inputs and of squared contact forces.
        numbers: seconds of a step, costs of motors and of contacts, reward of a healthy body.
        mortal: whether a body that is not healthy ends its episode.
        steps: [B], taken; one is added where live.
        horizon: steps after which an episode ends.
        done: [B], whether an episode has ended, written.
        fallen: [B], whether it ended by a fall, written.
        bonus: [B], rewards of healthy bodies, written where mortal.
        reward: [B], written; 0 where not live.
    Returns:
        The first episode whose reward is not finite; -1 if none.
    """
    seconds, motors, contacts, healthy_reward = numbers
    broken = -1
    for episode in range(live.size):
        if live[episode]:
            steps[episode] += 1
        earned = distance[episode] / seconds - motors * squares[0, episode]
        if contacts != 0.0:
            earned -= contacts * squares[1, episode]
        if mortal:
            healthy = True
            for column in range(low.size):
                number = state[episode, column]
                healthy &= low[column] < number and number < high[column]
            bonus[episode] = healthy_reward if healthy and live[episode] else 0.0
            earned += bonus[episode]
            fallen[episode] |= live[episode] and not healthy
            done[episode] |= fallen[episode]
        if broken < 0 and not np.isfinite(earned):
            broken = episode
        done[episode] |= steps[episode] >= horizon
        reward[episode] = earned if live[episode] else 0.0
    return broken


@compiled_exactly
def observe_columns(state: Float, seen: NDArray[np.intp], limit: Float, shown: Float) -> None:
    """Write columns [n, do] of rows [B, F], clipped to limits [n, do], to shown [B, n, do]."""
    for episode in range(state.shape[0]):
        for agent in range(seen.shape[0]):
            for place in range(seen.shape[1]):
                number, most = state[episode, seen[agent, place]], limit[agent, place]
                if number > most:
                    number = most
                elif number < -most:
                    number = -most
                shown[episode, agent, place] = number
