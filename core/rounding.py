"""Standard errors of means, and numbers with the digits that their errors leave."""

from math import floor, log10
from typing import Final

import numpy as np

from rolecast.core.types import Float

ROUNDING_SHARE: Final = 1e-9
"""Difference of two returns, by their size, up to which rounding explains it."""

MOST_DIGITS: Final = 6
"""Digits after the point of the smallest errors."""


def mean_and_error(values: Float) -> tuple[float, float | None]:
    """Return the mean of values [E] and its standard error, None for a single value."""
    mean = float(values.mean())
    return mean, float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None


def digits_for(value: float, stderr: float | None, *, least: int = 1) -> int:
    """Return digits after the point: those of the first figure of the error.

    Args:
        value: measured.
        stderr: its standard error; None or 0 where there is none.
        least: fewest digits.
    """
    if not stderr:
        return max(least, 2 if 0 < abs(value) < 1 else 1)
    return min(MOST_DIGITS, max(least, -floor(log10(stderr))))


def with_error(value: float, stderr: float | None, *, sign: str = "±") -> str:
    """Write a number and its standard error.

    Args:
        value: measured.
        stderr: its standard error; None where there is none.
        sign: between the two.

    >>> with_error(188.62, 2.6), with_error(0.7134, 0.041), with_error(15.0, None)
    ('188.6 ± 2.6', '0.71 ± 0.04', '15.0')
    """
    digits = digits_for(value, stderr)
    text = f"{value:.{digits}f}"
    return text if stderr is None else f"{text} {sign} {stderr:.{digits}f}"
