"""Observations on which a device is compared with the reference: usual ones, ties and extremes."""

from typing import Final

import numpy as np

from rolecast.core.types import Float32

LEAST_SUBNORMAL: Final = np.float32(1e-45)
_KIND_COUNT: Final = 8

FULL_PAIRS: Final = 100
"""Pairs of agents up to which a team is checked on all vectors: ten agents."""

LEAST_VECTORS: Final = 100
"""Vectors on which the largest team is checked."""


def vector_count(most: int, agents: int) -> int:
    """Return how many vectors check a team whose agents' pairs are computed: fewer if it is large.

    Args:
        most: for a team of up to ten.
        agents: n; 1 where no pairs are computed.
    """
    return min(most, max(most * FULL_PAIRS // agents**2, LEAST_VECTORS))


def drawn_observations(
    count: int, agents: int, size: int, bound: float, rng: np.random.Generator
) -> Float32:
    """Draw observations [count, n, do] of eight kinds, in turn.

    Normal ones, three times; uniform ones up to twice the bound; equal ones for all agents (ties of
    roles); zeros of both signs and the bound itself; subnormal numbers; the largest finite ones.

    Args:
        count: V.
        agents: n.
        size: do.
        bound: to which the policy clips.
        rng: of the draw.
    """
    drawn = rng.normal(size=(count, agents, size)).astype(np.float32)
    kind = np.arange(count) % _KIND_COUNT
    shape = drawn[kind == 3].shape
    drawn[kind == 3] = rng.uniform(-2.0 * bound, 2.0 * bound, shape)
    drawn[kind == 4] = drawn[kind == 4][:, :1]
    drawn[kind == 5] = rng.choice([-bound, -0.0, 0.0, bound], drawn[kind == 5].shape)
    subnormal = rng.integers(-(2**22), 2**22, drawn[kind == 6].shape).astype(np.float32)
    drawn[kind == 6] = subnormal * LEAST_SUBNORMAL
    largest = float(np.finfo(np.float32).max)
    drawn[kind == 7] = rng.choice([-largest, -1.0, 1.0, largest], drawn[kind == 7].shape)
    return drawn
