"""Cliques drawn at random, where a benchmark measures time alone."""

import numpy as np


def random_cliques(dimension: int, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Return so many different cliques of 2 to 6 dimensions, each in ascending order."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        drawn = rng.choice(dimension, int(rng.integers(2, 7)), replace=False)
        found[tuple(sorted(map(int, drawn)))] = None
    return list(found)
