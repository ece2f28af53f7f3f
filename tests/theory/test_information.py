"""Lemmas 6 and 8: what the sum over cliques costs in information, and how high a sample rises.

Appendix G of the DSS-GP-UCB paper. Lemma 6 is true, and holds with M where the paper has M^2; its
proof does not hold. Lemma 8 holds with a constant that hides the number of cliques.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.linalg import cholesky

from rolecast.core.types import Float
from rolecast.platform.surrogate.kernels import CliqueSum, Matern

D = 8
CLIQUES = ((0, 1, 2), (2, 3), (3, 4, 5), (5, 6), (6, 7), (0, 7))
M = len(CLIQUES)
NOISE = 0.1


def information(covariance: Float) -> float:
    """Return I(y; f) = log |I + K / sigma^2| / 2, in nats."""
    noisy = np.eye(len(covariance)) + covariance / NOISE
    return float(np.linalg.slogdet(noisy)[1] / 2.0)


def terms(points: Float, cliques: Sequence[Sequence[int]] = CLIQUES) -> list[Float]:
    """Return the covariance [T, T] of each term, of variance 1."""
    return [CliqueSum([c], np.ones(1), np.ones(1)).matrix(points, points) for c in cliques]


def most_informative(covariance: Float, count: int) -> list[int]:
    """Return points chosen one by one where the posterior variance is largest (greedy)."""
    variances, rows = np.diag(covariance).copy(), np.zeros((0, len(covariance)))
    chosen: list[int] = []
    for _ in range(count):
        pick = int(np.argmax(variances))
        chosen.append(pick)
        row = (covariance[pick] - rows[:, pick] @ rows) / np.sqrt(variances[pick] + NOISE)
        rows = np.concatenate([rows, row[None]])
        variances = variances - np.square(row)
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_information_of_a_sum_is_at_most_the_sum_of_informations(seed: int) -> None:
    """So gamma of the sum <= M max gamma, for any points: |I + A + B| <= |I + A| |I + B|.

    Differs: lemma 6 has M^2, so theorem 2 has D^(log D + 5) where its square root is enough.
    """
    rng = np.random.default_rng(seed)
    parts = terms(rng.random((40, D)) * rng.uniform(0.2, 3.0))
    each = [information(part) for part in parts]
    whole = information(np.sum(parts, axis=0))
    assert whole <= sum(each) <= M * max(each) <= M**2 * max(each)


def test_m_of_lemma_6_cannot_be_less() -> None:
    """Three terms, each of which sees four points of its own."""
    blocks = [np.zeros((12, 12)) for _ in range(3)]
    for index, block in enumerate(blocks):
        block[4 * index : 4 * index + 4, 4 * index : 4 * index + 4] = np.eye(4)
    each = [information(block) for block in blocks]
    assert information(np.sum(blocks, axis=0)) == pytest.approx(3.0 * max(each))


def test_the_proof_of_lemma_6_does_not_hold() -> None:
    """It bounds log |M I + sum K_i / sigma^2| / 2 by M sum gamma_i; where all K_i are small, by 0.

    The left side is at least T log(M) / 2: it takes the sum of eigenvalues for their product, and
    they are not all above 2.
    """
    count = 40
    parts = [1e-3 * part for part in terms(np.random.default_rng(0).random((count, D)))]
    step = np.linalg.slogdet(M * np.eye(count) + np.sum(parts, axis=0) / NOISE)[1] / 2.0
    assert step > M * sum(information(part) for part in parts)
    assert information(np.sum(parts, axis=0)) <= M * max(information(part) for part in parts)


@pytest.mark.parametrize("count", [20, 60, 150])
def test_the_structure_needs_less_information_than_none(count: int) -> None:
    """Why theorem 2 helps: gamma_T, of points chosen greedily, with the cliques and without."""
    pool = np.random.default_rng(0).random((600, D))
    structured = np.mean(terms(pool), axis=0)
    plain = Matern(1.0).matrix(pool, pool)
    found = []
    for covariance in (structured, plain):
        chosen = most_informative(covariance, count)
        found.append(information(covariance[np.ix_(chosen, chosen)]))
    assert found[0] < 0.8 * found[1]


def tops(dimension: int, samples: int) -> Float:
    """Return the suprema of samples whose graph has no edge: a sum of D functions of one each."""
    side = np.linspace(0.0, 1.0, 60)[:, None]
    factor = cholesky(Matern(0.5).matrix(side, side) + 1e-9 * np.eye(60), lower=True)
    drawn = np.random.default_rng(dimension).normal(size=(samples, dimension, 60)) @ factor.T
    return np.asarray(drawn.max(-1).sum(-1))


def test_without_normalisation_a_sample_rises_as_the_dimension_not_as_its_root() -> None:
    """Lemma 8 and assumption 1: k is a sum, so k(x, x) = M, and the constant c_b grows with M.

    From D = 4 to 64 the mean supremum grows 16 times; the lemma with one c_b has 4 times. Divided
    by the root of M, as with the project's weights of 1 / M, it is 4 times. False alarm: about 1e-6
    (normal); a growth that is off by 12 % is always seen.
    """
    count = 3000
    few, many = tops(4, count), tops(64, count)
    spread = np.hypot(few.std() / few.mean(), many.std() / many.mean()) / np.sqrt(count)
    assert 4.89 * spread < 0.06
    assert abs(many.mean() / few.mean() / 16.0 - 1.0) < 4.89 * spread
