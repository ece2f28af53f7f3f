"""Memory of a Gaussian process, checked before it is allocated.

The covariance of N points and its factor are dense, so memory grows as N^2. A process that cannot
fit is refused with an error; otherwise the system would kill it halfway.
"""

import os
from pathlib import Path
from typing import Final

from rolecast.core.errors import ConfigError

FLOAT64_BYTES: Final = 8
"""Bytes of a float64."""

LIVE_MATRICES: Final = 5
"""Maximum matrices alive at once while a covariance is computed (Matérn, mixtures)."""

POINT_COPIES: Final = 5
"""Maximum copies of the points [N, D] at once, in covariances and gradients."""

MEMORY_INFO: Final = Path("/proc/meminfo")
CGROUP_FOLDER: Final = Path("/sys/fs/cgroup")
"""Sources of the free memory and of the limit of a container, on Linux."""


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


def available_memory() -> int:
    """Return the bytes available without swapping on Linux, elsewhere all of the machine."""
    if not MEMORY_INFO.exists():
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fields = dict(line.split(":") for line in MEMORY_INFO.read_text().splitlines())
    free = 1024 * int(fields["MemAvailable"].split()[0])
    limit = CGROUP_FOLDER / "memory.max"
    if limit.exists() and limit.read_text().strip() != "max":
        free = min(free, max(0, int(limit.read_text()) - _taken()))
    return free


def _taken() -> int:
    """Return the bytes held by a container's processes, without cached files."""
    lines = (CGROUP_FOLDER / "memory.stat").read_text().splitlines()
    files = dict(line.split() for line in lines)["inactive_file"]
    return int((CGROUP_FOLDER / "memory.current").read_text()) - int(files)
