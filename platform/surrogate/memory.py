"""How much memory a process needs, said before it is taken.

The covariance of N points and its factor are dense, so memory grows as N^2: a request that cannot
fit is refused in a sentence, where it would be killed by the system halfway.
"""

import os
from pathlib import Path
from typing import Final

from rolecast.core.errors import ConfigError

FLOAT64_BYTES: Final = 8
"""Bytes of a float64."""

LIVE_MATRICES: Final = 5
"""Matrices alive at once, at most, while a covariance is computed (Matérn, mixtures)."""

POINT_COPIES: Final = 5
"""Copies of the points [N, D] at once, at most, in covariances and gradients."""

MEMORY_INFO: Final = Path("/proc/meminfo")
CGROUP_FOLDER: Final = Path("/sys/fs/cgroup")
"""Where Linux says what is free, and what a container may take."""


def peak_bytes(points: int, dimension: int, *, queries: int = 0, fits: int = 1) -> int:
    """Return the most memory that `fit` and a `Posterior` take at once, in bytes, at most.

    8 (F N^2 + max(5 N^2, N^2 + 5 N Q) + 5 (N + Q) D): F factors; five matrices while another
    covariance is computed beside the last one, or, beside it, what answers queries; the points.

    Args:
        points: N, observations.
        dimension: D.
        queries: Q, points of one call of `mean_and_deviation`.
        fits: F, fits that are kept at once, as where evidence chooses among hyperparameters.
    """
    square, copies = points**2, POINT_COPIES * (points + queries) * dimension
    working = max(LIVE_MATRICES * square, square + LIVE_MATRICES * points * queries)
    return FLOAT64_BYTES * (fits * square + working + copies)


def most_points(dimension: int, memory: int, *, queries: int = 0, fits: int = 1) -> int:
    """Return the greatest N whose `peak_bytes` is at most `memory`, 0 where there is none."""
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
    """Refuse a process that cannot fit.

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


def available_memory() -> int:
    """Return bytes that can be taken without swapping, on Linux; else all that the machine has."""
    if not MEMORY_INFO.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fields = dict(line.split(":") for line in MEMORY_INFO.read_text().splitlines())
    free = 1024 * int(fields["MemAvailable"].split()[0])
    limit = CGROUP_FOLDER / "memory.max"
    if limit.exists() and limit.read_text().strip() != "max":
        free = min(free, max(0, int(limit.read_text()) - _taken()))
    return free


def _taken() -> int:
    """Return bytes that a container's processes hold, without the files that can be dropped."""
    lines = (CGROUP_FOLDER / "memory.stat").read_text().splitlines()
    files = dict(line.split() for line in lines)["inactive_file"]
    return int((CGROUP_FOLDER / "memory.current").read_text()) - int(files)
