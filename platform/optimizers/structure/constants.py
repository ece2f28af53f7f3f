"""Numeric constants of the test of pairs in the returns, apart from settings."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class PairTestConstants:
    """Grids, limits and rates of the test that finds interactions of dimensions."""

    first_look: int = 100
    """Evaluations before the first test of pairs."""

    look_growth: float = 1.5
    """Factor by which evaluations grow between two tests."""

    look_window: int = 2000
    """Maximum evaluations in a test, the latest ones."""

    dimension_limit: int = 1000
    """Maximum number of dimensions that are tested.

    Scores take several times 8 (6 D)^2 bytes, and the evaluations of a search cannot separate more
    pairs."""

    relative_lengthscale: float = 1.4
    """Lengthscale of the one-dimensional kernels, in standard deviations of the dimension."""

    nystroem_nodes: int = 20
    """Nodes of Nyström's method: quantiles of a dimension."""

    feature_count: int = 6
    """Features kept of each dimension."""

    round_limit: int = 20
    """Maximum rounds of one test."""

    dimensions_per_pair: int = 8
    """Dimensions for each pair that joins in a round, so D / 8 pairs join at most.

    A false pair that shares a dimension with a true one is significant until the true one joins."""

    false_discovery_rate: float = 0.1
    """False discovery rate of the pairs found (Benjamini and Hochberg 1995).

    Without interactions it is the probability that a test finds any pair. The p-values are
    approximate, so the rate is 0.15 at most."""

    noise_variances: tuple[float, ...] = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0)
    """Grid of noise variances, as shares of the output variance."""

    pair_shares: tuple[float, ...] = (0.2, 0.5, 0.8)
    """Grid of the pairs' share of the output variance."""


PAIR_CONSTANTS: Final = PairTestConstants()
"""Constants of every test of pairs."""
