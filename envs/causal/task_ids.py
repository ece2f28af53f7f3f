"""Ids of causal tasks, and which of their options are theirs rather than of the reward."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from rolecast.envs.rewards.settings import RewardSettings, split_options

CAUSAL_TASKS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "causal:toy": (),
        "causal:psa": (),
        "causal:dropwave": ("noise=1",),
        "causal:alpine2": ("noise=1",),
        "causal:rosenbrock": ("noise=1",),
        "causal:ackley": (),
    }
)
"""Tasks whose reward is a node of a causal graph: id to the variants that are listed."""

CAUSAL_OPTIONS: Final = ("noise", "noise_seen_only")
"""Options of their ids."""


def split_task_options(
    name: str, options: Mapping[str, Any]
) -> tuple[RewardSettings, dict[str, Any]]:
    """Return the reward settings among the options of a task, and the options of the task itself.

    `noise` is that of the nodes in a causal task, and of the reward in all others.

    Args:
        name: of the task, without options.
        options: all that were given.
    Raises:
        ConfigError: a reward setting is out of its range.
    """
    nodes = CAUSAL_OPTIONS if name in CAUSAL_TASKS else ()
    own = {key: value for key, value in options.items() if key in nodes}
    rewards, others = split_options({k: v for k, v in options.items() if k not in own})
    return rewards, others | own
