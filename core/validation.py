"""What values a setting may have: a test, and the words for it.

Rules are plain data and are checked over a mapping, since settings come from fields of dataclasses,
attributes of RLlib's configs and options of policies. All answer with a sentence of `ConfigError`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, Final

from rolecast.core.errors import ConfigError


@dataclass(frozen=True)
class Rule:
    """A test of a setting's value."""

    allows: Callable[[Any], bool]
    expected: str
    """Words that follow "expected"."""


Rules = Mapping[str, Rule]
"""Name of a setting to its rule."""


def _number(value: object) -> bool:
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float holds
        return False


def at_least(least: int) -> Rule:
    """Return the rule that a value is an integer that is not below another."""
    return Rule(lambda value: type(value) is int and value >= least, f"an integer >= {least}")


def even_at_least(least: int) -> Rule:
    """Return the rule that a value is an even integer that is not below another."""
    return Rule(
        lambda value: type(value) is int and value >= least and value % 2 == 0,
        f"an even integer >= {least}",
    )


def number_from(least: float) -> Rule:
    """Return the rule that a value is a number that is not below another."""
    return Rule(lambda value: _number(value) and value >= least, f"a number >= {least:g}")


def number_in(least: float, most: float) -> Rule:
    """Return the rule that a value is a number between two others, or one of them."""
    return Rule(
        lambda value: _number(value) and least <= value <= most,
        f"a number in [{least:g}, {most:g}]",
    )


def or_none(rule: Rule) -> Rule:
    """Return the rule that a value is None, or keeps another rule."""
    return Rule(lambda value: value is None or rule.allows(value), f"{rule.expected}, or none")


def or_schedule(rule: Rule) -> Rule:
    """Return the rule that a value keeps another rule, or is a schedule of such values."""

    def allows(value: object) -> bool:
        if not isinstance(value, list | tuple):
            return rule.allows(value)
        if len(value) < 2 or not all(isinstance(p, list | tuple) and len(p) == 2 for p in value):
            return False
        steps = [step for step, _ in value]
        return (
            all(COUNT_OR_ZERO.allows(step) and rule.allows(each) for step, each in value)
            and steps[0] == 0
            and all(before < after for before, after in pairwise(steps))
        )

    pairs = "a schedule of [env step, value] pairs whose steps begin at 0 and rise"
    return Rule(allows, f"{rule.expected}, or {pairs}")


def without(rules: Rules, *names: str) -> Rules:
    """Return rules but for those of some names."""
    return {name: rule for name, rule in rules.items() if name not in names}


LARGEST_RETURN: Final = 1e100
"""Greatest size of a return or standard error; the square of one beyond 1e154 is infinite."""

POSITIVE_INTEGER: Final = at_least(1)
COUNT_OR_ZERO: Final = at_least(0)
BOOLEAN_VALUE: Final = Rule(lambda value: isinstance(value, bool), "True or False")
FINITE_NUMBER: Final = Rule(_number, "a finite number")
POSITIVE_NUMBER: Final = Rule(lambda value: _number(value) and value > 0, "a number > 0")
NOT_NEGATIVE: Final = number_from(0)
OPEN_FRACTION: Final = Rule(lambda value: _number(value) and 0 < value <= 1, "a number in (0, 1]")
UNIT_INTERVAL: Final = Rule(lambda value: _number(value) and 0 <= value <= 1, "a number in [0, 1]")
BELOW_1: Final = Rule(lambda value: _number(value) and 0 <= value < 1, "a number in [0, 1)")
LAYER_WIDTHS: Final = Rule(
    lambda value: (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(type(width) is int and width > 0 for width in value)
    ),
    "one or more integers >= 1",
)


def one_of(*names: str) -> Rule:
    """Return the rule that a value is one of some names."""
    return Rule(lambda value: value in names, " or ".join(repr(name) for name in names))


def check(owner: str, settings: Mapping[str, Any], rules: Rules) -> None:
    """Refuse values that break their rule.

    Args:
        owner: whose settings, for the error.
        settings: name to value; those without a rule pass.
        rules: name to rule.

    Raises:
        ConfigError: names the setting, its value and what was expected.
    """
    for name, rule in rules.items():
        if name in settings and not rule.allows(settings[name]):
            raise ConfigError(f"{owner}.{name}", settings[name], rule.expected)


def plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's, which JSON has; those in dicts, lists and tuples too.

    >>> import numpy as np
    >>> plain({"seed": np.int64(3), "sizes": (np.float32(0.5), True), "task": "hopper"})
    {'seed': 3, 'sizes': (0.5, True), 'task': 'hopper'}
    """
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return value.item()
    if type(value) is dict:
        return {name: plain(each) for name, each in value.items()}
    return type(value)(map(plain, value)) if type(value) in {list, tuple} else value


def make_plain(settings: object) -> None:
    """Put Python's numbers in place of NumPy's in the fields of a frozen dataclass."""
    for name, value in vars(settings).items():
        object.__setattr__(settings, name, plain(value))
