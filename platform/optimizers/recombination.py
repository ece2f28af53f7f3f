"""Size of a generation, and recombination weights of its points by the rank of their returns."""

from typing import Final

import numpy as np

from rolecast.core.types import Float

LEAST_GENERATION: Final = 4
"""Candidates of the smallest generation."""


def first_population(batch: int, dimension: int, *, paired: bool = False) -> int:
    """Return the candidates of a generation: the first batch, an even number of it in pairs.

    Of a batch below 4, as where candidates are asked for one at a time, it is 4 + 3 ln D.

    Source: Hansen (2016), table 1.
    """
    alone = LEAST_GENERATION + int(3.0 * np.log(dimension))
    size = batch if batch >= LEAST_GENERATION else alone
    return size - size % 2 if paired else size


def recombination_weights(returns: Float) -> Float:
    """Return weights [n] of sum 1 for returns [n], logarithmic in the rank k, 0 for the worse half.

    w_k = max(0, log(n / 2 + 1) - log k) / sum_j max(0, log(n / 2 + 1) - log j).

    Source: Wierstra et al. (2014), fitness shaping: u_k without its -1 / n. Differs: equal returns
    get the mean of their weights.
    """
    count = len(returns)
    by_rank = np.maximum(np.log(count / 2.0 + 1.0) - np.log(np.arange(1, count + 1)), 0.0)
    _, group = np.unique(-returns, return_inverse=True)
    shares = np.bincount(group, by_rank[np.argsort(np.argsort(group, kind="stable"))])
    weights = (shares / np.bincount(group))[group]
    return np.asarray(weights / weights.sum())
