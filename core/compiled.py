"""The one way this project compiles a kernel: numba without Python, cached on disk.

A cached kernel is good for as long as its own file, the files of all parts that it calls, those of
the SIMD library and the constants that it reads are what they were; numba itself would look at the
first alone. It is kept by this content in a folder of the user, whatever the path of the package:
a submitted job, whose working folder is new each time, compiles nothing again.
"""

import logging
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

KERNEL_LOGGER: Final = logging.getLogger("rolecast.kernels")
"""Says where kernels cannot be kept; by default on stderr."""

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
    _sources_as_imported(function)
    kept = kernel._cache  # noqa: SLF001 - no public way
    kept._cache_file = KernelFiles(  # noqa: SLF001
        kernel.py_func,
        kept._impl.filename_base,  # noqa: SLF001
        kernel_folder(),
        beside=kept.cache_path,
    )
    typed: F = kernel
    return typed


_NumbaFiles: Any = IndexDataCacheFile  # has no types


class KernelFiles(_NumbaFiles):  # type: ignore[misc]  # of Any
    """Files of one kernel, an index and a file of code for each signature.

    Differs: numba numbers the files of code without a lock. Two processes that compile different
    signatures at once could take one number, and whoever came later would load the wrong code.
    """

    def __init__(
        self, function: FunctionType, base: str, folder: Path | None, *, beside: str
    ) -> None:
        """Name nothing yet: parts of the kernel may stand below it in its file.

        Args:
            function: the kernel in Python.
            base: numba's name of the files.
            folder: where kernels are kept by content; None: in numba's own place.
            beside: that place.
        """
        super().__init__(beside if folder is None else str(folder), base, None)
        self._function, self._base, self._by_content = function, base, folder is not None
        self._told = False

    def load(self, key: object) -> Any:
        """Return what was kept for a signature; None where nothing was, or it cannot be read."""
        self._name()
        try:
            return super().load(key)
        except OSError:
            return None

    def save(self, key: object, data: object) -> None:
        """Keep the code for a signature, if there is room; else each process compiles its own."""
        self._name()
        told = sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
        name = f"{Path(self._index_path).stem}.{told}.nbc"
        try:
            self._save_data(name, data)  # before the index, which never names what is not there
            self._save_index({**self._load_index(), key: name})
        except OSError as error:
            if not self._told:
                KERNEL_LOGGER.warning(
                    "kernels cannot be kept in %s, and are compiled again in each process: %s",
                    self._cache_path,
                    error,
                )
            self._told = True

    def flush(self) -> None:
        """Forget all code of the kernel."""
        self._name()
        super().flush()

    def _name(self) -> None:
        """Name the files by what the kernel is made of, once it is used."""
        if self._source_stamp is None:
            stamp = fingerprint(self._function)
            name = f"{self._base}-{stamp[:16]}" if self._by_content else self._base
            super().__init__(self._cache_path, name, stamp)


def inlined(function: F) -> F:
    """Compile a small part of kernels: its code goes into each place that calls it.

    A call between compiled functions costs tens of nanoseconds where arrays are passed.
    """
    decorate: Any = numba.njit(fastmath=FAST_MATH, error_model="numpy", forceinline=True)
    _sources_as_imported(function)
    part: F = decorate(function)
    return part


def _sources_as_imported(function: Callable[..., object]) -> None:
    """Read what is compiled later, since a file may change between its import and first use."""
    _of_all_kernels()
    code: Any = function
    _source(code.__code__.co_filename)


@cache
def _source(file: str) -> bytes:
    """Return what a file says when it is first asked for."""
    return Path(file).read_bytes()


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
        digest.update(_source(part.__code__.co_filename))
        for name in sorted(part.__code__.co_names):
            value = part.__globals__.get(name)
            # A compiled function, an intrinsic of the SIMD library, or what an overload stands for.
            body = getattr(value, "py_func", getattr(value, "_defn", value))
            if isinstance(body, FunctionType):
                waiting.append(body)
            elif isinstance(value, int | float | str | tuple | np.generic):
                digest.update(f"{name}={value!r}".encode())
    return digest.hexdigest()
