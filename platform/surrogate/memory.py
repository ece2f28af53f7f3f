"""Memory of a Gaussian process, checked before it is allocated.

The covariance of N points and its factor are dense, so memory grows as N^2. A process that cannot
fit is refused with an error; otherwise the system would kill it halfway.
"""

from typing import Final

from rolecast.core.errors import ConfigError
from rolecast.core.memory import available_memory

FLOAT64_BYTES: Final = 8
"""Bytes of a float64."""

LIVE_MATRICES: Final = 5
"""Maximum matrices alive at once while a covariance is computed (Matérn, mixtures)."""

POINT_COPIES: Final = 5
"""Maximum copies of the points [N, D] at once, in covariances and gradients."""


def peak_bytes(points: int, dimension: int, *, queries: int = 0, fits: int = 1) -> int:
    """Return the peak memory of `fit` and a `Posterior`, in bytes.

    8 (F N^2 + max(5 N^2, N^2 + 5 N Q) + 5 (N + Q) D). F factors are kept. A new covariance takes
    five matrices; queries take five of [N, Q] beside one of [N, N]. The points are copied five
    times.

    Args:
        points: N, observations.
        dimension: D.
        queries: Q, points of one call of `mean_and_deviation`.
        fits: F, fits kept at once, as in a choice of hyperparameters by evidence.
    """
    square, copies = points**2, POINT_COPIES * (points + queries) * dimension
    working = max(LIVE_MATRICES * square, square + LIVE_MATRICES * points * queries)
    return FLOAT64_BYTES * (fits * square + working + copies)


def most_points(dimension: int, memory: int, *, queries: int = 0, fits: int = 1) -> int:
    """Return the maximum N with `peak_bytes` of at most `memory`; 0 where there is none."""
    low, high = 0, 1
    while peak_bytes(high, dimension, queries=queries, fits=fits) <= memory:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        fitting = peak_bytes(middle, dimension, queries=queries, fits=fits) <= memory
        low, high = (middle, high) if fitting else (low, middle)
    return low


def require_memory(
    points: int,
    dimension: int,
    *,
    queries: int = 0,
    fits: int = 1,
    available: int | None = None,
) -> None:
    """Refuse a process that does not fit in memory.

    Args:
        points: as for `peak_bytes`.
        dimension: likewise.
        queries: likewise.
        fits: likewise.
        available: bytes; None: `available_memory()`.

    Raises:
        ConfigError: there are more points than memory allows.
    """
    free = available_memory() if available is None else available
    needed = peak_bytes(points, dimension, queries=queries, fits=fits)
    if needed > free:
        most = most_points(dimension, free, queries=queries, fits=fits)
        raise ConfigError(
            "number of points of the process",
            points,
            f"at most {most:,}: it needs {needed / 2**30:.1f} GiB of memory, "
            f"and {free / 2**30:.1f} GiB are free",
        )
