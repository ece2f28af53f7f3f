"""Recombination weights of points by the rank of their returns."""

import numpy as np

from rolecast.core.types import Float


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
