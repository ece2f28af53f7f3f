"""The sentence on top of a report: how the result stands to what it is held against."""

from collections.abc import Sequence
from math import hypot
from typing import Any, Final

from rolecast.core.rounding import ROUNDING_SHARE, digits_for
from rolecast.platform.search.records.measurements import Yardstick

STANDARD_ERRORS: Final = 2.0
"""Standard errors of a difference from which one return counts as higher than another."""


def verdict(mean: float, stderr: float | None, yardsticks: Sequence[Yardstick]) -> str:
    """Say in one sentence how a held-out return stands to those of other policies.

    Args:
        mean: held-out return.
        stderr: its standard error; None where one episode gave none.
        yardsticks: what it is held against; errors are taken as independent.

    >>> chase = Yardstick(name="scripted chase", mean=135.0, stderr=2.0)
    >>> pursuit = Yardstick(name="scripted pursuit", mean=193.0, stderr=2.0)
    >>> verdict(180.0, 2.2, [chase, pursuit])
    'Held-out return 180.0 +- 2.2: better than scripted chase by 45 +- 3; below scripted pursuit \
by 13 +- 3.'
    """
    held = Yardstick(name="", mean=mean, stderr=stderr)
    ranked = sorted(yardsticks, key=lambda each: each.mean)
    clauses = "; ".join(_clause(held, each) for each in ranked)
    return f"Held-out return {held.text}" + (f": {clauses}." if clauses else ".")


def _clause(held: Yardstick, other: Yardstick) -> str:
    difference = held.mean - other.mean
    error = hypot(held.stderr or 0.0, other.stderr or 0.0)
    digits = digits_for(difference, error, least=0)
    rounding = ROUNDING_SHARE * max(abs(held.mean), abs(other.mean))
    if abs(difference) <= rounding:
        return f"level with {other.name}"
    if held.stderr is None or other.stderr is None:
        where = "above" if difference > 0 else "below"
        return f"{where} {other.name} by {abs(difference):.{digits}f} (no error is known)"
    by = f"{abs(difference):.{digits}f} +- {error:.{digits}f}"
    if abs(difference) <= STANDARD_ERRORS * error:
        return f"level with {other.name} (difference {difference:.{digits}f} +- {error:.{digits}f})"
    return f"better than {other.name} by {by}" if difference > 0 else f"below {other.name} by {by}"


def verdict_of(summary: dict[str, Any] | None, yardsticks: Sequence[Yardstick]) -> str:
    """Return the verdict on a run; what is missing where it has not finished."""
    if summary is None:
        return "Not finished: there is no held-out return yet."
    return verdict(summary["test_return"], summary["test_stderr"], yardsticks)
