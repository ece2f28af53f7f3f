"""Vectors of both precisions against numpy, over the whole range that they promise."""

import numpy as np
import pytest

from rolecast.core.compiled import compiled
from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.vectors import (
    exp2_minus,
    limit,
    load,
    reciprocal_root,
    store,
    total,
)

CASES = [(np.float32, 16, 126.0, 5e-7), (np.float64, 8, 1000.0, 2e-13)]


@compiled
def probe(values: Float, width: int, top: float, found: Float) -> float:
    """Write 1 / sqrt(v), 2^-v and the smaller of v and `top` for each v; return the sum."""
    whole = 0.0
    for first in range(0, len(values), width):
        vector = load(values, first)
        store(found[0], first, reciprocal_root(vector))
        store(found[1], first, exp2_minus(limit(vector, top)))
        store(found[2], first, limit(vector, top))
        whole += total(vector)
    return whole


@pytest.mark.parametrize(("dtype", "width", "top", "error"), CASES)
def test_roots_powers_limits_and_sums_are_those_of_numpy(
    dtype: type, width: int, top: float, error: float
) -> None:
    values: Float = np.geomspace(1e-30, 1e6, 4096).astype(dtype)
    found: Float = np.empty((3, len(values)), dtype=dtype)
    whole = probe(values, width, top, found)
    exact = values.astype(np.float64)
    np.testing.assert_allclose(found[0], 1.0 / np.sqrt(exact), rtol=error)
    np.testing.assert_allclose(found[1], np.exp2(-np.minimum(exact, top)), rtol=error)
    np.testing.assert_array_equal(found[2], np.minimum(values, dtype(top)))
    assert whole == pytest.approx(exact.sum(), rel=1e-5)
