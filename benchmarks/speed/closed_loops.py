"""Robots that random linear policies move: as a search plays them, and in Gymnasium's loop."""

from collections.abc import Callable
from contextlib import ExitStack
from itertools import cycle
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.speed.env_sides import EPISODE_BATCH, MUJOCO_EPISODE_STEPS
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.envs.spec import OBSERVATION_CLIP
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.registry import make_policy

LINEAR_POLICY: Final = "linear"
"""Policy of the robots: any user of Gymnasium writes it in a line."""


def whole_steps(task_id: str, threads: int, stack: ExitStack) -> Callable[[], int]:
    """Return a function that plays random linear policies as a search does; counts their steps."""
    task = make_task(task_id, horizon=MUJOCO_EPISODE_STEPS, threads=threads)
    stack.callback(task.close)
    policy = make_policy(LINEAR_POLICY, task)
    weights, seeds = _linear_weights(task_id), episode_seeds(0, Purpose.SEARCH, 0, 1)

    def run() -> int:
        return rollout(task, policy, weights, seeds).env_steps

    run()  # loads the simulator
    return run


def policy_loop_steps(
    task_id: str, env_id: str, settings: dict[str, Any], stack: ExitStack
) -> Callable[[], int]:
    """Return a function that plays an episode of Gymnasium with the next of the same policies."""
    import gymnasium

    env: Any = gymnasium.make(env_id, max_episode_steps=MUJOCO_EPISODE_STEPS, **settings)
    stack.callback(env.close)
    size, acted = env.observation_space.shape[0], env.action_space.shape[0]
    layers = [np.split(each, [size * acted]) for each in _linear_weights(task_id)]
    policies = cycle([(weight.reshape(acted, size), bias) for weight, bias in layers])

    def run() -> int:
        observation, _ = env.reset()
        weight, bias = next(policies)
        for step in range(MUJOCO_EPISODE_STEPS):
            action = np.tanh(
                weight @ np.clip(observation, -OBSERVATION_CLIP, OBSERVATION_CLIP) + bias
            )
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                return step + 1
        return MUJOCO_EPISODE_STEPS

    env.reset(seed=0)
    return run


def _linear_weights(task_id: str) -> Float:
    """Return the weights [P, D] of random policies, whose gain is 1 for one agent."""
    space = make_policy(LINEAR_POLICY, make_task(task_id)).space
    return space.weights(np.random.default_rng(0).random((EPISODE_BATCH, space.size)))
