"""The fused kernel against GPyTorch's sum of one kernel a clique, in values and derivatives."""

import math
import pickle
from collections.abc import Sequence
from typing import Any

import gpytorch
import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP
from torch import Tensor

import rolecast
from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.surrogate.clique_sum.autograd import covariances
from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout
from rolecast.platform.surrogate.clique_sum.gpytorch_kernel import AdditiveCliqueKernel
from rolecast.platform.surrogate.clique_sum.torch_sum import (
    torch_clique_sum,
    torch_clique_sum_gradient,
)

D = 6
CLIQUES = ((3, 0, 1), (1, 2), (5,), (0, 2, 3, 5))
"""They overlap; dimension 4 is in none."""

NUS = (2.5, math.inf)


def random(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def kernel(nu: float = 2.5, **settings: Any) -> AdditiveCliqueKernel:
    made = AdditiveCliqueKernel(CLIQUES, D, nu, **settings)
    made.double()
    made.lengthscale = 0.3 + random(*made.lengthscale.shape, seed=1)
    made.clique_weight = 0.2 + random(*made.clique_weight.shape, seed=2)
    return made


def part(nu: float, clique: Sequence[int], lengthscales: Tensor, weight: Tensor) -> Any:
    kind: Any = gpytorch.kernels.RBFKernel if nu == math.inf else gpytorch.kernels.MaternKernel
    base = kind(ard_num_dims=len(clique), active_dims=tuple(clique)).double()
    base.lengthscale = lengthscales
    scale = gpytorch.kernels.ScaleKernel(base).double()
    scale.outputscale = weight
    return scale


def reference(fused: AdditiveCliqueKernel) -> Any:
    """Return GPyTorch's additive kernel with the same parameters."""
    lengthscale, weight = fused.lengthscale.detach()[0], fused.clique_weight.detach()
    place, parts = 0, []
    for index, clique in enumerate(CLIQUES):
        own = lengthscale[list(clique)]
        if len(lengthscale) != D:
            own = lengthscale[place : place + len(clique)]
        place += len(clique)
        parts.append(part(fused.nu, clique, own, weight[index]))
    return gpytorch.kernels.AdditiveKernel(*parts)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("per_clique", [False, True])
@pytest.mark.parametrize("sizes", [(1, 1), (7, 40), (33, 5)])
def test_it_is_the_additive_kernel_of_gpytorch(
    nu: float, per_clique: bool, sizes: tuple[int, int]
) -> None:
    fused = kernel(nu, lengthscale_per_clique=per_clique)
    x1, x2 = random(sizes[0], D), random(sizes[1], D, seed=3)
    oracle = reference(fused)
    for pair in ((x1, x2), (x1,)):
        found, expected = (each(*pair).to_dense() for each in (fused, oracle))
        torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-10)
        assert found.dtype == torch.float64
    x2 = x2[:1].expand_as(x1)
    torch.testing.assert_close(
        fused(x1, x2, diag=True), oracle(x1, x2, diag=True), atol=1e-10, rtol=0
    )
    torch.testing.assert_close(
        fused(x1, diag=True), fused(x1).to_dense().diagonal(), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("nu", NUS)
def test_in_single_precision_it_is_as_good_as_that_allows(nu: float) -> None:
    fused = kernel(nu)
    x1, x2 = random(40, D), random(50, D, seed=3)
    expected = fused(x1, x2).to_dense()
    found = fused.float()(x1.float(), x2.float()).to_dense()
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=0.0, atol=4e-6)


def parts_of(fused: AdditiveCliqueKernel) -> tuple[CliqueLayout, bool, Tensor]:
    return fused._layout, fused.nu == math.inf, fused.clique_weight.detach()


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("same", [False, True])
def test_first_and_second_derivatives_are_those_of_finite_differences(
    nu: float, same: bool
) -> None:
    """In x1, x2, lengthscale and clique_weight; where both are one, in that one."""
    fused = kernel(nu)
    lengthscale, weights = fused.lengthscale.detach(), fused.clique_weight.detach()
    inputs = [random(3, D), random(4, D, seed=3), lengthscale, weights]
    if same:
        del inputs[1]
    layout, smooth, _ = parts_of(fused)

    def value(*given: Tensor) -> Tensor:
        ours, theirs = given[0] / given[-2], None if same else given[1] / given[-2]
        return covariances(ours, theirs, given[-1], layout, smooth=smooth)

    for each in inputs:
        each.requires_grad_()
    assert torch.autograd.gradcheck(value, inputs)
    assert torch.autograd.gradgradcheck(value, inputs)


@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("per_clique", [False, True])
def test_gradients_of_parameters_and_inputs_are_those_of_gpytorch(
    nu: float, per_clique: bool
) -> None:
    """Through the model: a loss of all entries, at points that coincide too."""
    fused = kernel(nu, lengthscale_per_clique=per_clique)
    oracle = reference(fused)
    x1, factors = random(9, D), random(9, 12, seed=5)
    x2 = torch.cat([x1[:3], random(9, D, seed=4)])
    gradients = []
    for each in (fused, oracle):
        ours, theirs = (x.clone().requires_grad_() for x in (x1, x2))
        (each(ours, theirs).to_dense() * factors).sum().backward()
        gradients.append((ours.grad, theirs.grad))
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-10)
    of_entries = torch.cat([each.base_kernel.raw_lengthscale.grad[0] for each in oracle.kernels])
    if not per_clique:
        members = torch.tensor([one for clique in CLIQUES for one in clique])
        of_entries = torch.zeros(D).double().index_add(0, members, of_entries)
    found = fused.raw_lengthscale.grad
    assert found is not None
    torch.testing.assert_close(found[0], of_entries, rtol=0.0, atol=1e-10)
    of_weights = torch.stack([each.raw_outputscale.grad for each in oracle.kernels])
    torch.testing.assert_close(fused.raw_clique_weight.grad, of_weights, rtol=0.0, atol=1e-10)


def mixed_derivative(fused: AdditiveCliqueKernel, difference: np.ndarray) -> float:
    """Return d4 k / dx_0 dx_1 dx'_0 dx'_1 by four derivatives of the kernel."""
    here = torch.as_tensor(difference)[None].requires_grad_()
    there = torch.zeros_like(here).requires_grad_()
    value = fused(here, there).to_dense()[0, 0]
    for variable, index in ((here, 0), (here, 1), (there, 0), (there, 1)):
        (gradient,) = torch.autograd.grad(value, variable, create_graph=True)
        value = gradient[0, index]
    return float(value.detach())


@pytest.mark.parametrize("scale", [1.0, 1e-4, 0.0])
def test_derivatives_covary_as_the_lemmas_of_the_paper_say(scale: float) -> None:
    """Lemma 1 as printed, lemma 2 corrected; at distance 0 they are 1 and 25 / 3."""
    difference = scale * np.random.default_rng(0).uniform(-1.0, 1.0, 3)
    distance = max(float(np.linalg.norm(difference)), 1e-300)
    own, other = difference[0] ** 2, difference[1] ** 2
    root = math.sqrt(5.0)
    terms = 1.0 - root * (own + other) / distance + 5.0 * own / distance * other / distance
    terms += root * (own / distance) * (other / distance) / distance
    expected = {
        math.inf: math.exp(-0.5 * distance**2) * (1.0 - own) * (1.0 - other),
        2.5: 25.0 / 3.0 * math.exp(-root * distance) * terms,
    }
    for nu in NUS:
        fused = AdditiveCliqueKernel([(0, 1, 2)], 3, nu).double()
        fused.lengthscale = torch.ones(3).double()
        assert mixed_derivative(fused, difference) == pytest.approx(expected[nu], abs=1e-6)


@pytest.mark.parametrize("nu", NUS)
def test_what_runs_on_other_devices_is_the_same(nu: float) -> None:
    """Chunks of plain torch, here on the CPU."""
    layout, smooth, weights = parts_of(kernel(nu))
    u1, u2, given = random(2, 9, D), random(2, 8, D, seed=1), random(2, 9, 8, seed=4)
    weights = weights.expand(2, -1)
    inputs = [each.clone().requires_grad_() for each in (u1, u2, weights)]
    value = covariances(inputs[0], inputs[1], inputs[2], layout, smooth=smooth)
    plain = torch_clique_sum(u1, u2, weights, layout, smooth=smooth)
    torch.testing.assert_close(value.detach(), plain, rtol=0.0, atol=1e-10)
    expected = torch.autograd.grad(value, inputs, given)
    found = torch_clique_sum_gradient(u1, u2, weights, given, layout, smooth=smooth)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0.0, atol=1e-10)


def test_chunks_do_not_change_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, smooth, weights = parts_of(kernel())
    u1, u2 = random(9, D), random(8, D, seed=1)
    whole = torch_clique_sum(u1, u2, weights, layout, smooth=smooth)
    monkeypatch.setattr("rolecast.platform.surrogate.clique_sum.torch_sum.CHUNK_NUMBERS", 1)
    torch.testing.assert_close(torch_clique_sum(u1, u2, weights, layout, smooth=smooth), whole)


def test_batches_of_inputs_and_of_parameters_are_those_one_by_one() -> None:
    x1, x2 = random(3, 1, 7, D), random(2, 5, D, seed=1)
    fused = kernel(batch_shape=torch.Size([2]))
    found = fused(x1, x2).to_dense()
    assert found.shape == (3, 2, 7, 5)
    for parameter in range(2):
        one = fused[parameter]
        for batch in range(3):
            alone = one(x1[batch, 0], x2[parameter]).to_dense()
            torch.testing.assert_close(found[batch, parameter], alone)
    assert fused(x1, diag=True).shape == (3, 2, 7)
    assert fused(torch.zeros(0, D).double()).shape[-2:] == (0, 0)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_what_is_computed(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.platform.surrogate.clique_sum.cpu.SINGLE_THREAD_PAIRS", 0)
    fused = kernel()
    x1 = random(50, D).requires_grad_()

    def both(threads: int) -> tuple[Tensor, Tensor]:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        value = fused(x1).to_dense()
        (gradient,) = torch.autograd.grad((value * random(50, 50, seed=3)).sum(), x1)
        torch.set_num_threads(before)
        return value.detach(), gradient

    one, many = both(1), both(threads)
    assert torch.equal(one[0], many[0])
    torch.testing.assert_close(one[1], many[1], rtol=0.0, atol=1e-12)


def test_a_botorch_model_fits_it_and_predicts_as_with_gpytorchs_own() -> None:
    x, y = random(30, D), torch.sin(5.0 * random(30, D)).sum(-1, keepdim=True)
    noise, queries = torch.full_like(y, 0.01), random(4, D, seed=9)
    fused = kernel()
    means = []
    for each in (fused, reference(fused)):
        model = SingleTaskGP(x, y, noise, covar_module=each, outcome_transform=None).eval()
        at = queries.clone().requires_grad_()
        posterior = model.posterior(at)
        bound: Any = posterior.mean.sum() + posterior.variance.sum()
        bound.backward()
        means.append((posterior.mean.detach(), posterior.variance.detach(), at.grad))
    for found, expected in zip(*means, strict=True):
        torch.testing.assert_close(found, expected, rtol=0.0, atol=1e-8)
    model = SingleTaskGP(x, y, noise, covar_module=kernel())
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
    before = likelihood(model(x), model.train_targets)
    steps = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(20):
        steps.zero_grad()
        loss: Any = -likelihood(model(x), model.train_targets)
        loss.backward()
        steps.step()
    assert float(-loss.detach()) > float(before.detach()) + 0.05


def test_it_is_what_it_was_after_pickling_and_from_a_state() -> None:
    prior = gpytorch.priors.GammaPrior(2.0, 3.0)
    fused = kernel(clique_weight_prior=prior, lengthscale_per_clique=True)
    x = random(5, D)
    expected = fused(x).to_dense()
    again = pickle.loads(pickle.dumps(fused))
    torch.testing.assert_close(again(x).to_dense(), expected)
    fresh = AdditiveCliqueKernel(
        CLIQUES, D, clique_weight_prior=prior, lengthscale_per_clique=True
    ).double()
    fresh.load_state_dict(fused.state_dict())
    torch.testing.assert_close(fresh(x).to_dense(), expected)


def test_it_begins_with_variance_1_and_is_a_public_name() -> None:
    assert rolecast.AdditiveCliqueKernel is AdditiveCliqueKernel
    fresh = AdditiveCliqueKernel(CLIQUES, D)
    torch.testing.assert_close(fresh(torch.zeros(2, D), diag=True), torch.ones(2))


@pytest.mark.parametrize(
    ("cliques", "num_dims", "words"),
    [
        ([], 3, "at least one clique"),
        ([(0, 1), ()], 3, "at least one dimension"),
        ([(0, 1, 0)], 3, "each once"),
        ([(0, 1), (1, 0)], 3, "its weight says"),
        ([(0, 3)], 3, "dimensions from 0 to 2"),
        ([(-1, 0)], 3, "dimensions from 0 to 2"),
        ([(0, 1.5)], 3, "sequences of integers"),
        ([0, 1], 3, "sequences of integers"),
        ([(0,)], 0, "integer >= 1"),
        ([(0,)], True, "integer >= 1"),
    ],
)
def test_cliques_that_cannot_be_are_refused(cliques: Any, num_dims: int, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        AdditiveCliqueKernel(cliques, num_dims)


def test_an_order_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"nu is 1\.5; expected 2\.5 or infinity"):
        AdditiveCliqueKernel(CLIQUES, D, 1.5)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_an_input_that_is_not_finite_is_refused(value: float) -> None:
    x = random(4, D)
    x[2, 5] = value
    with pytest.raises(RequestError, match=r"x2 of .* is (nan|inf) at \(2, 5\); expected finite"):
        kernel()(random(3, D), x).to_dense()


def test_inputs_of_another_size_or_type_are_refused() -> None:
    with gpytorch.settings.debug(False), pytest.raises(RequestError, match="has 5 dimensions"):
        kernel()(random(3, 5)).to_dense()
    with pytest.raises(RequestError, match=r"of type torch\.int64"):
        kernel()(torch.zeros(3, D, dtype=torch.int64)).to_dense()


def test_a_parameter_that_is_not_finite_shows_in_every_entry() -> None:
    fused = kernel()
    fused.raw_lengthscale.data[0, 1] = math.nan
    assert bool(fused(random(3, D)).to_dense().isnan().all())
