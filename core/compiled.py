"""The one way this project compiles a kernel: numba without Python, cached on disk.

A cached kernel is good for as long as its own file, the files of all parts that it calls, those of
the SIMD library and the constants that it reads are what they were; numba itself would look at the
first alone.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., object])

FAST_MATH: Final = {"contract", "reassoc", "nsz", "arcp"}
"""Lets sums be reordered and fused, which vectors need; NaN and infinity keep their meaning."""


def compiled(function: F) -> F:
    """Compile a function of arrays and scalars; its types stay visible to checkers."""
    return _cached(function, FAST_MATH)


def compiled_exactly(function: F) -> F:
    """Compile as `compiled` does, but to round as NumPy does: no sum is reordered or fused."""
    return _cached(function, False)


def _cached(function: F, fast_math: set[str] | bool) -> F:
    decorate: Any = numba.njit(cache=True, nogil=True, fastmath=fast_math, error_model="numpy")
    kernel: Any = decorate(function)
    cache = kernel._cache._cache_file  # noqa: SLF001 - numba offers no way to add to the stamp
    cache._source_stamp = (cache._source_stamp, _fingerprint(kernel.py_func))  # noqa: SLF001
    typed: F = kernel
    return typed


def inlined(function: F) -> F:
    """Compile a small part of kernels: its code goes into each place that calls it.

    A call between compiled functions costs tens of nanoseconds where arrays are passed.
    """
    decorate: Any = numba.njit(fastmath=FAST_MATH, error_model="numpy", forceinline=True)
    part: F = decorate(function)
    return part


@cache
def _simd_sources() -> bytes:
    """Return the sources of the SIMD library: a kernel names none of the operators that it uses."""
    return b"".join(
        file.read_bytes() for file in sorted(Path(__file__).with_name("simd").glob("*.py"))
    )


def _fingerprint(function: FunctionType) -> str:
    """Return a digest of all that goes into a kernel: files of its parts, values of constants."""
    digest = sha256(_simd_sources())
    waiting, met = [function], set[FunctionType]()
    while waiting:
        part = waiting.pop()
        if part in met:
            continue
        met.add(part)
        digest.update(Path(part.__code__.co_filename).read_bytes())
        for name in sorted(part.__code__.co_names):
            value = part.__globals__.get(name)
            # A compiled function, or an intrinsic of the SIMD library.
            body = getattr(value, "py_func", getattr(value, "_defn", None))
            if isinstance(body, FunctionType):
                waiting.append(body)
            elif isinstance(value, int | float | str | tuple | np.generic):
                digest.update(f"{name}={value!r}".encode())
    return digest.hexdigest()
