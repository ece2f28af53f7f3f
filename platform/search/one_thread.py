"""Limits torch and BLAS to one thread: sums are then the same in every process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController


class OneThread:
    """A limit that can be entered again and again; called, it is a context manager.

    Looking for the thread pools of a process takes milliseconds, so they are looked for again only
    when modules were imported, which may have brought another pool.
    """

    def __init__(self) -> None:
        self._modules = -1
        self._controller: ThreadpoolController | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Compute with one thread inside."""
        import torch  # seconds to load, and a driver whose optimiser is elsewhere needs none

        if self._controller is None or self._modules != len(sys.modules):
            self._controller = ThreadpoolController()
            self._modules = len(sys.modules)
        threads = torch.get_num_threads()
        with self._controller.limit(limits=1):
            torch.set_num_threads(1)
            try:
                yield
            finally:
                torch.set_num_threads(threads)
