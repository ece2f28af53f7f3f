"""The Matérn-5/2 kernel against GPyTorch, its slope, and the lemmas of the paper about it."""

import gpytorch
import numpy as np
import pytest
import torch
from scipy.special import gamma, kv

from rolecast.platform.surrogate.matern import matern52, matern52_slope, squared_distances

DISTANCES = np.concatenate([np.geomspace(1e-6, 30.0, 60)])


def reference() -> gpytorch.kernels.MaternKernel:
    kernel = gpytorch.kernels.MaternKernel(nu=2.5).double()
    kernel.lengthscale = 1.0
    return kernel


def test_it_is_the_matern_covariance_of_order_five_halves() -> None:
    """Against the Bessel form of the whole family (Rasmussen and Williams 2006, equation 4.14)."""
    scaled = np.sqrt(5.0) * DISTANCES[DISTANCES > 1e-3]
    bessel = 2.0**-1.5 / gamma(2.5) * scaled**2.5 * kv(2.5, scaled)
    np.testing.assert_allclose(matern52(np.square(scaled / np.sqrt(5.0))), bessel, rtol=1e-12)


def test_it_is_the_kernel_of_gpytorch() -> None:
    points = torch.as_tensor(DISTANCES)[:, None]
    with torch.no_grad():
        expected = reference()(torch.zeros(1, 1).double(), points).to_dense()[0].numpy()
    np.testing.assert_allclose(matern52(DISTANCES**2), expected, atol=1e-14)


def test_it_is_one_at_zero_and_falls() -> None:
    assert matern52(np.zeros(1))[0] == 1.0
    assert (np.diff(matern52(DISTANCES[DISTANCES > 1e-4] ** 2)) < 0.0).all()


def test_its_slope_is_the_derivative_in_the_squared_distance() -> None:
    squared = DISTANCES[DISTANCES > 1e-2] ** 2
    step = 1e-5 * squared
    difference = (matern52(squared + step) - matern52(squared - step)) / (2.0 * step)
    np.testing.assert_allclose(matern52_slope(squared), difference, rtol=1e-7, atol=1e-12)
    assert matern52_slope(np.zeros(1))[0] == pytest.approx(-5.0 / 6.0)


def test_squared_distances_are_those_between_all_rows() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.random((7, 300)), rng.random((5, 300))
    expected = np.square(A[:, None] - B).sum(-1)
    np.testing.assert_allclose(squared_distances(A, B), expected, rtol=1e-12)
    assert squared_distances(A, A).min() >= 0.0


def mixed_derivative(difference: np.ndarray) -> float:
    """Return d2k / dx_i dx_j dx'_i dx'_j of GPyTorch's kernel, i = 0 and j = 1, by autograd."""
    here = torch.as_tensor(difference, dtype=torch.float64).requires_grad_()
    there = torch.zeros_like(here).requires_grad_()
    both = torch.stack([here, there])  # of equal arguments it takes a form that derives twice
    value = reference()(both, both).to_dense()[0, 1]
    for variable, index in ((here, 0), (here, 1), (there, 0), (there, 1)):
        (gradient,) = torch.autograd.grad(value, variable, create_graph=True)
        value = gradient[index]
    return float(value.detach())


def lemma_2(difference: np.ndarray) -> float:
    """The covariance of two mixed second derivatives, unit lengthscale, corrected.

    Differs: the formula as printed in the paper does not follow from the kernel.
    """
    distance = float(np.linalg.norm(difference))
    own, other = difference[0] ** 2, difference[1] ** 2
    root = np.sqrt(5.0)
    terms = 1.0 - root * (own + other) / distance + 5.0 * own * other / distance**2
    terms += root * own * other / distance**3
    return float(25.0 / 3.0 * np.exp(-root * distance) * terms)


@pytest.mark.parametrize("seed", range(6))
def test_lemma_2_holds_in_its_corrected_form(seed: int) -> None:
    difference = np.random.default_rng(seed).uniform(-1.0, 1.0, 4)
    assert mixed_derivative(difference) == pytest.approx(lemma_2(difference), abs=1e-9)


def test_the_variance_of_a_mixed_derivative_is_25_over_3() -> None:
    """The limit of lemma 2 at distance 0; the paper prints 5 sqrt(5) / 3."""
    assert lemma_2(np.full(2, 1e-9)) == pytest.approx(25.0 / 3.0)


def test_mixed_derivatives_can_be_negatively_correlated() -> None:
    """Why theorem 1's assumption of a covariance that is never negative is only nearly met."""
    worst = np.array([0.0, 2.0 / np.sqrt(5.0)])
    assert lemma_2(worst) == pytest.approx(-25.0 / 3.0 * np.exp(-2.0))
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 41)[1:]] * 2), -1).reshape(-1, 2)
    assert min(map(lemma_2, grid)) >= -25.0 / 3.0 * np.exp(-2.0) - 1e-12
