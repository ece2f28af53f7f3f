"""Asks and tells an optimiser to the end of a budget: the loop of all tables of functions."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.protocol import Optimizer, Paced


@dataclass(frozen=True)
class Incumbent:
    """What an optimiser has at one place of its budget."""

    point: Float
    """[D], `best()`."""

    greatest: float
    """The greatest value that it was told."""

    evaluations: int
    """Told so far."""

    seconds: float
    """Processor time that it took so far."""


def incumbents(
    optimizer: Optimizer,
    evaluate: Callable[[Float], Float],
    *,
    evaluations: int,
    batch: int,
    marks: int,
    stderr: float = 0.0,
    after_each: bool = False,
) -> Iterator[Incumbent]:
    """Yield what an optimiser has at places along its budget, evenly spaced.

    Args:
        optimizer: a fresh one.
        evaluate: values [q] of candidates [q, D].
        evaluations: budget.
        batch: q.
        marks: places.
        stderr: what each evaluation is told to err by.
        after_each: ask for `best()` after each batch, as a search does, so that its time counts;
            else at the marks alone.
    """
    batches = evaluations // batch
    places = {round(batches * mark / marks) for mark in range(1, marks + 1)}
    spent, greatest = 0.0, -np.inf
    for place in range(1, batches + 1):
        start = time.process_time()
        if isinstance(optimizer, Paced):
            optimizer.pace((place - 1) / batches)
        candidates = optimizer.ask(batch)
        spent += time.process_time() - start
        values = evaluate(candidates)
        greatest = max(greatest, float(values.max()))
        start = time.process_time()
        optimizer.tell(candidates, values, np.full(batch, stderr))
        best = optimizer.best() if after_each or place in places else None
        spent += time.process_time() - start
        if best is not None and place in places:
            yield Incumbent(best, greatest, place * batch, round(spent, 3))
