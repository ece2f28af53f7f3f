"""What runs on CUDA is what runs on the CPU.

Without a GPU, Triton's kernels run by its interpreter (see `tests/conftest.py`): the same programs,
one after the other.
"""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout, clique_sum, clique_sum_gradient
from rolecast.platform.surrogate.clique_sum.dispatch import (
    device_clique_sum,
    device_clique_sum_gradient,
)
from rolecast.platform.surrogate.clique_sum.gpytorch_kernel import AdditiveCliqueKernel
from rolecast.platform.surrogate.kernels import AllPairs, CliqueSum

SURROGATE = "rolecast.platform.surrogate"
D = 12
CLIQUES = ((0, 1, 2), (2, 3), (6,), (5, 1), (0, 2, 3, 5, 6), tuple(range(11)))
LAYOUT = CliqueLayout.of(CLIQUES)
INVERSE = np.array([0.7, 0.3, 0.9, 1.7, 0.5, 0.2])
WEIGHTS = np.array([0.3, 0.1, 0.2, 0.15, 0.2, 0.05])
EXACT = {torch.float64: 1e-12, torch.float32: 5e-6}


@pytest.fixture(params=["triton", "torch"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """Where it runs, by Triton or by plain torch."""
    triton = request.param == "triton"
    monkeypatch.setattr(f"{SURROGATE}.clique_sum.dispatch.runs_triton", lambda _: triton)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(size=shape)


def moved(device: torch.device, dtype: torch.dtype, *arrays: Any) -> list[torch.Tensor]:
    return [torch.as_tensor(each, dtype=dtype, device=device) for each in arrays]


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(37, 70), (1, 66), (70, None)])
def test_values_are_those_of_the_cpu(
    rows: int, columns: int | None, smooth: bool, dtype: torch.dtype, device: torch.device
) -> None:
    A, B = random(rows, D), None if columns is None else random(columns, D, seed=1)
    expected = clique_sum(A, B, LAYOUT, INVERSE, WEIGHTS, smooth=smooth)
    ours, inverse, weights, *others = moved(
        device, dtype, A, INVERSE, WEIGHTS, *(() if B is None else (B,))
    )
    other = others[0] if others else None
    found = device_clique_sum(ours, other, weights, LAYOUT, smooth=smooth, inverse=inverse)
    assert found.dtype == dtype
    np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=0.0, atol=EXACT[dtype])
    again = device_clique_sum(ours, other, weights, LAYOUT, smooth=smooth, inverse=inverse)
    assert torch.equal(found, again)


# The thread that torch takes gradients on has no context of CUDA before its first product.
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS:UserWarning")
@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("entries", [2**26, 200])
@pytest.mark.parametrize("smooth", [False, True])
def test_gradients_are_those_of_the_cpu_however_many_cliques_go_at_once(
    smooth: bool,
    entries: int,
    dtype: torch.dtype,
    device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    A, B, given = random(37, D), random(70, D, seed=1), random(37, 70, seed=2) - 0.5
    ours, theirs, c, inverse, weights = moved(device, dtype, A, B, given, INVERSE, WEIGHTS)
    monkeypatch.setattr(f"{SURROGATE}.clique_sum.triton_sum.MOST_GRADIENTS", entries)
    expected = clique_sum_gradient(A, B, given, LAYOUT, INVERSE, WEIGHTS, smooth=smooth)
    found = device_clique_sum_gradient(
        ours, theirs, weights, c, LAYOUT, smooth=smooth, inverse=inverse
    )
    for one, other in zip(found, (expected[0], expected[2]), strict=True):
        atol = EXACT[dtype] * float(np.abs(other).max()) * 10.0
        np.testing.assert_allclose(one.cpu().numpy(), other, rtol=0.0, atol=atol)


def test_no_points_have_no_covariance(device: torch.device) -> None:
    none, some, weights = moved(device, torch.float64, random(0, D), random(3, D), WEIGHTS)
    assert device_clique_sum(none, some, weights, LAYOUT, smooth=False).shape == (0, 3)
    assert device_clique_sum(some, none, weights, LAYOUT, smooth=False).shape == (3, 0)
    whole, shares = device_clique_sum_gradient(
        some, none, weights, some.new_zeros(3, 0), LAYOUT, smooth=False
    )
    assert not whole.any()
    assert not shares.any()


@pytest.mark.parametrize("same", [True, False])
def test_the_kernel_of_gpytorch_has_the_cpus_value_and_gradients(
    same: bool, device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = AdditiveCliqueKernel(CLIQUES, D, batch_shape=torch.Size([2])).double()
    x1 = torch.as_tensor(random(2, 9, D))
    x2 = x1 if same else torch.as_tensor(random(2, 8, D, seed=1))
    given = torch.as_tensor(random(2, 9, x2.shape[1], seed=3))

    def both(where: torch.device) -> list[torch.Tensor]:
        there = kernel.to(where)
        there.zero_grad()
        first = x1.to(where, copy=True).requires_grad_()
        second = first if same else x2.to(where, copy=True).requires_grad_()
        value = there(first, second).to_dense()
        (value * given.to(where)).sum().backward()
        parts = (first, second, there.raw_lengthscale, there.raw_clique_weight)
        return [each.detach().cpu() for each in (value, *(part.grad for part in parts))]

    expected = both(torch.device("cpu"))
    monkeypatch.setattr(f"{SURROGATE}.clique_sum.autograd._is_in_memory", lambda _: False)
    for one, other in zip(both(device), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("make", ["cliques", "pairs"])
def test_kernels_of_a_search_are_those_of_the_cpu(make: str, device: torch.device) -> None:
    def kernel(where: torch.device | None) -> CliqueSum | AllPairs:
        if make == "pairs":
            return AllPairs(D, 0.6, device=where)
        return CliqueSum(CLIQUES, INVERSE**-0.5, WEIGHTS, device=where)

    A, B, here, there = random(5, D), random(20, D, seed=1), kernel(None), kernel(device)
    for first, second in ((A, B), (B, B)):
        found = there.matrix(first, second)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.cpu().numpy(), here.matrix(first, second), atol=1e-12)
    expected = here.gradient(A[0], B, B[:, 0])
    np.testing.assert_allclose(there.gradient(A[0], B, B[:, 0]), expected, atol=1e-11)
