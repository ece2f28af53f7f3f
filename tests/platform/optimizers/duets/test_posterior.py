"""The posterior against brute force: exact variance, low rank, sparse mean, accuracy of Nystrom."""

import math

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets import posterior
from rolecast.platform.optimizers.duets.kernel import KERNEL_FORMS, StationaryKernel
from rolecast.platform.optimizers.duets.posterior import (
    agent_projection,
    aggregate_projections,
    gram_factor,
    inducing_factor,
    inducing_features,
    largest_variance,
    mean_weights,
    sparse_mean,
    sparse_variance,
)

NOISE = 0.04


def exact_variance(kernel: StationaryKernel, points: Float, queries: Float) -> Float:
    """Equation 4 with an inverse."""
    inverse = np.linalg.inv(kernel.matrix(points, points) + NOISE * np.eye(len(points)))
    across = kernel.matrix(points, queries)
    return np.asarray(1.0 - np.einsum("nq,nm,mq->q", across, inverse, across))


def variance_left(
    kernel: StationaryKernel, points: Float, inducing: Float, queries: Float
) -> Float:
    """Equation 6 without its factor lambda on the left."""
    factor = inducing_factor(kernel, inducing)
    Z = inducing_features(kernel, factor, inducing, points)
    z = inducing_features(kernel, factor, inducing, queries)
    gram = Z.T @ Z
    middle = gram @ np.linalg.inv(NOISE * np.eye(len(gram)) + gram)
    return np.asarray(1.0 - np.einsum("qs,st,qt->q", z, middle, z))


@pytest.mark.parametrize("form", KERNEL_FORMS)
def test_the_largest_variance_is_that_of_equation_4(form: str) -> None:
    kernel, rng = StationaryKernel(form, 0.3), np.random.default_rng(0)
    points, queries = rng.random((60, 2)), rng.random((500, 2))
    expected = exact_variance(kernel, points, queries).max()
    assert largest_variance(kernel, NOISE, points, queries) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("dimension", [1, 2])
def test_a_factor_of_low_rank_gives_the_variance_of_the_whole_covariance(
    dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, rng = StationaryKernel("squared_exponential", 0.3), np.random.default_rng(0)
    points, queries = rng.random((900, dimension)), rng.random((300, dimension))
    expected = largest_variance(kernel, NOISE, points, queries)
    monkeypatch.setattr(posterior, "DENSE_POINTS", 100)
    monkeypatch.setattr(posterior, "POOL_POINTS", 50)
    monkeypatch.setattr(posterior, "BLOCK_ENTRIES", 5000)
    found = largest_variance(kernel, NOISE, points, queries)
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_covariance_of_full_rank_that_does_not_fit_in_memory_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posterior, "DENSE_POINTS", 100)
    monkeypatch.setattr(posterior, "LARGEST_RANK", 20)
    monkeypatch.setattr("rolecast.platform.surrogate.memory.available_memory", lambda: 1_000_000)
    points = np.random.default_rng(0).random((400, 2))
    with pytest.raises(ConfigError, match="number of points of the process is 400; expected at"):
        largest_variance(StationaryKernel("matern12", 0.1), NOISE, points, points)


def test_an_inducing_set_that_does_not_fit_in_memory_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = np.random.default_rng(0).random((400, 2))
    kernel = StationaryKernel("matern12", 0.1)
    assert inducing_factor(kernel, points).shape == (400, 400)
    monkeypatch.setattr(posterior, "DENSE_POINTS", 100)
    monkeypatch.setattr("rolecast.platform.surrogate.memory.available_memory", lambda: 1_000_000)
    with pytest.raises(ConfigError, match="number of points of the process is 400; expected at"):
        inducing_factor(kernel, points)


def test_with_all_points_inducing_the_sparse_posterior_is_the_exact_one() -> None:
    """Equation 6 as printed would be 25 times too large."""
    kernel, rng = StationaryKernel("matern52", 0.5), np.random.default_rng(2)
    points, queries, values = rng.random((30, 2)), rng.random((20, 2)), rng.random(30)
    covariance = kernel.matrix(points, points) + NOISE * np.eye(30)
    expected = kernel.matrix(queries, points) @ np.linalg.solve(covariance, values)
    factor = inducing_factor(kernel, points)
    total = agent_projection(kernel, factor, points, points, values)
    vector = aggregate_projections(gram_factor(kernel, factor, points, points, NOISE), total)
    weights = mean_weights(factor, vector)
    np.testing.assert_allclose(sparse_mean(kernel, points, weights, queries), expected, atol=1e-7)
    np.testing.assert_allclose(
        variance_left(kernel, points, points, queries),
        exact_variance(kernel, points, queries),
        atol=1e-7,
    )


def test_the_variance_that_inducing_points_leave_is_that_of_equation_6() -> None:
    kernel, rng = StationaryKernel("matern52", 0.3), np.random.default_rng(5)
    points, queries = rng.random((40, 2)), rng.random((25, 2))
    inducing = points[::6]
    factor = inducing_factor(kernel, inducing)
    outer = gram_factor(kernel, factor, inducing, points, NOISE)
    found = sparse_variance(kernel, factor, outer, inducing, NOISE, queries)
    np.testing.assert_allclose(found, variance_left(kernel, points, inducing, queries), atol=1e-8)


def test_the_agents_vectors_add_up_to_that_of_all_values() -> None:
    kernel, rng = StationaryKernel("squared_exponential", 0.3), np.random.default_rng(3)
    points, values = rng.random((5, 12, 2)), rng.standard_normal((5, 12))
    inducing = points.reshape(-1, 2)[::4]
    factor = inducing_factor(kernel, inducing)
    total = sum(
        agent_projection(kernel, factor, inducing, *pair)
        for pair in zip(points, values, strict=True)
    )
    Z = inducing_features(kernel, factor, inducing, points.reshape(-1, 2))
    np.testing.assert_allclose(total, Z.T @ values.ravel(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_at_the_theorems_probability_the_sparse_variance_is_within_a_factor_of_3(
    seed: int,
) -> None:
    """p_0 = 72 log(4 N T / delta'), here with delta' = 0.1: Lemma A.3, epsilon = 1/2.

    1,500 points of one dimension, so that the probability is below 1.
    """
    kernel, rng = StationaryKernel("squared_exponential", 0.5), np.random.default_rng(seed)
    points, queries = rng.random((1500, 1)), np.linspace(0.0, 1.0, 200)[:, None]
    variance = largest_variance(kernel, NOISE, points, queries)
    probability = 72 * math.log(4 * 1500 / 0.1) * variance
    assert probability < 0.9
    inducing = points[rng.random(1500) < probability]
    ratio = variance_left(kernel, points, inducing, queries)
    ratio = ratio / exact_variance(kernel, points, queries)
    assert ratio.min() > 1 / 3
    assert ratio.max() < 3


def test_a_mean_has_the_same_bits_in_any_company() -> None:
    kernel, rng = StationaryKernel("squared_exponential", 0.3), np.random.default_rng(4)
    inducing, weights, points = rng.random((33, 2)), rng.standard_normal(33), rng.random((70, 2))
    whole = sparse_mean(kernel, inducing, weights, points)
    for rows in (slice(0, 1), slice(13, 20), slice(69, 70)):
        np.testing.assert_array_equal(
            sparse_mean(kernel, inducing, weights, points[rows]), whole[rows]
        )
