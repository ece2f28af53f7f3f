"""Processes in which the cells of a table are computed, each on one core."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from threadpoolctl import threadpool_limits

from rolecast.core.mortal import end_with_parent

Cell = TypeVar("Cell")
Result = TypeVar("Result")


def results(
    cells: Sequence[Cell], run: Callable[[Cell], Result], processes: int
) -> Iterator[Result]:
    """Yield results as cells end; when one fails, what has not begun is dropped.

    Its error is raised behind the results of those that had begun: they may have taken hours too.

    Args:
        cells: what to compute, values that pickle.
        run: computes one, in a process of its own.
        processes: cells at once.
    """
    if not cells:
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_settle)
    try:
        futures = [pool.submit(run, cell) for cell in cells]
        failure: BaseException | None = None
        for future in as_completed(futures):
            if future.cancelled():
                continue
            error = future.exception()
            if error is None:
                yield future.result()
            elif failure is None:
                failure = error
                for other in futures:
                    other.cancel()
        if failure is not None:
            raise failure
    finally:
        pool.shutdown(cancel_futures=True)


def _settle() -> None:
    """Keep a process to one core, so that cells beside each other do not wait, and mortal."""
    import torch

    torch.set_num_threads(1)
    threadpool_limits(1)
    end_with_parent()
