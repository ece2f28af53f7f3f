"""A step of a body, compiled: simulator, rewards, health, ends, observations.

Each number is rounded as NumPy would round it.
"""

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled_exactly
from rolecast.core.types import Float
from rolecast.envs.mujoco.simulator_fused import Addresses, Sizes, show_state, simulate, ticket

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

View = tuple[NDArray[np.intp], Float]
"""Columns [n, do] of a state that agents observe, and the bounds [n, do] to which they are clipped.
"""

Rewards = tuple[float, float, float, float]

Rules = tuple[Addresses, Addresses, Sizes, int, View, Float, Float, Rewards, bool, int]
"""What is the same in all steps: functions of `simulate`, memory and sizes of `show_state`, steps
of the simulator in one step, view; low and high bounds of a healthy body's positions and
velocities; seconds of a step, costs of motors and of contacts, reward of a healthy body; whether a
body that is not healthy ends its episode; steps after which an episode ends.
"""

Running = tuple[Float, Float, Counts, Flags, Flags, Float, Float, Float, Float]
"""What a step writes, of B episodes: state [B, F] and place [B] of `show_state`, steps [B] taken,
whether an episode has ended [B], and by a fall [B], reward [B] of a healthy body, observations
[B, n, do], reward [B] of the step, and its distance [B] in metres.
"""


@compiled_exactly
def take_steps(rules: Rules, running: Running, torques: Float, counter: Counts) -> None:
    """Take one step in all episodes that go on, each by the first thread that asks for it.

    Args:
        rules: of the body.
        running: B episodes, written.
        torques: [B, nu], motors' inputs.
        counter: [2], zeros at first; the same for all threads that share a step. The second is 1
            afterwards if a reward is not finite.
    """
    done = running[3]
    episode = ticket(counter)
    while episode < done.size:
        if not take_step(rules, running, torques, episode):
            counter[1] = 1
        episode = ticket(counter)


@compiled_exactly
def take_step(rules: Rules, running: Running, torques: Float, episode: int) -> bool:
    """Take one step in an episode; return whether its reward is finite.

    An episode that has ended stands still and earns nothing.
    """
    functions, memory, sizes, frame_skip, view = rules[:5]
    state, place, steps, done, _, bonus, observations, reward, distance = running
    distance[episode] = reward[episode] = bonus[episode] = 0.0
    if not done[episode]:
        before = place[episode]
        simulate(functions, frame_skip, memory, episode, torques)
        show_state(memory, sizes, episode, state, place)
        distance[episode] = place[episode] - before
        steps[episode] += 1
        settle(rules, running, torques, episode)
    observe(view, state, observations, episode)
    return bool(np.isfinite(reward[episode]))


@compiled_exactly
def settle(rules: Rules, running: Running, torques: Float, episode: int) -> None:
    """Write the reward of an episode's step, and whether it has ended with it."""
    low, high, numbers, mortal, horizon = rules[5:]
    state, _, steps, done, fallen, bonus, _, reward, distance = running
    seconds, motors, contacts, healthy_reward = numbers
    earned = distance[episode] / seconds
    earned -= motors * sum_of_squares(torques[episode], np.inf)
    if contacts != 0.0:
        earned -= contacts * sum_of_squares(state[episode, low.size :], 1.0)
    if mortal:
        healthy = True
        for column in range(low.size):
            number = state[episode, column]
            healthy &= low[column] < number and number < high[column]
        bonus[episode] = healthy_reward if healthy else 0.0
        earned += bonus[episode]
        fallen[episode] = not healthy
    done[episode] = fallen[episode] or steps[episode] >= horizon
    reward[episode] = earned


@compiled_exactly
def sum_of_squares(numbers: Float, bound: float) -> float:
    """Return the sum of squares of numbers [N], each clipped to [-bound, bound] before.

    Added in the order in which `numpy.einsum` adds on processors with two numbers a vector: even
    and odd places apart, of each eight the last pair first.
    """
    even = odd = 0.0
    size, start = numbers.size, 0
    while start < size:
        pairs = 4 if size - start >= 8 else 1
        for place in range(start + 2 * pairs - 2, start - 1, -2):
            number = clipped(numbers[place], bound)
            even += number * number
            if place + 1 < size:
                number = clipped(numbers[place + 1], bound)
                odd += number * number
        start += 2 * pairs
    return even + odd


@compiled_exactly
def clipped(number: float, bound: float) -> float:
    """Return a number clipped to [-bound, bound]; NaN stays NaN."""
    return bound if number > bound else -bound if number < -bound else number


@compiled_exactly
def observe(view: View, state: Float, observations: Float, episode: int) -> None:
    """Write what the agents observe of an episode."""
    seen, limit = view
    for agent in range(seen.shape[0]):
        for place in range(seen.shape[1]):
            number = state[episode, seen[agent, place]]
            observations[episode, agent, place] = clipped(number, limit[agent, place])


@compiled_exactly
def observe_all(view: View, state: Float, observations: Float) -> None:
    """Write what the agents observe of all episodes."""
    for episode in range(state.shape[0]):
        observe(view, state, observations, episode)
