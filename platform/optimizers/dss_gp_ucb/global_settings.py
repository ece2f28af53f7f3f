"""Settings of the global searches: GP-UCB, and the paper's with structure."""

from dataclasses import dataclass
from typing import Final

from rolecast.core.validation import POSITIVE_NUMBER, Rule, Rules, at_least, check
from rolecast.platform.surrogate.outcome_transform import OUTCOME_TRANSFORM_RULE

GLOBAL_RULES: Final[Rules] = {
    "beta": POSITIVE_NUMBER,
    "outcome_transform": OUTCOME_TRANSFORM_RULE,
    "max_points": at_least(4),
    "pool": Rule(
        lambda value: type(value) is int and value >= 2 and value & (value - 1) == 0,
        "a power of 2, at least 2",
    ),
}


@dataclass(frozen=True, kw_only=True)
class GlobalSettings:
    """Settings of a search of the whole cube by one Gaussian process."""

    beta: float = 0.2
    """Exploration factor of the upper confidence bound, above 0: beta_t = beta log(2 t), t
    evaluations."""

    outcome_transform: str | None = None
    """Transform of the returns before the fit: "signed_sqrt", "rank", "none" or "automatic".
    "automatic" is "none" once a return below 0 was told, "signed_sqrt" until then.
    None: "automatic" for a policy's weights, "none" for a black box. Old name: `levelling`."""

    max_points: int = 500
    """Maximum evaluations in the Gaussian process, at least 4. Half are those of highest posterior
    mean, half the latest."""

    pool: int = 2048
    """Number of Sobol points from which a batch is chosen, a power of 2. A quarter as many near
    the incumbent are added."""

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), GLOBAL_RULES)
