"""Reward settings by a name that people read: "dense", "sparse=5", "delay=5&sparse=2"."""

from collections.abc import Mapping
from typing import Any, Final

from rolecast.core.errors import ConfigError, unknown_name
from rolecast.envs.causal.task_ids import split_task_options
from rolecast.envs.ids import format_id, parse_id
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.settings import REWARD_OPTIONS, RewardSettings
from rolecast.envs.spec import BatchedTask

DENSE_REWARD: Final = "dense"
"""The reward as it is earned."""


def reward_options(name: str) -> dict[str, Any]:
    """Return the options of a task that a name stands for.

    Raises:
        RequestError: it names no reward setting, or a value is out of its range.
    Example:
        >>> reward_options("sparse=2&delay=5")
        {'delay': 5, 'sparse': 2}
    """
    if not isinstance(name, str) or not name:
        raise ConfigError("reward", name, "'dense', or settings such as 'sparse=5'")
    if name == DENSE_REWARD:
        return {}
    _, options = parse_id(f"reward?{name}" if "=" in name else f"reward?{name}=")
    for option in options:
        if option not in REWARD_OPTIONS:
            raise unknown_name("reward setting", option, [*REWARD_OPTIONS, DENSE_REWARD])
    return dict(sorted(RewardSettings(**options).options.items()))


def reward_name(name: str | Mapping[str, Any]) -> str:
    """Return the one name of reward settings.

    Args:
        name: a name, perhaps in another order; or the settings as a mapping.
    Example:
        >>> reward_name("sparse=2&delay=5"), reward_name({"sparse": 1})
        ('delay=5&sparse=2', 'dense')
    """
    options = reward_options(name) if isinstance(name, str) else RewardSettings(**name).options
    return format_id("", options).removeprefix("?") or DENSE_REWARD


def task_with_reward(task: str, reward: str) -> BatchedTask:
    """Make a task whose learner is paid by a reward setting.

    Raises:
        RequestError: an unknown task, or one that has a reward setting in its id already.
    """
    name, options = parse_id(task)
    own, _ = split_task_options(name, options)
    if own.options:
        raise ConfigError("Experiment.tasks", task, "an id without reward settings")
    return make_task(task, **reward_options(reward))
