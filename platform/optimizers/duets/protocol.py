"""What all parties of a DUETS run know before it begins, and its constants in paper and theorem."""

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.core.validation import (
    COUNT_OR_ZERO,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    Rules,
    check,
)
from rolecast.platform.optimizers.duets.domain import Domain
from rolecast.platform.optimizers.duets.kernel import StationaryKernel

PROTOCOL_RULES: Final[Rules] = {
    "agents": POSITIVE_INTEGER,
    "rounds": POSITIVE_INTEGER,
    "seed": COUNT_OR_ZERO,
    "first_epoch": POSITIVE_INTEGER,
    "beta": POSITIVE_NUMBER,
    "inducing_factor": POSITIVE_NUMBER,
    "noise_variance": POSITIVE_NUMBER,
}


@dataclass(frozen=True, kw_only=True)
class DuetsProtocol:
    """Settings of one run, equal for the server and all agents."""

    domain: Domain
    """Domain of the function."""

    kernel: StationaryKernel
    """Prior covariance."""

    agents: int
    """N."""

    rounds: int
    """T, queries of each agent."""

    seed: int
    """Seed of all coins."""

    first_epoch: int = 2
    """T_1, queries of each agent in the first epoch."""

    beta: float = 1.0
    """Width of the confidence band in deviations."""

    inducing_factor: float = 10.0
    """p_0: a point is an inducing point with probability p_0 s_max^2."""

    noise_variance: float = 0.04
    """lambda."""

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), PROTOCOL_RULES)
        if self.rounds < self.first_epoch:
            expected = f"an integer >= {self.first_epoch}, the first epoch"
            raise ConfigError(f"{type(self).__name__}.rounds", self.rounds, expected)

    @cached_property
    def epochs(self) -> tuple[int, ...]:
        """T_j of all epochs: T_{j+1} = floor(sqrt(T T_j)), the last cut so that their sum is T."""
        return epoch_lengths(self.rounds, self.first_epoch)

    @cached_property
    def run(self) -> str:
        """Name by which messages of this run are told from those of another."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


def epoch_lengths(rounds: int, first: int) -> tuple[int, ...]:
    """Return the epochs' lengths; their sum is `rounds`.

    Differs: line 9 of Algorithm 1 ends one query too late.

    >>> epoch_lengths(50, 2)
    (2, 10, 22, 16)
    """
    lengths = [min(first, rounds)]
    length = lengths[0]
    while sum(lengths) < rounds:
        length = math.isqrt(rounds * length)
        lengths.append(min(length, rounds - sum(lengths)))
    return tuple(lengths)
