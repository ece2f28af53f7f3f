"""Time and memory of an optimiser's proposals: one process for each measurement.

An optimiser that was told N - 20 evaluations is told 20 more and asked for 20 candidates: processor
time of both, as some learn when told and some when asked, and memory beyond the libraries'.
"""

import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection
from signal import SIGXCPU
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from rolecast.benchmarks.functions.published import LARGEST_DIMENSIONS
from rolecast.benchmarks.result_table import ResultTable, Row, markdown_table, place
from rolecast.benchmarks.timing import peak_mib
from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.platform.optimizers.registry import (
    BASELINES,
    OPTIMIZERS,
    make_optimizer,
    optimizer_config_class,
)

PROPOSAL_DIMENSIONS: Final = (20, 100, 400)
TOLD_COUNTS: Final = (100, 500, 1000, 2000)
ASK_BATCH: Final = 20
"""Candidates asked for."""

WHOLE_MEMORY_KEY: Final = "memory_of_all_tells"
"""In a row whose memory counts from the first evaluation; in older ones it counts from the last
`ASK_BATCH`, so that what a fit took before them is missing."""

TIME_LIMIT_S: Final = 120
"""Processor seconds after which a measurement is given up."""


@dataclass(frozen=True, kw_only=True)
class ProposalRun:
    """One optimiser in one number of dimensions, told more and more."""

    optimizer: str
    """Name in the registry."""

    dimension: int
    """D."""

    told: tuple[int, ...] = TOLD_COUNTS
    """N, ascending; where one takes longer than the limit, those after it are not tried."""

    limit: int = TIME_LIMIT_S
    """Processor seconds of one measurement."""

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"{self.optimizer} / {self.dimension}"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"optimizer": self.optimizer, "dimension": str(self.dimension)}


def proposal_runs() -> list[ProposalRun]:
    """Return all optimisers in all numbers of dimensions that they take, small ones first."""
    return [
        ProposalRun(optimizer=name, dimension=dimension)
        for dimension in PROPOSAL_DIMENSIONS
        for name in (*OPTIMIZERS, *BASELINES)
        if dimension <= LARGEST_DIMENSIONS.get(name, dimension)
    ]


def quick_proposal_runs() -> list[ProposalRun]:
    """Return a table of seconds that says nothing, to see that the command works."""
    return [ProposalRun(optimizer=name, dimension=4, told=(30, 60)) for name in ("cmaes", "rducb")]


def settings_of(name: str) -> dict[str, Any]:
    """Return what makes an optimiser propose by its model: a first design of few points."""
    known = {each.name for each in fields(optimizer_config_class(name))}  # type: ignore[arg-type]
    return {"initial": ASK_BATCH} if "initial" in known else {}


def run_proposals(run: ProposalRun) -> dict[str, Any]:
    """Measure one run; return one row, JSON values: seconds and MiB, None beyond the limit."""
    seconds: list[float | None] = []
    memory: list[float | None] = []
    for told in run.told:
        found = None
        if None not in seconds:
            found = in_a_process(run.optimizer, run.dimension, told, run.limit)
        seconds.append(None if found is None else found["seconds"])
        memory.append(None if found is None else found["mib"])
    return {
        "key": run.key,
        "optimizer": run.optimizer,
        "dimension": run.dimension,
        "told": list(run.told),
        "limit": run.limit,
        "seconds": seconds,
        "mib": memory,
        WHOLE_MEMORY_KEY: True,
    }


def in_a_process(name: str, dimension: int, told: int, limit: int) -> Mapping[str, float] | None:
    """Measure in a fresh process; None where it used up its processor seconds.

    Raises:
        RunError: the process ended for another reason.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(name, dimension, told, limit, theirs))
    process.start()
    theirs.close()
    try:
        found: Mapping[str, float] | None = ours.recv()
    except EOFError:
        found = None
    process.join()
    if found is None and process.exitcode != -SIGXCPU:
        raise RunError(f"{name} with D = {dimension}, N = {told} ended with {process.exitcode}")
    return found


def _measure(name: str, dimension: int, told: int, limit: int, answers: Connection) -> None:
    """Tell, ask, and send what that took."""
    import torch

    torch.set_num_threads(1)
    threadpool_limits(1)
    answers.send(measure(name, dimension, told, limit))


def measure(name: str, dimension: int, told: int, limit: int | None) -> dict[str, float]:
    """Return the processor seconds of the last tell and an ask, and MiB of all beyond the start.

    What a library compiles at its first call is not counted: another, small optimiser of the same
    name is asked before. Seconds are of the last tell and the ask, memory is of all tells too.

    Args:
        name: in the registry.
        dimension: D.
        told: N.
        limit: processor seconds, from here on, after which the system ends this process; None: no
            limit.
    """
    settings = settings_of(name)
    small = make_optimizer(name, dimension=4, **settings)
    small.tell(*_evaluations(4, 2 * ASK_BATCH))
    small.ask(2)
    optimizer = make_optimizer(name, dimension=dimension, **settings)
    points, values, errors = _evaluations(dimension, told)
    before = peak_mib()  # a peak of the first tell, whose fit may take the most, counts
    optimizer.tell(points[:-ASK_BATCH], values[:-ASK_BATCH], errors[:-ASK_BATCH])
    if limit is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time()) + limit, hard))
    start = time.process_time()
    optimizer.tell(points[-ASK_BATCH:], values[-ASK_BATCH:], errors[-ASK_BATCH:])
    optimizer.ask(ASK_BATCH)
    seconds = time.process_time() - start
    after = peak_mib()
    return {"seconds": round(seconds, 4), "mib": round(after - before, 1)}


def _evaluations(dimension: int, count: int) -> tuple[Float, Float, Float]:
    """Return uniform points [N, D] and noisy values of a smooth function there, with errors."""
    rng = np.random.default_rng((dimension, count))
    points = rng.random((count, dimension))
    values = -np.square(points - 0.3).mean(1) + 0.02 * rng.standard_normal(count)
    return points, values, np.full(count, 0.02)


def markdown(rows: Sequence[Row]) -> str:
    """Return the page: one table, a line for each optimiser and number of dimensions."""
    told = sorted({count for row in rows for count in row["told"]})
    limits = ", ".join(str(limit) for limit in sorted({row["limit"] for row in rows}))
    lines = []
    for row in rows:
        found = dict(zip(row["told"], zip(row["seconds"], row["mib"], strict=True), strict=True))
        entries = [_entry(found.get(count), row["limit"]) for count in told]
        lines.append((row["optimizer"], str(row["dimension"]), *entries))
    older = dict.fromkeys(row["optimizer"] for row in rows if not row.get(WHOLE_MEMORY_KEY))
    less = (
        f" Memory of {', '.join(older)}: without what earlier evaluations had taken."
        if older
        else ""
    )
    head = ("optimiser", "D", *(f"N = {count:,}" for count in told))
    return (
        "# What a proposal costs\n\n"
        f"Processor seconds of one core to take in the last {ASK_BATCH} of N evaluations and to be "
        f"asked for {ASK_BATCH} candidates, with the fit that is due, and MiB beyond those of "
        f"libraries and data, from the first evaluation on.{less} Each measurement "
        f"is a process of its own; one that takes more than {limits} s is given up (`>`), and so "
        "are those with more evaluations. Default settings, but for a first design of "
        f"{ASK_BATCH} points, so that models are used. Written by `rolecast bench proposals`.\n\n"
        f"{markdown_table(head, lines)}\n"
    )


def _entry(found: tuple[float | None, float | None] | None, limit: int) -> str:
    if found is None:
        return ""
    seconds, mib = found
    if seconds is None or mib is None:
        return f"> {limit} s"
    time = f"{seconds:.1f}" if seconds >= 1.0 else f"{max(seconds, 0.001):.3f}"
    return f"{time} s, {mib:.0f} MiB"


PROPOSALS_TABLE: Final[ResultTable[ProposalRun]] = ResultTable(
    file="proposals.json",
    kinds=("optimizer", "dimension"),
    run=run_proposals,
    order=lambda row: (place(row["optimizer"], [*OPTIMIZERS, *BASELINES]), row["dimension"]),
    line=lambda row: f"{row['seconds']} s",
    pages=lambda rows: {"proposals.md": markdown(rows).encode()},
)
