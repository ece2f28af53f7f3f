"""Lemmas 1 and 2: the covariance of two mixed second derivatives, as printed and as it is.

Appendix D of the DSS-GP-UCB paper. The corrected forms are held against the fused kernel and
GPyTorch's in `tests/platform/surrogate`; here they are derived from the definitions, and the
printed ones are shown to be right (lemma 1) or wrong (lemma 2), with what rests on them.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest
import torch
from torch import Tensor

from rolecast.core.types import Float

ROOT_5: Final = 5.0**0.5
DIMENSIONS = [2, 3, 6]


def rbf(squared: Tensor) -> Tensor:
    return torch.exp(-0.5 * squared)


def matern(squared: Tensor) -> Tensor:
    root = ROOT_5 * torch.sqrt(squared)
    return (1.0 + root + root * root / 3.0) * torch.exp(-root)


def covariance_of_mixed(kernel: Callable[[Tensor], Tensor], difference: Float) -> float:
    """Return d4 k / dx_0 dx_1 dx'_0 dx'_1 by autograd; both lengthscales are 1."""
    here = torch.as_tensor(difference).requires_grad_()
    there = torch.zeros_like(here).requires_grad_()
    value = kernel(((here - there) ** 2).sum())
    for variable, index in ((here, 0), (here, 1), (there, 0), (there, 1)):
        (gradient,) = torch.autograd.grad(value, variable, create_graph=True)
        value = gradient[index]
    return float(value.detach())


def lemma_1(difference: Float) -> float:
    """As printed."""
    own, other = np.square(difference[:2])
    return float(np.exp(-0.5 * difference @ difference) * (1.0 - own) * (1.0 - other))


def lemma_2_as_printed(difference: Float) -> float:
    a, b = difference[:2]
    d = float(np.linalg.norm(difference))
    terms = 5.0 * ROOT_5 / 3.0 - 25.0 / (3.0 * d) * (a**2 + b**2)
    terms += 25.0 * ROOT_5 / (3.0 * d**2) * a**2 * b**2 + 25.0 / (3.0 * d**3) * a**3 * b**3
    return float(np.exp(-ROOT_5 * d) * terms)


def lemma_2(difference: Float) -> float:
    """Corrected."""
    own, other = np.square(difference[:2])
    d = float(np.linalg.norm(difference))
    terms = 1.0 - ROOT_5 * (own + other) / d + 5.0 * own * other / d**2
    return float(25.0 / 3.0 * np.exp(-ROOT_5 * d) * (terms + ROOT_5 * own * other / d**3))


def differences(dimension: int, count: int) -> Float:
    return np.random.default_rng(dimension).uniform(-1.0, 1.0, (count, dimension))


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_lemma_1_holds_as_printed(dimension: int) -> None:
    for difference in differences(dimension, 5):
        assert covariance_of_mixed(rbf, difference) == pytest.approx(lemma_1(difference), abs=1e-12)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_lemma_2_holds_corrected_and_not_as_printed(dimension: int) -> None:
    for difference in differences(dimension, 5):
        found = covariance_of_mixed(matern, difference)
        assert found == pytest.approx(lemma_2(difference), abs=1e-10)
        assert abs(found - lemma_2_as_printed(difference)) > 0.1 * abs(found)


def test_the_printed_lemma_2_does_not_even_have_the_symmetry_of_the_kernel() -> None:
    """k knows d_i by its square alone; a term in d_i^3 d_j^3 cannot be in its derivative."""
    difference = np.array([0.3, 0.5, 0.2])
    mirrored = difference * [-1.0, 1.0, 1.0]
    assert covariance_of_mixed(matern, mirrored) == pytest.approx(
        covariance_of_mixed(matern, difference)
    )
    assert lemma_2(mirrored) == lemma_2(difference)
    assert abs(lemma_2_as_printed(mirrored) - lemma_2_as_printed(difference)) > 0.05


def test_the_variance_of_a_mixed_derivative_of_matern_is_25_over_3() -> None:
    """Printed: 5 sqrt(5) / 3, 55 % less. It is the sigma_h^2 of theorem 1."""
    near = np.full(2, 1e-7)
    assert lemma_2(near) == pytest.approx(25.0 / 3.0, rel=1e-5)
    assert lemma_2_as_printed(near) == pytest.approx(5.0 * ROOT_5 / 3.0, rel=1e-5)


@pytest.mark.parametrize(("lengthscale", "holds"), [(2.0, True), (1.0, True), (0.9, False)])
def test_corollary_1_needs_a_lengthscale_of_the_cubes_side(lengthscale: float, holds: bool) -> None:
    """RBF: theorem 1's condition of no negative covariance, over the cube [0, 1]^2."""
    side = np.linspace(0.0, 1.0, 101) / lengthscale
    values = [lemma_1(np.array([a, b])) for a in side for b in side]
    assert (min(values) >= 0.0) == holds


@pytest.mark.parametrize("others", [0.0, 0.5, 2.0, 8.0])
def test_corollary_3_is_true_but_says_little(others: float) -> None:
    """Its bound, derived from the wrong lemma, lies below the true covariance all the same.

    It is negative for all d < 4.57, while the true covariance is never below -25 / 3 e^-2, a
    seventh of its peak. `others` is the squared distance in the other dimensions.
    """
    side = np.linspace(0.0, 1.0, 41)
    for a, b in [(a, b) for a in side for b in side if a + b + others > 0.0]:
        difference = np.array([a, b, np.sqrt(others)])
        d = np.linalg.norm(difference)
        bound = 5.0 * ROOT_5 / 3.0 - 50.0 / (3.0 * d) - 25.0 / (3.0 * d**3)
        assert lemma_2(difference) >= np.exp(-ROOT_5 * d) * bound
        assert lemma_2(difference) >= -25.0 / 3.0 * np.exp(-2.0) - 1e-12
        assert bound < 0.0 or d > 4.57
