"""Reward settings: a frozen value, and its form as options of a task."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.errors import ConfigError

RANGES_OF_NUMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "noise": "a number from 0 to 1e30",
        "flip": "a probability in [0, 1]",
        "drop": "a probability in [0, 1]",
        "survival": "a share in [0, 1]",
    }
)
"""Range of each setting that is a real number."""

MOST_NOISE: Final = 1e30
"""Greatest noise; compiled tasks add up rewards in float32, which ends at 3e38."""

MOST_DELAY_STEPS: Final = 2**31 - 1
"""Greatest number of steps; longer than any episode."""


@dataclass(frozen=True, kw_only=True)
class RewardSettings:
    """Differences of the paid reward from the raw one; the defaults change nothing.

    The survival bonus is cut first. Noise, flips and losses then act on each step's reward, in
    this order. The result is delayed, and then summed. Source: DSS-GP-UCB paper, appendix B.3
    ("Sparse", "Lag").
    Differs: "Sparse" sums S steps; the paper's S + 1 steps count each boundary twice. Noise, flips,
    losses and `flush_on_end` are this project's. `survival=0` is the training reward of augmented
    random search (Mania et al. 2018, section 4.1).
    """

    sparse: int = 1
    """Sparsity S: rewards are paid as one sum at every S-th step; 1 pays at every step."""

    delay: int = 0
    """Delay D of each reward, in steps; nothing is paid in the first D steps."""

    noise: float = 0.0
    """Standard deviation of Gaussian noise on each step's reward, in the unit of the reward."""

    flip: float = 0.0
    """Probability of a wrong sign of a step's reward."""

    drop: float = 0.0
    """Probability of the loss of a step's reward."""

    survival: float = 1.0
    """Share of the survival bonus that is paid, in [0, 1]; 0 pays none of it. The bonus is the
    reward for being healthy, of tasks that have one, such as `hopper`."""

    flush_on_end: bool = False
    """Payment of all unpaid rewards at the last step of an episode; without it they are lost."""

    def __post_init__(self) -> None:
        for name, least in (("sparse", 1), ("delay", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ConfigError(f"RewardSettings.{name}", value, f"an integer >= {least}")
            if value > MOST_DELAY_STEPS:
                raise ConfigError(f"RewardSettings.{name}", value, f"at most {MOST_DELAY_STEPS:,}")
        for name, expected in RANGES_OF_NUMBERS.items():
            most = MOST_NOISE if name == "noise" else 1.0
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (number and isfinite(value) and 0.0 <= value <= most):
                raise ConfigError(f"RewardSettings.{name}", value, expected)
            object.__setattr__(self, name, float(value))
        if not isinstance(self.flush_on_end, bool):
            raise ConfigError("RewardSettings.flush_on_end", self.flush_on_end, "true or false")

    @property
    def options(self) -> dict[str, Any]:
        """Settings other than their defaults, as options of a task's id."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != each.default
        }

    @property
    def change_something(self) -> bool:
        """Whether any reward is paid other than as earned."""
        return bool(self.options.keys() - {"flush_on_end"})

    def pays_within(self, horizon: int) -> bool:
        """Return whether any reward can be paid in an episode of that length."""
        return self.drop < 1.0 and (self.flush_on_end or self.first_payment() <= horizon)

    def steps_paid(self, length: int) -> int:
        """Return the number of first steps whose rewards are paid within `length` steps."""
        if self.flush_on_end:
            return length
        return max(length // self.sparse * self.sparse - self.delay, 0)

    def first_payment(self) -> int:
        """Return the first step, counted from 1, at which a reward can be paid without a flush."""
        return self.sparse * -(-(self.delay + 1) // self.sparse)


REWARD_OPTIONS = tuple(each.name for each in fields(RewardSettings))
"""Options of every task, never given to a user's environment."""


def split_options(options: Mapping[str, Any]) -> tuple[RewardSettings, dict[str, Any]]:
    """Return the reward settings among the options of a task, and the other options.

    Raises:
        ConfigError: a reward setting is out of its range.
    """
    own = {name: value for name, value in options.items() if name in REWARD_OPTIONS}
    return RewardSettings(**own), {k: v for k, v in options.items() if k not in own}
