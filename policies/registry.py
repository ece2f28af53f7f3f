"""Policies by name, and their factory `make_policy`."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from rolecast.core.errors import ConfigError, require_known
from rolecast.core.lazy_table import LazyTable, Registry
from rolecast.core.validation import plain
from rolecast.envs.spec import BatchedTask, TaskSpec
from rolecast.policies.protocol import Policy

ENTRY_POINTS: Final = "rolecast.policies"
"""Entry-point group of policies of other packages: name to config class."""


class PolicyConfig(Protocol):
    """Settings of one policy: a frozen dataclass of keyword arguments, checked when built."""

    def build(self, task: TaskSpec, seed: int) -> Policy:
        """Return the policy for a task of these sizes; the seed decides all random choices."""


POLICIES: Final[LazyTable[type[PolicyConfig]]] = LazyTable(
    {
        "constant": "rolecast.policies.constant:ConstantConfig",
        "gains": "rolecast.policies.gains:GainsConfig",
        "hom": "rolecast.policies.hom.config:HomConfig",
        "linear": "rolecast.policies.linear:LinearConfig",
        "mlp": "rolecast.policies.mlp:MlpConfig",
    }
)
"""Policies of this project: name to config class."""

READS_FOLDER: Final = "reads_folder"
"""In the metadata of a config's field: its value is a folder that `build` reads."""

POLICY_SETTINGS: Final = Path(__file__).with_name("settings.csv")
"""What `told_settings` reads."""


_POLICY_REGISTRY: Final = Registry("policy", ENTRY_POINTS, POLICIES)

policy_names = _POLICY_REGISTRY.names
policy_summary = _POLICY_REGISTRY.summary
policy_config = _POLICY_REGISTRY.load


def remake_policy(name: str, task: TaskSpec, options: Mapping[str, Any]) -> Policy:
    """Make a policy of the options that it was stored with; stored options are data alone.

    Raises:
        RequestError: as `make_policy`, or an option names a folder to read.
    """
    for field in dataclasses.fields(policy_config(name)):  # type: ignore[arg-type]  # by contract
        if field.metadata.get(READS_FOLDER) and options.get(field.name) is not None:
            expected = "the content of that folder, which a stored policy holds itself"
            raise ConfigError(
                f"option {field.name} of policy {name!r}", options[field.name], expected
            )
    return make_policy(name, task, **options)


def make_policy(
    name: str, task: BatchedTask | TaskSpec, *, seed: int = 0, **options: Any
) -> Policy:
    """Make a policy for a task.

    Args:
        name: one of `policy_names()`.
        task: a task from `make_task`, or its spec; only its sizes and its id are used.
        seed: seed of the policy's random centre, an integer >= 0.
        options: settings of the policy's config class.

    Returns:
        A policy whose `space.size` is D.

    Raises:
        RequestError: an unknown name or option, or a setting out of its range.

    >>> from rolecast.envs.spec import TaskSpec
    >>> spec = TaskSpec(id="mine", agents=3, observation_size=16, action_size=2, horizon=25)
    >>> make_policy("hom", spec, role_assignment=False).space.size
    353
    """
    seed, options = plain(seed), plain(options)
    config = policy_config(name)
    known = [field.name for field in dataclasses.fields(config)]  # type: ignore[arg-type]  # by contract
    require_known(f"option of policy {name!r}:", options, known)
    if type(seed) is not int or seed < 0:
        raise ConfigError("make_policy.seed", seed, "an integer >= 0")
    return config(**options).build(task if isinstance(task, TaskSpec) else task.spec, seed)
