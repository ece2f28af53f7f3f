"""A step of a body, compiled: simulator, rewards, health, ends, observations.

Each number is rounded as NumPy would round it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rolecast.core.compiled import compiled_exactly
from rolecast.core.types import Float
from rolecast.envs.mujoco.simulator_fused import Addresses, Sizes, show_state, simulate, ticket

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


class View(NamedTuple):
    """What agents observe of a state."""

    seen: NDArray[np.intp]
    """Columns [n, do]."""

    limit: Float
    """Bounds [n, do] to which they are clipped."""


class Rules(NamedTuple):
    """What is the same in all steps of a body."""

    functions: Addresses
    """As of `simulate`."""

    memory: Addresses
    """As of `show_state`."""

    sizes: Sizes
    """As of `show_state`."""

    frame_skip: int
    """Steps of the simulator in one step."""

    shown: View
    """What is observed."""

    low: Float
    """Lower bounds [nq + nv] of a healthy body's positions and velocities."""

    high: Float
    """Upper bounds [nq + nv]."""

    seconds: float
    """Duration of a step."""

    control_cost: float
    """Weight of squared motor inputs."""

    contact_cost: float
    """Weight of squared contact forces; 0: these are not known."""

    healthy_reward: float
    """Reward of a healthy body."""

    mortal: bool
    """Whether a body that is not healthy ends its episode."""

    horizon: int
    """Steps after which an episode ends."""


class Running(NamedTuple):
    """What a step writes, of B episodes."""

    state: Float
    """[B, F], as of `show_state`."""

    place: Float
    """[B], as of `show_state`."""

    steps: Counts
    """[B], taken."""

    done: Flags
    """[B], whether an episode has ended."""

    fallen: Flags
    """[B], whether it ended by a fall."""

    bonus: Float
    """[B], reward of a healthy body."""

    observations: Float
    """[B, n, do], after the step."""

    reward: Float
    """[B], of the step."""

    distance: Float
    """[B], of the step in metres."""


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
    episode = ticket(counter)
    while episode < running.done.size:
        if not take_step(rules, running, torques, episode):
            counter[1] = 1
        episode = ticket(counter)


@compiled_exactly
def take_step(rules: Rules, running: Running, torques: Float, episode: int) -> bool:
    """Take one step in an episode; return whether its reward is finite.

    An episode that has ended stands still and earns nothing.
    """
    state, place = running.state, running.place
    running.distance[episode] = running.reward[episode] = running.bonus[episode] = 0.0
    if not running.done[episode]:
        before = place[episode]
        simulate(rules.functions, rules.frame_skip, rules.memory, episode, torques)
        show_state(rules.memory, rules.sizes, episode, state, place)
        running.distance[episode] = place[episode] - before
        running.steps[episode] += 1
        settle(rules, running, torques, episode)
    observe(rules.shown, state, running.observations, episode)
    return bool(np.isfinite(running.reward[episode]))


@compiled_exactly
def settle(rules: Rules, running: Running, torques: Float, episode: int) -> None:
    """Write the reward of an episode's step, and whether it has ended with it."""
    state, low, high = running.state, rules.low, rules.high
    earned = running.distance[episode] / rules.seconds
    earned -= rules.control_cost * sum_of_squares(torques[episode], np.inf)
    if rules.contact_cost != 0.0:
        earned -= rules.contact_cost * sum_of_squares(state[episode, low.size :], 1.0)
    if rules.mortal:
        healthy = True
        for column in range(low.size):
            number = state[episode, column]
            healthy &= low[column] < number and number < high[column]
        running.bonus[episode] = rules.healthy_reward if healthy else 0.0
        earned += running.bonus[episode]
        running.fallen[episode] = not healthy
    over = running.steps[episode] >= rules.horizon
    running.done[episode] = running.fallen[episode] or over
    running.reward[episode] = earned


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
    for agent in range(view.seen.shape[0]):
        for place in range(view.seen.shape[1]):
            number = state[episode, view.seen[agent, place]]
            observations[episode, agent, place] = clipped(number, view.limit[agent, place])


@compiled_exactly
def observe_all(view: View, state: Float, observations: Float) -> None:
    """Write what the agents observe of all episodes."""
    for episode in range(state.shape[0]):
        observe(view, state, observations, episode)
