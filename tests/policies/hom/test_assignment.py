"""Algorithm 1: SciPy's solver is the oracle, ties go to the lowest index."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from rolecast.core.compiled import compiled
from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.policies.hom.assignment import SUBSET_LIMIT, Index, assign_roles
from rolecast.policies.hom.assignment_fused import Way, assign_lanes, way_of

Assign = Callable[[Float], Index]

TEAMS = [1, 2, 3, 5, 8, SUBSET_LIMIT, SUBSET_LIMIT + 1, 15]


@compiled
def in_workspace(rows: Float32, n: int, subsets: int, paths: Way) -> None:
    best = n * n
    assign_lanes(rows, n, 0, best, best + subsets, best + 2 * subsets, paths)


def compiled_face(affinity: Float) -> Index:
    """Assign by the compiled face; affinity [R, n, n] with at most W rows."""
    count, n, _ = affinity.shape
    subsets = 1 << n if n <= SUBSET_LIMIT else 0
    rows = np.zeros((n * n + 2 * subsets + n, LANE_COUNT), dtype=np.float32)
    rows[: n * n, :count] = affinity.reshape(count, n * n).T
    in_workspace(rows, n, subsets, way_of(n))
    return rows[n * n + 2 * subsets :, :count].T.astype(np.int64)


FACES = {"reference": assign_roles, "compiled": compiled_face}


@pytest.fixture(params=FACES)
def assign(request: pytest.FixtureRequest) -> Assign:
    return FACES[request.param]


@pytest.mark.parametrize("n", TEAMS)
@pytest.mark.parametrize("spread", [1.0, 0.01], ids=["random", "nearly additive"])
def test_the_assignment_is_scipys(n: int, spread: float, assign: Assign) -> None:
    rng = np.random.default_rng(n)
    affinity = rng.normal(size=(LANE_COUNT, n, 1)) + rng.normal(size=(LANE_COUNT, 1, n))
    affinity += spread * rng.normal(size=(LANE_COUNT, n, n))
    affinity = affinity.astype(np.float32).astype(np.float64)
    expected = [linear_sum_assignment(row, maximize=True)[1] for row in affinity]
    np.testing.assert_array_equal(assign(affinity), expected)


@pytest.mark.parametrize("n", TEAMS)
@pytest.mark.parametrize("value", [0.0, 0.3])
def test_a_constant_matrix_gives_the_identity(n: int, value: float, assign: Assign) -> None:
    np.testing.assert_array_equal(assign(np.full((1, n, n), value)), [np.arange(n)])


@pytest.mark.parametrize("face", FACES)
@settings(deadline=None)  # first calls compile, or load a library
@given(data=st.data(), n=st.integers(1, 5))
def test_of_all_optimal_permutations_the_lowest_is_taken(
    face: str, data: st.DataObject, n: int
) -> None:
    # Small whole numbers: many ties, and sums that are exact in float32.
    entries = data.draw(st.lists(st.integers(-2, 2), min_size=n * n, max_size=n * n))
    affinity = np.array(entries, dtype=np.float64).reshape(n, n)
    lowest = max(
        permutations(range(n)),
        key=lambda agents: (
            affinity[np.arange(n), list(agents)].sum(),
            [-agent for agent in agents],
        ),
    )
    np.testing.assert_array_equal(FACES[face](affinity[None]), [lowest])


@pytest.mark.parametrize("n", TEAMS)
def test_no_matrix_however_broken_gives_other_than_a_permutation(n: int) -> None:
    rng = np.random.default_rng(0)
    affinity = rng.normal(size=(LANE_COUNT, n, n))
    affinity[rng.random(affinity.shape) < 0.3] = np.nan
    found = compiled_face(affinity)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(n), (LANE_COUNT, 1)))


def test_rows_are_solved_independently() -> None:
    affinity = np.random.default_rng(4).normal(size=(50, 6, 6))
    together = assign_roles(affinity)
    alone = np.concatenate([assign_roles(row[None]) for row in affinity])
    np.testing.assert_array_equal(together, alone)
