"""How much of a known graph is found in evaluations alone, at uniform points of additive functions.

The functions are those of the optimisers' table; a pair of dimensions is true where a clique of the
function holds both.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from rolecast.benchmarks.functions.black_boxes import additive
from rolecast.benchmarks.table_text import table
from rolecast.platform.optimizers.structure.returns import pair_scores
from rolecast.platform.surrogate.outcome_transform import transform_returns

Edge = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Uniform points of an additive function."""

    dimension: int
    """D."""

    points: int
    """N."""

    noise: float
    """Standard deviation of an evaluation's error, as a share of that of values over the cube."""


RECOVERY_SAMPLES: Final = tuple(
    Sample(dimension=dimension, points=points, noise=noise)
    for dimension, counts in ((20, (100, 200, 400, 800)), (100, (500, 1000, 2000)))
    for points in counts
    for noise in (0.0, 0.2)
)
QUICK_SAMPLES: Final = (Sample(dimension=8, points=120, noise=0.0),)


def found_and_true(sample: Sample, seed: int) -> tuple[set[Edge], set[Edge], float]:
    """Return the pairs that are found, the true ones, and the processor time of finding them."""
    function = additive(sample.dimension, seed)
    assert function.cliques is not None
    true = {pair for clique in function.cliques for pair in combinations(sorted(clique), 2)}
    rng = np.random.default_rng((seed, sample.dimension, sample.points))
    points = rng.random((sample.points, sample.dimension))
    errors = sample.noise * function.deviation * rng.standard_normal(sample.points)
    targets, _ = transform_returns(function.value(points) + errors, "none")
    with threadpool_limits(1):
        start = time.process_time()
        scores = pair_scores(points, targets, np.ones(sample.points))
        seconds = time.process_time() - start
    found = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(scores)), strict=True)}
    return found, true, seconds


def measure_recovery(
    *, quick: bool, seeds: int, note: Callable[[str], None]
) -> dict[str, list[dict[str, Any]]]:
    """Look for pairs in every sample; return rows of JSON values, a list entry a seed.

    Args:
        quick: a small sample only.
        seeds: seeds 0 to this less 1.
        note: told of each sample.
    """
    rows = []
    for sample in QUICK_SAMPLES if quick else RECOVERY_SAMPLES:
        runs = [found_and_true(sample, seed) for seed in range(seeds)]
        rows.append(
            {
                **asdict(sample),
                "found": [len(found) for found, _, _ in runs],
                "found_true": [len(found & true) for found, true, _ in runs],
                "true": [len(true) for _, true, _ in runs],
                "seconds": [round(seconds, 2) for _, _, seconds in runs],
            }
        )
        note(
            f"D = {sample.dimension}, N = {sample.points}, noise {sample.noise:g}: {told(rows[-1])}"
        )
    return {"recovery": rows}


def told(row: Mapping[str, Any]) -> str:
    """Return how many of the pairs found are true, seed by seed."""
    counts = zip(row["found_true"], row["found"], strict=True)
    return ", ".join(f"{true} of {found}" if found else "none" for true, found in counts)


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the part of the page."""
    head = ("D", "points", "noise", "true among those found", "true in all", "s a look")
    lines = [
        (
            str(row["dimension"]),
            f"{row['points']:,}",
            f"{row['noise']:g}",
            told(row),
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
        f"{table([head, ('---',) * len(head), *lines])}\n"
    )
