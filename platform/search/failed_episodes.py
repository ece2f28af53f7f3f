"""What an episode counts as whose environment failed, where the search goes on."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.rollout.chunks import BatchResult


def settled(
    result: BatchResult, lowest: tuple[float, float], note: Callable[[str], None]
) -> BatchResult:
    """Return a batch in which failed episodes count as the lowest return so far.

    What they had earned until they failed may be more: rewards may be costs. The lowest return
    depends on the batches in the journal and on this one, so that a resumed search has the same.

    Args:
        result: of the batch.
        lowest: return of an episode of earlier batches, as earned and as paid; infinity for none.
        note: tells the user, once a batch.
    Raises:
        RunError: there is no such return, as all episodes of the first batch failed.
    """
    if result.failed is None:
        return result
    earned = _lowest(result.returns, result.failed, lowest[0])
    paid = _lowest(result.observed_returns, result.failed, lowest[1])
    first = result.failures[0] if result.failures else "unknown"
    count, episodes = int(result.failed.sum()), result.failed.size
    if not np.isfinite(earned):
        raise RunError(f"{first}; all {episodes} episodes of the first batch failed")
    note(f"{first}; {count} of {episodes} episodes failed and count as the lowest, {earned:.4g}")
    return replace(
        result,
        returns=np.where(result.failed, earned, result.returns),
        observed_returns=np.where(result.failed, paid, result.observed_returns),
    )


def _lowest(
    returns: Float, failed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], known: float
) -> float:
    """Return the lowest of what is known and of episodes [q, E] that did not fail."""
    return min(known, float(returns.min(where=~failed, initial=np.inf)))
