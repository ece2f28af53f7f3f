"""Kernels against GPyTorch, their gradients against torch's autograd, in float64."""

from collections.abc import Callable, Sequence
from typing import Any

import gpytorch
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.types import Float
from rolecast.platform.surrogate.clique_sum.cpu import BLOCK_BYTES, flatten_cliques
from rolecast.platform.surrogate.kernels import (
    PAIRS_SHARE,
    AllPairs,
    CliqueSum,
    Kernel,
    Matern,
    Mixture,
)

Reference = Callable[[torch.Tensor, torch.Tensor], Any]  # a kernel of GPyTorch
D = 7
COLUMNS = BLOCK_BYTES // 8
CLIQUES = ((0, 1, 2), (2, 3), (6,), (5, 1), (0, 2, 3, 5, 6))
LENGTHSCALES = np.array([0.7, 0.3, 0.9, 1.7, 0.5])
WEIGHTS = np.array([0.3, 0.1, 0.25, 0.15, 0.2])


def matern(lengthscale: float, dims: Sequence[int] | None = None) -> Any:
    active = None if dims is None else tuple(dims)
    kernel = gpytorch.kernels.MaternKernel(nu=2.5, active_dims=active).double()
    kernel.lengthscale = torch.tensor(lengthscale, dtype=torch.float64)  # a float is rounded
    return kernel


def scaled(kernel: Any, weight: float) -> Any:
    scale = gpytorch.kernels.ScaleKernel(kernel).double()
    scale.outputscale = torch.tensor(weight, dtype=torch.float64)
    return scale


def clique_reference() -> Any:
    parts = [
        scaled(matern(lengthscale, clique), weight)
        for clique, lengthscale, weight in zip(CLIQUES, LENGTHSCALES, WEIGHTS, strict=True)
    ]
    return gpytorch.kernels.AdditiveKernel(*parts)


def clique_sum() -> CliqueSum:
    return CliqueSum(CLIQUES, LENGTHSCALES, WEIGHTS)


def pairs_reference() -> Any:
    """The sum of all products of two dimensions' kernels, each pair and each square by itself."""
    alone = [matern(0.6, (place,)) for place in range(D)]
    products = [one * other for one in alone for other in alone]
    singles = [scaled(one, (1.0 - PAIRS_SHARE) / D) for one in alone]
    return gpytorch.kernels.AdditiveKernel(
        *singles, *(scaled(product, PAIRS_SHARE / D**2) for product in products)
    )


KERNELS: dict[str, tuple[Kernel, Callable[[], Reference]]] = {
    "common": (Matern(0.8), lambda: matern(0.8)),
    "cliques": (clique_sum(), clique_reference),
    "pairs": (AllPairs(D, 0.6), pairs_reference),
    "mixture": (
        Mixture(Matern(0.8), clique_sum(), 0.3),
        lambda: gpytorch.kernels.AdditiveKernel(
            scaled(matern(0.8), 0.7), scaled(clique_reference(), 0.3)
        ),
    ),
}


@pytest.fixture(params=KERNELS)
def pair(request: pytest.FixtureRequest) -> tuple[Kernel, Reference]:
    kernel, reference = KERNELS[request.param]
    return kernel, reference()


def points(count: int, seed: int = 0) -> Float:
    return np.random.default_rng(seed).random((count, D))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 9), (3, COLUMNS), (70, 2 * COLUMNS + 3)])
def test_a_matrix_is_that_of_gpytorch(
    pair: tuple[Kernel, Reference], rows: int, columns: int
) -> None:
    kernel, reference = pair
    A, B = points(rows), points(columns, seed=1)
    with torch.no_grad():
        expected = reference(torch.as_tensor(A), torch.as_tensor(B)).to_dense().numpy()
    np.testing.assert_allclose(kernel.matrix(A, B), expected, rtol=0.0, atol=1e-10)


def test_a_matrix_between_points_and_themselves_is_a_covariance(
    pair: tuple[Kernel, Reference],
) -> None:
    """Symmetric, 1 on its diagonal, positive, and the same whether or not that is known."""
    kernel, _ = pair
    A = points(COLUMNS + 9)
    own = kernel.matrix(A, A)
    np.testing.assert_allclose(own, own.T, atol=1e-15)
    np.testing.assert_allclose(np.diag(own), 1.0, atol=1e-6)
    assert np.linalg.eigvalsh(own).min() > -1e-12
    np.testing.assert_allclose(own, kernel.matrix(A, A.copy()), atol=1e-10)


def test_a_gradient_is_that_of_autograd(pair: tuple[Kernel, Reference]) -> None:
    kernel, reference = pair
    others, coefficients = points(40), np.random.default_rng(2).normal(size=40)
    for place in points(5, seed=3):
        at = torch.as_tensor(place).requires_grad_()
        value = reference(at[None], torch.as_tensor(others)).to_dense()[0]
        (value * torch.as_tensor(coefficients)).sum().backward()
        assert at.grad is not None
        found = kernel.gradient(place, others, coefficients)
        np.testing.assert_allclose(found, at.grad.numpy(), rtol=0.0, atol=1e-10)


def test_a_gradient_at_an_observed_point_is_finite(pair: tuple[Kernel, Reference]) -> None:
    kernel, _ = pair
    others, coefficients = points(6), np.ones(6)
    alone = kernel.gradient(others[2], others[2:3], coefficients[:1])
    np.testing.assert_allclose(alone, np.zeros(D), atol=1e-12)
    assert np.isfinite(kernel.gradient(others[2], others, coefficients)).all()


@pytest.mark.parametrize("factor", [1e-3, 1e-1, 1e1, 1e3, 1e5])
def test_far_and_near_points_are_exact(factor: float) -> None:
    """The fused exponential has a range of its own: nothing overflows, far points read 0."""
    A, B = points(20), points(30, seed=1)
    fused = CliqueSum(CLIQUES, LENGTHSCALES * factor, WEIGHTS).matrix(A, B)
    direct = sum(
        weight * Matern(length * factor).matrix(A[:, list(clique)], B[:, list(clique)])
        for clique, length, weight in zip(CLIQUES, LENGTHSCALES, WEIGHTS, strict=True)
    )
    np.testing.assert_allclose(fused, direct, atol=1e-11)


def test_dimensions_in_no_clique_do_not_matter() -> None:
    A, B = points(6), points(5, seed=1)
    moved = A.copy()
    moved[:, 4] = 99.0
    kernel = clique_sum()
    np.testing.assert_array_equal(kernel.matrix(A, B), kernel.matrix(moved, B))
    assert kernel.gradient(A[0], B, np.ones(5))[4] == 0.0


@pytest.mark.parametrize(("share", "name"), [(0.0, "common"), (1.0, "cliques")])
def test_a_mixture_ends_in_its_parts(share: float, name: str) -> None:
    A, B = points(6), points(5, seed=1)
    mixed = Mixture(Matern(0.8), clique_sum(), share)
    np.testing.assert_allclose(mixed.matrix(A, B), KERNELS[name][0].matrix(A, B), atol=1e-15)


@settings(deadline=None, max_examples=30)
@given(cliques=st.lists(st.lists(st.integers(0, 9), unique=True, max_size=5), max_size=6))
def test_flat_cliques_can_be_taken_apart_again(cliques: list[list[int]]) -> None:
    starts, members = flatten_cliques(cliques)
    assert [part.tolist() for part in np.split(members, starts[1:-1])][: len(cliques)] == cliques


def test_single_precision_is_good_to_its_promise() -> None:
    """2e-6 of an entry, with as many cliques as make a long sum."""
    rng = np.random.default_rng(4)
    cliques = [rng.choice(D, 3, replace=False).tolist() for _ in range(700)]
    lengthscales, weights = rng.uniform(0.3, 2.0, 700), np.full(700, 1 / 700)
    A, c = points(40), rng.normal(size=40)
    exact, quick = (CliqueSum(cliques, lengthscales, weights, single=one) for one in (False, True))
    np.testing.assert_allclose(quick.matrix(A, A), exact.matrix(A, A), rtol=0.0, atol=2e-6)
    expected = exact.gradient(A[0], A, c)
    np.testing.assert_allclose(quick.gradient(A[0], A, c), expected, rtol=0.0, atol=5e-5)
