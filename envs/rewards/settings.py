"""Which reward a learner is paid: a frozen value, and its way in and out of a task's options."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from rolecast.core.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class RewardSettings:
    """How the reward that a learner is paid differs from the raw one; the defaults change nothing.

    Noise, flips and losses act on each step's reward first, in this order; then it is delayed;
    then what the delay has paid is summed. Source: DSS-GP-UCB, appendix B.3 ("Sparse", "Lag").
    Differs: Sparse sums S steps, not S + 1 of which two payments share one; the malformations and
    `flush_on_end` are ours.
    """

    sparse: int = 1
    """S, steps whose reward is paid in one sum at every S-th step; 1 pays at every step."""

    delay: int = 0
    """D, steps by which each reward comes late; nothing is paid in the first D steps."""

    noise: float = 0.0
    """Standard deviation of Gaussian noise on each step's reward, in the unit of the reward."""

    flip: float = 0.0
    """Probability that a step's reward has the wrong sign."""

    drop: float = 0.0
    """Probability that a step's reward is lost."""

    flush_on_end: bool = False
    """Pay all that is still unpaid at an episode's last step; without it, that is lost."""

    def __post_init__(self) -> None:
        for name, least in (("sparse", 1), ("delay", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ConfigError(f"RewardSettings.{name}", value, f"an integer >= {least}")
        for name, most in (("noise", float("inf")), ("flip", 1.0), ("drop", 1.0)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and isfinite(value) and 0.0 <= value <= most):
                expected = "a finite number >= 0" if name == "noise" else "a probability in [0, 1]"
                raise ConfigError(f"RewardSettings.{name}", value, expected)
            object.__setattr__(self, name, float(value))
        if not isinstance(self.flush_on_end, bool):
            raise ConfigError("RewardSettings.flush_on_end", self.flush_on_end, "true or false")

    @property
    def options(self) -> dict[str, Any]:
        """The settings that differ from their default, as options of a task's id."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != each.default
        }

    @property
    def change_something(self) -> bool:
        """Whether any reward is paid otherwise than it was earned."""
        return bool(self.options.keys() - {"flush_on_end"})

    def pays_within(self, horizon: int) -> bool:
        """Return whether anything can be paid in an episode of so many steps."""
        return self.drop < 1.0 and (self.flush_on_end or self.first_payment() <= horizon)

    def steps_paid(self, length: int) -> int:
        """Return of how many steps, from the first, the reward is paid in `length` steps."""
        if self.flush_on_end:
            return length
        return max(length // self.sparse * self.sparse - self.delay, 0)

    def first_payment(self) -> int:
        """Return the first step, counted from 1, at which a reward can be paid without a flush."""
        return self.sparse * -(-(self.delay + 1) // self.sparse)


REWARD_OPTIONS = tuple(each.name for each in fields(RewardSettings))
"""Options that every task has; they are never given to a user's environment."""


def split_options(options: Mapping[str, Any]) -> tuple[RewardSettings, dict[str, Any]]:
    """Return the reward settings among a task's options, and the others.

    Raises:
        ConfigError: a reward setting is out of its range.
    """
    own = {name: value for name, value in options.items() if name in REWARD_OPTIONS}
    return RewardSettings(**own), {k: v for k, v in options.items() if k not in own}
