"""The one way this project compiles a kernel: numba without Python, cached on disk."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])

FAST_MATH: Final = {"contract", "reassoc", "nsz", "arcp"}
"""Lets sums be reordered and fused, which vectors need; NaN and infinity keep their meaning."""


def compiled(function: F) -> F:
    """Compile a function of arrays and scalars; its types stay visible to checkers."""
    decorate: Any = numba.njit(cache=True, fastmath=FAST_MATH, error_model="numpy")
    kernel: F = decorate(function)
    return kernel


def inlined(function: F) -> F:
    """Compile a small part of kernels: its code goes into each place that calls it.

    A call between compiled functions costs tens of nanoseconds where arrays are passed.
    """
    decorate: Any = numba.njit(fastmath=FAST_MATH, error_model="numpy", forceinline=True)
    part: F = decorate(function)
    return part
