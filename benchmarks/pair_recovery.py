"""Pairs of dimensions that are found in returns alone, against those of a known graph.

At uniform points of the additive functions of the optimisers' table. A pair is true where a clique
of the function holds both.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rolecast.benchmarks.functions.black_boxes import additive
from rolecast.benchmarks.result_table import Row
from rolecast.benchmarks.table_text import table
from rolecast.platform.optimizers.structure.returns import pair_scores
from rolecast.platform.surrogate.outcome_transform import transform_returns

Pairs = frozenset[tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class RecoveryRun:
    """Uniform points of an additive function."""

    dimension: int
    """D."""

    points: int
    """N."""

    noise: float
    """Standard deviation of an evaluation's error, as a share of that of values over the cube."""

    seeds: int = 5
    """Seeds 0 to this less 1."""

    @property
    def key(self) -> str:
        """Name of its row."""
        sample = f"D = {self.dimension}, N = {self.points}, noise {self.noise:g}"
        return f"recovery / {sample} / {self.seeds} seeds"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"part": "recovery"}


def recovery(run: RecoveryRun) -> dict[str, Any]:
    """Look for pairs; return JSON values, a list entry a seed."""
    runs = [found_and_true(run, seed) for seed in range(run.seeds)]
    return {
        "dimension": run.dimension,
        "points": run.points,
        "noise": run.noise,
        "found": [len(found) for found, _, _ in runs],
        "found_true": [len(found & true) for found, true, _ in runs],
        "true": [len(true) for _, true, _ in runs],
        "seconds": [round(seconds, 2) for _, _, seconds in runs],
    }


def found_and_true(run: RecoveryRun, seed: int) -> tuple[Pairs, Pairs, float]:
    """Return the pairs that are found, the true ones, and the processor time of finding them."""
    function = additive(run.dimension, seed)
    assert function.cliques is not None
    true = {pair for clique in function.cliques for pair in combinations(sorted(clique), 2)}
    rng = np.random.default_rng((seed, run.dimension, run.points))
    points = rng.random((run.points, run.dimension))
    errors = run.noise * function.deviation * rng.standard_normal(run.points)
    targets, _ = transform_returns(function.value(points) + errors, "none")
    start = time.process_time()
    scores = pair_scores(points, targets, np.ones(run.points))
    seconds = time.process_time() - start
    found = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(scores)), strict=True)}
    return frozenset(found), frozenset(true), seconds


def true_of_found(row: Row) -> str:
    """Return how many of the pairs found are true, seed by seed."""
    counts = zip(row["found_true"], row["found"], strict=True)
    return ", ".join(f"{true} of {found}" if found else "none" for true, found in counts)


def recovery_page(rows: Sequence[Row]) -> str:
    """Return the part of the page."""
    head = ("D", "points", "noise", "true among those found", "true in all", "s a look")
    lines = [
        (
            str(row["dimension"]),
            f"{row['points']:,}",
            f"{row['noise']:g}",
            true_of_found(row),
            ", ".join(map(str, row["true"])),
            f"{float(np.median(row['seconds'])):.2g}",
        )
        for row in rows
    ]
    return (
        "\n## Pairs found in returns\n\n"
        "Additive functions of `rolecast bench optimizers`, seeds from 0 on, uniform points: how "
        "many pairs of dimensions are told from chance, and how many of these a clique of the "
        "function holds. Processor time of one core.\n\n"
        f"{table(head, lines)}\n"
    )
