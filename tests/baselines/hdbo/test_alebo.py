"""ALEBO's embedding, its kernel and its polytope are those of the paper, held to NumPy."""

from typing import Any

import numpy as np
import torch
from gpytorch.kernels import ScaleKernel

from rolecast.baselines.hdbo.alebo import Alebo, AleboConfig
from rolecast.baselines.hdbo.mahalanobis import (
    IntegratedProcess,
    MahalanobisKernel,
    curvature,
    random_start,
)
from rolecast.baselines.hdbo.surrogate import default_noise, process
from rolecast.core.types import Float

FACTOR = np.array([[1.3, -0.4, 0.2], [0.0, 0.7, 0.9], [0.0, 0.0, 2.1]])
INPUTS = np.random.default_rng(0).standard_normal((12, 3))
TARGETS = np.sin(INPUTS @ np.array([1.0, -0.5, 0.3]))
NOISE = 0.05
ENTRIES = np.triu_indices(3)


def mahalanobis(one: Float, other: Float, factor: Float) -> Float:
    apart = one[:, None] - other
    return np.asarray(np.exp(-0.5 * np.einsum("nmi,ij,nmj->nm", apart, factor.T @ factor, apart)))


def fitted() -> Any:
    """Return a process with known hyperparameters: unit scale, mean 0."""
    kernel = ScaleKernel(MahalanobisKernel(FACTOR)).double()
    kernel.outputscale = 1.0
    model = process(INPUTS, TARGETS, np.zeros(12), kernel, default_noise()).eval()
    with torch.no_grad():
        model.likelihood.second_noise_covar.noise = NOISE - 1e-6
    return model


def test_the_kernel_is_that_of_the_mahalanobis_distance() -> None:
    kernel = MahalanobisKernel(FACTOR)
    one, other = torch.as_tensor(INPUTS[:5]), torch.as_tensor(INPUTS[5:])
    with torch.no_grad():
        covariance = kernel(one, other).to_dense().numpy()
        np.testing.assert_allclose(kernel(one, diag=True).numpy(), np.ones(5))
    np.testing.assert_allclose(covariance, mahalanobis(INPUTS[:5], INPUTS[5:], FACTOR))


def test_the_integrated_process_has_the_moments_of_the_mixture() -> None:
    model, rng = fitted(), np.random.default_rng(1)
    queries = rng.standard_normal((4, 3))
    factors = [FACTOR, FACTOR + np.triu(0.3 * rng.standard_normal((3, 3)))]
    entries = torch.as_tensor(np.stack([factor[ENTRIES] for factor in factors]))
    posterior = IntegratedProcess(model, entries).posterior(torch.as_tensor(queries)[None])
    means, covariances = [], []
    for factor in factors:
        inverse = np.linalg.inv(mahalanobis(INPUTS, INPUTS, factor) + NOISE * np.eye(12))
        cross = mahalanobis(queries, INPUTS, factor)
        means.append(cross @ inverse @ TARGETS)
        covariances.append(mahalanobis(queries, queries, factor) - cross @ inverse @ cross.T)
    half = 0.5 * (means[0] - means[1])
    np.testing.assert_allclose(posterior.mean[0, :, 0], 0.5 * (means[0] + means[1]), rtol=1e-6)
    covariance = 0.5 * (covariances[0] + covariances[1]) + np.outer(half, half)
    found = posterior.distribution.covariance_matrix[0]
    np.testing.assert_allclose(found, covariance, rtol=1e-5, atol=1e-7)


def test_the_curvature_is_that_of_the_likelihood_by_second_differences() -> None:
    def loss(entries: Float) -> float:
        factor = np.zeros((3, 3))
        factor[ENTRIES] = entries
        covariance = mahalanobis(INPUTS, INPUTS, factor) + NOISE * np.eye(12)
        _, logarithm = np.linalg.slogdet(covariance)
        return float(0.5 * TARGETS @ np.linalg.solve(covariance, TARGETS) + 0.5 * logarithm)

    step, at = 1e-4, FACTOR[ENTRIES]
    second = [
        (loss(at + move) - 2.0 * loss(at) + loss(at - move)) / step**2 for move in step * np.eye(6)
    ]
    np.testing.assert_allclose(curvature(fitted()), second, rtol=0.03, atol=0.03)


def test_columns_of_the_embedding_are_unit_and_starts_positive_definite() -> None:
    method = Alebo(AleboConfig(embedding=5), 40, 0)
    assert method.embedding.shape == (5, 40)
    np.testing.assert_allclose(np.linalg.norm(method.embedding, axis=0), 1.0)
    start = random_start(method.embedding, np.random.default_rng(0))
    assert np.allclose(start, np.triu(start))
    assert (np.diag(start) > 0.0).all()


def test_all_asked_points_lie_in_the_embedding_inside_the_cube() -> None:
    """A slope's greatest value in the polytope is on its boundary, so a search goes there."""
    settings: dict[str, Any] = {"embedding": 4, "matrices": 3, "draws": 16, "fit_steps": 10}
    optimizer = AleboConfig(**settings, raw_samples=32, ascent_steps=20).build(dimension=25, seed=3)
    columns = np.random.default_rng((3, 7)).standard_normal((4, 25))
    columns /= np.linalg.norm(columns, axis=0)
    onto = np.linalg.pinv(columns) @ columns
    for q in (20, 2):
        points = optimizer.ask(q)
        stretched = 2.0 * points - 1.0
        np.testing.assert_allclose(stretched @ onto.T, stretched, atol=1e-7)
        optimizer.tell(points, points.sum(1), np.full(q, 1e-3))
    np.testing.assert_allclose(np.abs(stretched).max(1), 1.0, atol=1e-6)


def test_points_told_from_outside_the_embedding_are_seen_through_it() -> None:
    method = Alebo(AleboConfig(embedding=4), 25, 0)
    points = np.random.default_rng(0).random((6, 25))
    inputs = method.inputs(points)
    np.testing.assert_allclose(inputs, (2.0 * points - 1.0) @ method.embedding.T)
    inside = method.feasible(inputs)
    np.testing.assert_allclose(method.inputs(method.points(inside)), inside, atol=1e-9)


def test_a_larger_embedding_than_the_cube_is_the_cube() -> None:
    method = Alebo(AleboConfig(embedding=12), 3, 0)
    points = np.random.default_rng(0).random((9, 3))
    np.testing.assert_allclose(method.points(method.inputs(points)), points, atol=1e-9)
