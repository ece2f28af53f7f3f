"""Opposition of agents: rewards of opposite signs, whose sum says little about either side."""

from itertools import combinations
from typing import Final

import numpy as np

from rolecast.core.counter_random import episode_keys
from rolecast.core.types import Float, Seeds
from rolecast.envs.adapters.membership import kind_of
from rolecast.envs.adapters.task import AdaptedTask
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.scripted import SCRIPTED
from rolecast.envs.spec import BatchedTask

PROBED_SEEDS: Final = np.arange(1, 33, dtype=np.uint64)
"""Seeds of the episodes in which rewards are compared."""

FIRST_PROBED: Final = 4
"""Episodes after which clear cases are decided, so that costly environments are few."""

PROBED_STEPS: Final = 50
"""Maximum steps of each of them."""

LEAST_MEETINGS: Final = 3
"""Steps with two rewards other than 0, below which nothing is concluded."""

CLEAR_MEETINGS: Final = 30
"""Such steps of each two agents from which on the first episodes decide."""

OPPOSED_SHARE: Final = 0.8
"""Share of these steps with opposite signs, from which on two agents are opposed."""


def is_users_team(task: BatchedTask) -> bool:
    """Return whether a task is a user's environment of several agents."""
    return isinstance(unwrapped(task), AdaptedTask) and task.spec.agents > 1


def opposed_agents(task: BatchedTask) -> tuple[str, str] | None:
    """Return two agents with opposed rewards whose sum is searched; None if none were seen.

    It plays random episodes of the task. Only teams of users' environments without the option
    `team` are examined.

    Raises:
        RunError: the task failed.
    """
    below = unwrapped(task)
    if not is_users_team(task) or not isinstance(below, AdaptedTask) or below.has_chosen_team:
        return None
    first, rest = np.split(PROBED_SEEDS, [FIRST_PROBED])
    signs = _signs(below, first)
    paid = (signs != 0.0).astype(np.int64)
    if (paid.T @ paid).min() < CLEAR_MEETINGS:
        signs = np.concatenate([signs, _signs(below, rest)])
    names = below.agent_names
    for one, other in combinations(range(len(names)), 2):
        products = signs[:, one] * signs[:, other]
        meetings = np.count_nonzero(products)
        if meetings >= LEAST_MEETINGS and (products < 0.0).sum() >= OPPOSED_SHARE * meetings:
            return names[one], names[other]
    return None


def _signs(task: AdaptedTask, seeds: Seeds) -> Float:
    """Return the signs [T B, n] of the rewards of each agent in random episodes."""
    rewards, keys = [], episode_keys(seeds)
    task.reset(seeds)
    for step in range(min(PROBED_STEPS, task.spec.horizon)):
        done = task.step(SCRIPTED["random"].act(task, keys, step))[2]
        rewards.append(task.agent_rewards)
        if done.all():
            break
    return np.asarray(np.sign(np.concatenate(rewards)))


def opposition_remark(task: BatchedTask) -> str | None:
    """Return the warning about opposed agents in a sentence; None where there is nothing to say.

    Raises:
        RunError: the task failed.
    """
    found = opposed_agents(task)
    if found is None:
        return None
    kind = kind_of(found[0]) or found[0]
    return (
        f"rewards of {found[0]!r} and {found[1]!r} are opposed, and their sum is searched; "
        f"?team={kind} counts the reward of one side only, and &others=random takes the other "
        "side out of the policy's hands"
    )
