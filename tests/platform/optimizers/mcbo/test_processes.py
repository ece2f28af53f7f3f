"""Processes of nodes against independent references: GPyTorch, finite differences, torch."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gpytorch
import numpy as np
import pytest
import torch

from rolecast.envs.causal.graph import NodeNoise
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.config import (
    reward_graph,
)
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel
from rolecast.platform.optimizers.mcbo.hyperparameters import (
    CONSTANT_MEAN_VARIANCE,
    LENGTHSCALE_PRIOR,
    SCALE_PRIOR,
    Hyperparameters,
    NodeDensity,
)
from rolecast.platform.optimizers.mcbo.moments import (
    ROWS_AT_ONCE,
    CompiledMoments,
    Conditioned,
    TorchMoments,
    matern52,
)
from rolecast.platform.optimizers.mcbo.node_data import (
    NodeInputs,
    NodeTargets,
    Observed,
    node_targets,
)
from rolecast.platform.optimizers.mcbo.node_process import NodeProcess

Observing = Callable[..., tuple[InterventionSpace, Observed]]


class Reference(gpytorch.models.ExactGP):  # type: ignore[misc]  # it has no types
    """The process of a node by GPyTorch: a Matern kernel, and perhaps an unknown constant."""

    def __init__(self, targets: NodeTargets, hyper: Hyperparameters, place: int, size: int) -> None:
        rows = targets.counts[place]
        x, y = targets.inputs[place, rows, :size], targets.targets[place, rows]
        noise = torch.tensor(targets.noise[place, rows])
        likelihood = gpytorch.likelihoods.FixedNoiseGaussianLikelihood(noise)
        super().__init__(torch.tensor(x), torch.tensor(y), likelihood)
        self.mean_module = gpytorch.means.ZeroMean()
        base = gpytorch.kernels.MaternKernel(
            nu=2.5,
            ard_num_dims=size,
            lengthscale_prior=gpytorch.priors.GammaPrior(*LENGTHSCALE_PRIOR),
        )
        scaled = gpytorch.kernels.ScaleKernel(
            base, outputscale_prior=gpytorch.priors.GammaPrior(*SCALE_PRIOR)
        )
        self.covar_module = scaled.double()
        base.lengthscale = torch.tensor(hyper.lengthscales[place, :size])
        scaled.outputscale = torch.tensor(hyper.scales[place])
        if hyper.mean_variance:
            constant = gpytorch.kernels.ConstantKernel().double()
            constant.constant = torch.tensor(hyper.mean_variance)
            self.covar_module = scaled + constant

    def forward(self, rows: torch.Tensor) -> Any:
        return gpytorch.distributions.MultivariateNormal(
            self.mean_module(rows), self.covar_module(rows)
        )

    def density(self) -> float:
        """Return the logarithm of the likelihood and the priors, a row."""
        both = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.train())
        with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
            return float(both(self(*self.train_inputs), self.train_targets))


@pytest.mark.parametrize("constant_mean", [False, True])
@pytest.mark.parametrize("task_id", ["causal:toy", "causal:psa", "causal:alpine2?noise=1"])
def test_the_posterior_of_every_node_is_that_of_gpytorch_on_the_rows_that_count(
    task_id: str, constant_mean: bool, observed: Observing
) -> None:
    space, data = observed(task_id, 24)
    model = GraphModel(space, data, constant_mean=constant_mean)
    targets = node_targets(space, NodeInputs(space.graph), data)
    rng = np.random.default_rng(1)
    for place, size in enumerate(model.inputs.sizes):
        queries = torch.tensor(rng.random((7, size)))
        reference = Reference(targets, model.hyper, place, size).eval()
        with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
            right = reference(queries)
        low, width = (x[place, :size] for x in (targets.units.low, targets.units.width))
        found = model.processes[place].posterior(torch.tensor(low) + torch.tensor(width) * queries)
        unit, zero = targets.units.deviation[place], targets.units.mean[place]
        mean, deviation = zero + unit * right.mean.numpy(), unit * right.variance.sqrt().numpy()
        np.testing.assert_allclose(found[0].numpy(), mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[1].numpy(), deviation, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("constant_mean", [False, True])
@pytest.mark.parametrize("task_id", ["causal:toy", "causal:alpine2?noise=1"])
def test_no_step_from_the_fitted_hyperparameters_leads_to_a_higher_density_by_gpytorch(
    task_id: str, constant_mean: bool, observed: Observing
) -> None:
    space, data = observed(task_id, 24)
    targets = node_targets(space, NodeInputs(space.graph), data)
    model = GraphModel(space, data, constant_mean=constant_mean)
    for place, size in enumerate(model.inputs.sizes):
        reached = Reference(targets, model.hyper, place, size).density()
        steps = np.kron(np.eye(size + 1), [[0.1], [-0.1]])
        for lengths, scale in zip(np.exp(steps[:, :size]), np.exp(steps[:, size]), strict=True):
            other = copy.deepcopy(model.hyper)
            other.lengthscales[place, :size] *= lengths
            other.scales[place] *= scale
            assert Reference(targets, other, place, size).density() < reached


@pytest.mark.parametrize("constant_mean", [False, True])
def test_the_gradient_of_a_fit_is_that_of_finite_differences(
    constant_mean: bool, observed: Observing
) -> None:
    space, data = observed("causal:toy", 24)
    targets = node_targets(space, NodeInputs(space.graph), data)
    rng = np.random.default_rng(4)
    for place in range(len(targets.targets)):
        density = NodeDensity(targets, place, CONSTANT_MEAN_VARIANCE * constant_mean)
        logs = rng.uniform(-1.5, 1.0, density.size + 1)
        gradient = density.loss(logs)[1]
        for step, slope in zip(1e-5 * np.eye(len(logs)), gradient, strict=True):
            rise = density.loss(logs + step)[0] - density.loss(logs - step)[0]
            assert slope == pytest.approx(rise / 2e-5, rel=1e-6, abs=1e-5)


@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 2), (7, 1), (8, 3), (61, 5)])
def test_compiled_posteriors_and_their_gradients_are_those_of_torch(count: int, size: int) -> None:
    """Over more rows than one piece, at an observation, where nothing is left, and far away."""
    rng = np.random.default_rng(count)
    points = rng.random((count, size)) / 0.3
    apart = np.square(points[:, None] - points).sum(axis=-1)
    covariance = 1.7 * matern52(torch.tensor(apart)) + 25.0 + 1e-4 * torch.eye(count).double()
    inverse = torch.linalg.inv(torch.linalg.cholesky(covariance))
    known = Conditioned(
        low=torch.tensor(rng.normal(size=size)),
        spread=torch.tensor(rng.uniform(0.2, 4.0, size)),
        points=torch.tensor(points),
        inverse=inverse,
        weights=inverse.T @ inverse @ torch.tensor(rng.normal(size=count)),
        scale=1.7,
        mean_variance=25.0,
        zero=-3.0,
        unit=40.0,
    )
    rows = torch.tensor(rng.uniform(-1.0, 5.0, (2, ROWS_AT_ONCE, size)))
    rows[0, : min(count, 3)] = torch.tensor(points[:3])
    rows[1, 0] = 1e4
    both = []
    for moments in (TorchMoments(known), CompiledMoments(known)):
        inputs = (known.low + known.spread * rows).requires_grad_()
        mean, deviation = moments(inputs)
        weight = torch.linspace(-1.0, 1.0, ROWS_AT_ONCE).double()
        total = (mean * weight).sum() + (deviation * weight.flip(0)).sum()
        both.append((mean, deviation, *torch.autograd.grad(total, inputs)))
        with torch.no_grad():
            for quiet, kept in zip(moments(inputs), (mean, deviation), strict=True):
                torch.testing.assert_close(quiet, kept.detach(), rtol=1e-12, atol=1e-12)
    for right, found in zip(*both, strict=True):
        assert found.shape == right.shape
        torch.testing.assert_close(found, right, rtol=1e-6, atol=1e-6)


def test_a_short_wave_is_fitted_as_one_and_not_as_noise() -> None:
    """From the mode of the prior alone a fit ends at a lengthscale of 0.4, which sees noise."""
    rng = np.random.default_rng(0)
    points = rng.random((120, 1))
    values = np.sin(60.0 * points) + rng.normal(0.0, 0.7, (120, 1))
    space = InterventionSpace(reward_graph(1, NodeNoise(kind="normal", scale=0.7)))
    model = GraphModel(space, Observed(points, values, np.full_like(values, 0.49)))
    assert model.hyper.lengthscales[0, 0] < 0.05
    queries = torch.linspace(0.05, 0.95, 200, dtype=torch.float64)[:, None]
    error = model.processes[0].posterior(queries)[0] - torch.sin(60.0 * queries[:, 0])
    assert float(error.square().mean()) < 0.2


@pytest.mark.parametrize(("constant_mean", "moves"), [(False, True), (True, False)])
def test_a_constant_mean_does_not_move_with_where_a_search_went(
    constant_mean: bool, moves: bool
) -> None:
    """Far from all that was observed, whether the best of four points was tried once or often."""
    far = []
    for tries in (1, 60):
        places = np.array([0.0, 0.05, 0.1, *[0.15] * tries])[:, None]
        values = np.where(places == 0.15, 3.0, 0.0)
        space = InterventionSpace(reward_graph(1))
        exact = Observed(places, values, np.full_like(values, 1e-4))
        targets = node_targets(space, NodeInputs(space.graph), exact)
        known = Hyperparameters(np.full((1, 1), 0.05), np.array([1.0]), 25.0 * constant_mean)
        process = NodeProcess(targets, known, 0, 1, "cpu")
        far.append(process.posterior(torch.ones((1, 1), dtype=torch.float64))[0].item())
    assert (far[1] > far[0] + 1.0) == moves
    assert abs(far[1] - far[0]) < 0.2 or moves


def test_a_node_does_not_learn_from_rows_in_which_it_was_set(observed: Observing) -> None:
    space, data = observed("causal:toy", 14)
    chosen, _ = space.decode(data.candidates)
    set_x1 = chosen == space.sets.index(("X1",))
    counts = node_targets(space, NodeInputs(space.graph), data).counts
    np.testing.assert_array_equal(counts[1], ~set_x1)
    changed = data.values.copy()
    changed[set_x1, 1] += 100.0
    other = Observed(data.candidates, changed, data.variances)
    one, same = (node_targets(space, NodeInputs(space.graph), d).targets[1] for d in (data, other))
    np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize("scale", [1e-30, 1e-14, 1.0, 1e60])
def test_targets_do_not_depend_on_the_unit_of_what_was_observed(
    scale: float, observed: Observing
) -> None:
    space, data = observed("causal:toy", 20)
    usual = node_targets(space, NodeInputs(space.graph), data)
    scaled = replace(data, values=data.values * scale, variances=data.variances * scale**2)
    found = node_targets(space, NodeInputs(space.graph), scaled)
    np.testing.assert_allclose(found.targets, usual.targets, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.inputs, usual.inputs, rtol=1e-9, atol=1e-9)
