"""Processes of a pool that end when the one which began them is gone."""

import os
import threading
from multiprocessing import parent_process


def end_with_parent() -> None:
    """End this process once its parent is gone, killed or not: none would read what it computes.

    An initializer of a `ProcessPoolExecutor`; in a process without such a parent it does nothing.
    """
    threading.Thread(target=_await_parent, daemon=True).start()


def _await_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
