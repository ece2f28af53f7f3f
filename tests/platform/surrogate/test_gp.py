"""Posterior and evidence against SciPy's multivariate normal and GPyTorch's exact process."""

import gpytorch
import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from rolecast.core.types import Float
from rolecast.platform.surrogate.gp import Fit, Posterior, extend, fit
from rolecast.platform.surrogate.kernels import CliqueSum, Kernel, Matern, Mixture

D, N = 4, 25
CLIQUES = ((0, 1), (1, 2, 3))
COMMON = Matern(0.6)
MIXED = Mixture(COMMON, CliqueSum(CLIQUES, np.array([0.4, 0.9]), np.array([0.5, 0.5])), 0.4)


def data() -> tuple[Float, Float, Float]:
    """Return points [N, D], targets [N] of mean 0, and noise [N] that differs."""
    rng = np.random.default_rng(0)
    points = rng.random((N, D))
    targets = np.sin(4.0 * points[:, 0]) + points[:, 1] * points[:, 2] + 0.1 * rng.normal(size=N)
    return points, targets - targets.mean(), rng.uniform(0.02, 0.3, N)


def posterior(kernel: Kernel) -> Posterior:
    points, targets, noise = data()
    return Posterior(kernel, points, fit(kernel.matrix(points, points), targets, noise))


@pytest.mark.parametrize("kernel", [COMMON, MIXED], ids=["common", "mixture"])
def test_posterior_mean_and_deviation_are_those_of_the_joint_normal(kernel: Kernel) -> None:
    """Equation 1 of the paper, written out with a dense inverse and the found output variance."""
    points, targets, noise = data()
    queries = np.random.default_rng(1).random((9, D))
    model = posterior(kernel)
    inverse = np.linalg.inv(kernel.matrix(points, points) + np.diag(noise))
    cross = kernel.matrix(queries, points)
    means, deviations = model.mean_and_deviation(queries)
    np.testing.assert_allclose(means, cross @ inverse @ targets, atol=1e-10)
    np.testing.assert_allclose(model.mean(queries), means, atol=1e-12)
    variance = model.fit.scale * (1.0 - np.einsum("qn,nm,qm->q", cross, inverse, cross))
    np.testing.assert_allclose(deviations, np.sqrt(variance), rtol=1e-9)


@pytest.mark.parametrize("kernel", [COMMON, MIXED], ids=["common", "mixture"])
def test_the_evidence_is_the_density_of_the_targets_up_to_a_constant(kernel: Kernel) -> None:
    points, targets, noise = data()
    covariance = kernel.matrix(points, points)
    found = fit(covariance, targets, noise)
    density = multivariate_normal.logpdf(targets, cov=found.scale * (covariance + np.diag(noise)))
    constant = -0.5 * N * (np.log(2.0 * np.pi) + 1.0)
    assert found.log_evidence + constant == pytest.approx(density, abs=1e-9)


def test_a_bound_of_the_scale_is_the_scale_where_it_binds() -> None:
    points, targets, noise = data()
    covariance = COMMON.matrix(points, points)
    free = fit(covariance, targets, noise)
    below = fit(covariance, targets, noise, 0.5 * free.scale)
    assert (below.scale, below.log_evidence) == (free.scale, free.log_evidence)
    bound = 2.0 * free.scale
    found = fit(covariance, targets, noise, bound)
    density = multivariate_normal.logpdf(targets, cov=bound * (covariance + np.diag(noise)))
    assert found.scale == bound
    assert found.log_evidence - 0.5 * N * (np.log(2.0 * np.pi) + 1.0) == pytest.approx(density)


def test_the_scale_is_that_of_greatest_likelihood() -> None:
    points, targets, noise = data()
    covariance = COMMON.matrix(points, points)
    found = fit(covariance, targets, noise)

    def density(scale: float) -> float:
        return float(multivariate_normal.logpdf(targets, cov=scale * (covariance + np.diag(noise))))

    best = density(found.scale)
    assert best > density(1.02 * found.scale)
    assert best > density(found.scale / 1.02)


def test_it_is_the_exact_process_of_gpytorch() -> None:
    points, targets, noise = data()
    model = posterior(COMMON)
    queries = np.random.default_rng(1).random((9, D))

    class Process(gpytorch.models.ExactGP):  # type: ignore[misc]  # the library has no types
        def __init__(self, likelihood: gpytorch.likelihoods.Likelihood) -> None:
            super().__init__(torch.as_tensor(points), torch.as_tensor(targets), likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            base = gpytorch.kernels.MaternKernel(nu=2.5).double()
            self.covar_module = gpytorch.kernels.ScaleKernel(base).double()
            # As tensors: a plain float would be rounded to float32.
            base.lengthscale = torch.tensor(COMMON.lengthscale, dtype=torch.float64)
            self.covar_module.outputscale = torch.tensor(model.fit.scale, dtype=torch.float64)

        def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    likelihood = gpytorch.likelihoods.FixedNoiseGaussianLikelihood(
        torch.as_tensor(model.fit.scale * noise)
    )
    process = Process(likelihood).eval()
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        expected = process(torch.as_tensor(queries))
        means, deviations = model.mean_and_deviation(queries)
        np.testing.assert_allclose(means, expected.mean.numpy(), atol=1e-8)
        np.testing.assert_allclose(deviations, expected.stddev.numpy(), rtol=1e-7)


@pytest.mark.parametrize("kernel", [COMMON, MIXED], ids=["common", "mixture"])
def test_the_gradient_of_the_mean_is_its_finite_difference(kernel: Kernel) -> None:
    model, step = posterior(kernel), 1e-5
    for place in np.random.default_rng(4).random((4, D)):
        shifts = step * np.eye(D)
        difference = (model.mean(place + shifts) - model.mean(place - shifts)) / (2.0 * step)
        np.testing.assert_allclose(model.mean_gradient(place), difference, rtol=1e-6, atol=1e-8)


def test_more_noise_means_less_trust() -> None:
    points, targets, _ = data()
    covariance = COMMON.matrix(points, points)
    noise = np.full(N, 0.01)
    trusted = Posterior(COMMON, points, fit(covariance, targets, noise))
    noise[3] = 100.0
    doubted = Posterior(COMMON, points, fit(covariance, targets, noise))
    misses = [abs(each.mean(points[3:4])[0] - targets[3]) for each in (trusted, doubted)]
    assert misses[0] < 0.1 * misses[1]


def test_the_input_is_left_as_it_was() -> None:
    points, targets, noise = data()
    covariance = COMMON.matrix(points, points)
    copies = covariance.copy(), targets.copy(), noise.copy()
    assert isinstance(fit(covariance, targets, noise), Fit)
    for given, copy in zip((covariance, targets, noise), copies, strict=True):
        np.testing.assert_array_equal(given, copy)


def test_targets_that_are_all_zero_have_an_evidence() -> None:
    points, _, noise = data()
    found = fit(COMMON.matrix(points, points), np.zeros(N), noise)
    assert np.isfinite(found.log_evidence)
    assert found.scale > 0.0


@pytest.mark.parametrize("kernel", [COMMON, MIXED], ids=["common", "mixture"])
@pytest.mark.parametrize("sizes", [(1, 24), (20, 5), (24, 1), (10, 5, 9, 1)])
def test_a_fit_that_grows_is_that_of_all_points(kernel: Kernel, sizes: tuple[int, ...]) -> None:
    """Whatever the pieces, and though the targets are transformed anew each time."""
    points, targets, noise = data()
    grown: Fit | None = None
    for end, size in zip(np.cumsum(sizes), sizes, strict=True):
        old, new = slice(0, end - size), slice(end - size, end)
        transformed = targets[:end] - targets[:end].mean()
        own = kernel.matrix(points[new], points[new])
        if grown is None:
            grown = fit(own, transformed, noise[new])
        else:
            cross = kernel.matrix(points[old], points[new])
            grown = extend(grown, cross, own, transformed, noise[new])
    assert grown is not None
    expected = fit(kernel.matrix(points, points), targets, noise)
    np.testing.assert_allclose(np.tril(grown.factor), np.tril(expected.factor), atol=1e-10)
    np.testing.assert_allclose(grown.weights, expected.weights, rtol=1e-7, atol=1e-7)
    assert grown.scale == pytest.approx(expected.scale)
    assert grown.log_evidence == pytest.approx(expected.log_evidence)
    found, wanted = (Posterior(kernel, points, each) for each in (grown, expected))
    queries = np.random.default_rng(1).random((5, D))
    for left, right in zip(
        found.mean_and_deviation(queries), wanted.mean_and_deviation(queries), strict=True
    ):
        np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-10)


def test_a_noise_matrix_enters_as_it_is() -> None:
    """Against SciPy's joint normal: pairs of points have a common error."""
    points, targets, noise = data()
    matrix = np.diag(noise)
    for one in range(0, N - 1, 2):
        matrix[one, one + 1] = matrix[one + 1, one] = 0.7 * np.sqrt(noise[one] * noise[one + 1])
    covariance = COMMON.matrix(points, points)
    found = fit(covariance, targets, matrix)
    np.testing.assert_allclose(found.weights, np.linalg.solve(covariance + matrix, targets))
    normal = multivariate_normal(np.zeros(N), found.scale * (covariance + matrix))
    other = fit(covariance, targets, noise)
    plain = multivariate_normal(np.zeros(N), other.scale * (covariance + np.diag(noise)))
    assert found.log_evidence - other.log_evidence == pytest.approx(
        normal.logpdf(targets) - plain.logpdf(targets)
    )
    np.testing.assert_allclose(fit(covariance, targets, np.diag(noise)).weights, other.weights)


def test_a_posterior_grows_by_pairs_with_a_common_error() -> None:
    points, targets, noise = data()
    matrix = np.diag(noise)
    matrix[20, 21] = matrix[21, 20] = 0.6 * np.sqrt(noise[20] * noise[21])
    covariance = COMMON.matrix(points, points)
    first = Posterior(COMMON, points[:20], fit(covariance[:20, :20], targets[:20], noise[:20]))
    grown = first.extended(points, targets, matrix)
    expected = fit(covariance, targets, matrix)
    np.testing.assert_allclose(grown.fit.weights, expected.weights, rtol=1e-7, atol=1e-9)
    assert grown.fit.log_evidence == pytest.approx(expected.log_evidence)
