"""Maximisation of sums of products: against a full grid, and against what the terms add up to."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.term_ascent import (
    KernelTerms,
    SumOfProducts,
    TermAscent,
    vertex,
)

CLIQUES = ((0, 1), (1, 2), (0, 2))
"""A cycle, so that no order of elimination is trivial."""


def waves(rng: np.random.Generator, rows: int) -> NDArray[np.complex128]:
    """Return random complex amplitudes [rows, 8]."""
    parts = 0.1 * rng.standard_normal((2, rows, 8))
    return np.asarray(parts[0] + 1j * parts[1], dtype=np.complex128)


def functions(seed: int, rows: int) -> SumOfProducts:
    """Return random functions of three dimensions, of kernels and waves."""
    rng = np.random.default_rng(seed)
    return SumOfProducts(
        terms=KernelTerms(
            cliques=CLIQUES,
            lengthscales=np.array([0.3, 0.4, 0.5]),
            weights=np.full(3, 1.0 / 3.0),
        ),
        points=rng.random((30, 3)),
        coefficients=rng.standard_normal((rows, 30)),
        frequencies=[4.0 * rng.standard_normal((2, 8)) for _ in CLIQUES],
        amplitudes=[waves(rng, rows) for _ in CLIQUES],
    )


def values(summed: SumOfProducts, row: int, points: Float) -> Float:
    """Return the values [Q] of one function, term by term as its definition says."""
    total = np.zeros(len(points))
    for term, clique in enumerate(CLIQUES):
        columns = list(clique)
        shifts = points[:, None, columns] - summed.points[:, columns]
        squared = np.square(shifts / summed.terms.lengthscales[term]).sum(2)
        total += summed.terms.weights[term] * np.exp(-0.5 * squared) @ summed.coefficients[row]
        turned = np.exp(1j * points[:, columns] @ summed.frequencies[term])
        total += (turned @ summed.amplitudes[term][row]).real
    return total


@pytest.mark.parametrize("seed", range(2))
def test_annealing_finds_what_a_full_grid_finds(seed: int) -> None:
    summed, rng = functions(seed, 6), np.random.default_rng(0)
    grid = np.array(list(product(np.linspace(0.0, 1.0, GLOBAL_CONSTANTS.grid_values), repeat=3)))
    found = TermAscent(summed).maximise(rng.random((6, 3)), rng, temperature=1.0, annealed=True)
    gaps = []
    for row in range(6):
        everywhere = values(summed, row, grid)
        reached = values(summed, row, found[row : row + 1])[0]
        gaps.append((everywhere.max() - reached) / everywhere.std())
    # Most runs end at the global maximum, and none at a poor one.
    assert np.median(gaps) < 0.02
    assert max(gaps) < 1.0


def test_a_climb_never_ends_below_its_start() -> None:
    summed, rng = functions(9, 10), np.random.default_rng(1)
    starts = rng.integers(0, GLOBAL_CONSTANTS.grid_values, (10, 3)) / (
        GLOBAL_CONSTANTS.grid_values - 1
    )
    ends = TermAscent(summed).maximise(starts, rng, temperature=1.0, annealed=False)
    for row in range(10):
        before, after = (values(summed, row, each[row : row + 1])[0] for each in (starts, ends))
        assert after > before


def test_the_vertex_of_a_parabola_is_exact_and_bounds_stay() -> None:
    grid = np.linspace(0.0, 1.0, GLOBAL_CONSTANTS.grid_values)
    lines = np.stack([-np.square(grid - 0.437), grid, -grid, np.zeros_like(grid)])
    np.testing.assert_allclose(vertex(lines), [0.437, 1.0, 0.0, 0.0], atol=1e-12)
