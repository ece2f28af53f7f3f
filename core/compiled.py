"""The one way this project compiles a kernel: numba without Python, cached on disk.

A cached kernel is good for as long as its own file, the files of all parts that it calls, those of
the SIMD library and the constants that it reads are what they were; numba itself would look at the
first alone. It is kept by this content in a folder of the user, whatever the path of the package:
a submitted job, whose working folder is new each time, compiles nothing again.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar

import numba
import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba.core.caching import IndexDataCacheFile

from rolecast.core.user_folders import kernel_folder

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
    kept, stamp = kernel._cache, fingerprint(kernel.py_func)  # noqa: SLF001 - no public way
    folder = kernel_folder()
    if folder is None:
        kept._cache_file._source_stamp = stamp  # noqa: SLF001
    else:
        name = f"{kept._impl.filename_base}-{stamp[:16]}"  # noqa: SLF001
        files: Any = IndexDataCacheFile
        kept._cache_file = files(str(folder), name, stamp)  # noqa: SLF001
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
def _of_all_kernels() -> bytes:
    """Return what goes into every kernel: kind of processor, and sources of the SIMD library.

    A kernel names none of the library's operators that it uses. Machines of several kinds may share
    a folder.
    """
    processor = get_host_cpu_name() + get_host_cpu_features().flatten()
    sources = sorted(Path(__file__).with_name("simd").glob("*.py"))
    return b"".join([processor.encode(), *(file.read_bytes() for file in sources)])


def fingerprint(function: FunctionType) -> str:
    """Return a digest of all that goes into a kernel: files of its parts, values of constants."""
    digest = sha256(_of_all_kernels())
    waiting, met = [function], set[FunctionType]()
    while waiting:
        part = waiting.pop()
        if part in met:
            continue
        met.add(part)
        digest.update(Path(part.__code__.co_filename).read_bytes())
        for name in sorted(part.__code__.co_names):
            value = part.__globals__.get(name)
            # A compiled function, an intrinsic of the SIMD library, or what an overload stands for.
            body = getattr(value, "py_func", getattr(value, "_defn", value))
            if isinstance(body, FunctionType):
                waiting.append(body)
            elif isinstance(value, int | float | str | tuple | np.generic):
                digest.update(f"{name}={value!r}".encode())
    return digest.hexdigest()
