"""Threads and cores of a process: torch and BLAS limited to one thread, cores that it may use."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

from threadpoolctl import ThreadpoolController

from rolecast.core.cgroups import core_quota
from rolecast.core.errors import ConfigError

THREADS_VARIABLE: Final = "OMP_NUM_THREADS"
"""Read by a library when it is loaded."""


class OneThread:
    """A limit that can be entered again and again; called, it is a context manager.

    Looking for the thread pools of a process takes milliseconds, so they are looked for again only
    when modules were imported, which may have brought another pool. Torch takes seconds to load,
    and few optimisers need it: one that loads it inside finds the limit in the environment. What it
    read there it keeps, so that outside it is given the threads that it would have found.
    """

    def __init__(self) -> None:
        self._modules = -1
        self._controller: ThreadpoolController | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Compute with one thread inside."""
        if self._controller is None or self._modules != len(sys.modules):
            self._controller = _thread_pools(len(sys.modules))
            self._modules = len(sys.modules)
        torch, before = sys.modules.get("torch"), os.environ.get(THREADS_VARIABLE)
        threads = torch.get_num_threads() if torch else 1
        with self._controller.limit(limits=1):
            os.environ[THREADS_VARIABLE] = "1"
            if torch:
                torch.set_num_threads(1)
            try:
                yield
            finally:
                if before is None:
                    del os.environ[THREADS_VARIABLE]
                else:
                    os.environ[THREADS_VARIABLE] = before
                if torch:
                    torch.set_num_threads(threads)
                elif loaded := sys.modules.get("torch"):
                    loaded.set_num_threads(usable_threads(None))


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    """Return the thread pools of this process, as they are with so many modules loaded."""
    del modules
    return ThreadpoolController()


def usable_threads(asked: int | None) -> int:
    """Return the number of threads: as asked, else OMP_NUM_THREADS, else one per core.

    Raises:
        ConfigError: `asked` is no integer of at least 1.
    """
    if asked is not None:
        if type(asked) is not int or asked < 1:
            raise ConfigError("threads", asked, "an integer >= 1, or None")
        return asked
    limit = os.environ.get(THREADS_VARIABLE, "").partition(",")[0]
    if limit.isdigit() and int(limit):
        return int(limit)
    return available_cores()


def available_cores() -> int:
    """Return how many cores this process may use; all of the machine where none are withheld.

    Linux tells which cores a process may use, and how much of their time; macOS does not.
    """
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return min(cores, core_quota() or cores)
