"""What a policy can tell an optimiser: the one place where a black box learns what is inside it.

An optimiser that can use such knowledge has a field for it, None by default. Filled in here are
`groups`, weights that read the same input, `levelling`, which suits returns whose noise grows with
them, and the structure found at states that a policy meets.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.policies.protocol import Policy

RECORDED_OBSERVATIONS = 512
"""States kept of the initial design, from which structure is found."""

LEVELLING = "signed_sqrt"
"""Noise of a sparse task's returns grows as their square root."""


def informed_config(config: OptimizerConfig, policy: Policy) -> OptimizerConfig:
    """Fill what is known of a policy before anything is evaluated.

    Args:
        config: of its fields `groups` and `levelling`, those that it has and that are None become
            [D] group numbers and "signed_sqrt".
        policy: whose weights are searched.
    """
    groups = tuple(int(group) for group in policy.space.input_groups)
    known = {"groups": groups, "levelling": LEVELLING}
    empty = {name: value for name, value in known.items() if _has_empty(config, name)}
    return _replaced(config, **empty) if empty else config


def initial_design(config: OptimizerConfig, *, dimension: int, seed: int) -> Float | None:
    """Return the candidates [T0, D] that the optimiser wants evaluated before it is built.

    None unless the config has a method `initial_design(*, dimension, seed)` that gives some.
    """
    design = getattr(config, "initial_design", None)
    wanted: Float | None = None if design is None else design(dimension=dimension, seed=seed)
    return wanted


def find_structure(
    config: OptimizerConfig, policy: Policy, candidates: Float, observations: Float
) -> dict[str, Any] | None:
    """Find the structure that the optimiser can use, as JSON values for structure.json.

    Args:
        config: asks for it by a method `find_structure(policy, candidates, observations)`.
        policy: whose weights are searched.
        candidates: [T0, D], the initial design.
        observations: [S, n, do], states met by running it.
    """
    find = getattr(config, "find_structure", None)
    found: dict[str, Any] | None = None if find is None else find(policy, candidates, observations)
    return found


def with_structure(config: OptimizerConfig, structure: Mapping[str, Any] | None) -> OptimizerConfig:
    """Return the config with the structure in it, freshly found or read from structure.json."""
    use = getattr(config, "with_structure", None)
    if structure is None or use is None:
        return config
    informed: OptimizerConfig = use(structure)
    return informed


def _has_empty(config: OptimizerConfig, name: str) -> bool:
    if not is_dataclass(config):
        return False
    known = any(each.name == name for each in fields(config))
    return known and getattr(config, name) is None


def _replaced(config: OptimizerConfig, **values: Any) -> OptimizerConfig:
    changed: OptimizerConfig = replace(config, **values)  # type: ignore[type-var]
    return changed
