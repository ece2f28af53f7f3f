"""What is computed once for all batches is what BoTorch computes for each."""

from typing import Any

import numpy as np
import pytest
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.sampling.normal import SobolQMCNormalSampler
from gpytorch.kernels import ScaleKernel
from torch import Tensor

from rolecast.baselines.hdbo.mahalanobis import IntegratedProcess, MahalanobisKernel
from rolecast.baselines.hdbo.shared_points import Bordered
from rolecast.baselines.hdbo.surrogate import default_noise, fit, process

RNG = np.random.default_rng(0)
POINTS = RNG.random((30, 3))
TARGETS = np.sin(5.0 * POINTS).sum(1)
STARTS = torch.as_tensor(RNG.random((4, 1, 3)))
KNOWN = torch.as_tensor(POINTS[:9])
ENTRIES = torch.as_tensor(RNG.normal([2.0, 0.0, 0.0, 2.0, 0.0, 2.0], 1.0, (5, 6)))


def fitted() -> SingleTaskGP:
    """Return a process of noisy returns."""
    model = process(POINTS, TARGETS, np.full(30, 0.02), None, default_noise())
    fit(model, 5)
    return model


def integrated() -> IntegratedProcess:
    kernel = ScaleKernel(MahalanobisKernel(np.eye(3))).double()
    model = process(POINTS, TARGETS, np.full(30, 0.02), kernel, default_noise())
    return IntegratedProcess(model.eval(), ENTRIES)


def asked(known: Tensor, new: Tensor) -> Tensor:
    """Return batches that all begin with the known points."""
    return torch.cat([known.expand(len(new), -1, -1), new], 1)


def moments(model: Any, points: Tensor) -> tuple[Tensor, Tensor]:
    posterior = model.posterior(points)
    return posterior.mean, posterior.distribution.covariance_matrix


@pytest.mark.parametrize("make", [fitted, integrated])
@pytest.mark.parametrize("q", [1, 2])
def test_moments_and_gradients_are_those_of_the_joint_posterior(make: Any, q: int) -> None:
    new = torch.as_tensor(RNG.random((4, q, 3)))
    found = []
    for known_first in (True, False):
        model, moved = make(), new.clone().requires_grad_(True)
        if known_first:
            model.posterior(KNOWN)
        mean, covariance = moments(model, asked(KNOWN, moved))
        lazy = model.posterior(asked(KNOWN, new)).distribution.lazy_covariance_matrix
        assert isinstance(lazy, Bordered) == known_first
        torch.autograd.backward(covariance.square().sum() + mean.sin().sum())
        found.append((mean.detach(), covariance.detach(), moved.grad))
    for quick, joint in zip(*found, strict=True):
        torch.testing.assert_close(quick, joint, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("make", [fitted, integrated])
def test_points_that_begin_otherwise_are_not_taken_for_the_known(make: Any) -> None:
    other = KNOWN.clone()
    other[4, 1] += 0.3
    model = make()
    model.posterior(KNOWN)
    for quick, joint in zip(
        moments(model, asked(other, STARTS)), moments(make(), asked(other, STARTS)), strict=True
    ):
        torch.testing.assert_close(quick, joint)


def test_a_process_that_is_fitted_again_forgets() -> None:
    model = fitted()
    before = moments(model, asked(KNOWN, STARTS))
    model.posterior(KNOWN)
    fit(model, 50)
    after = moments(model, asked(KNOWN, STARTS))
    assert not torch.allclose(before[0], after[0])
    model.posterior(KNOWN)
    again = moments(model, asked(KNOWN, STARTS))
    torch.testing.assert_close(again, after, rtol=1e-6, atol=1e-7)


def test_noisy_expected_improvement_is_that_of_the_process_of_botorch() -> None:
    """Values and gradients, with points that are pending, which improve on nothing twice."""
    quick = fitted()
    plain = SingleTaskGP(
        quick.train_inputs[0],
        quick.train_targets[:, None],
        likelihood=quick.likelihood,
        covar_module=quick.covar_module,
        mean_module=quick.mean_module,
        outcome_transform=None,
    ).eval()
    found = []
    for model in (quick, plain):
        function = qLogNoisyExpectedImprovement(
            model,
            torch.as_tensor(POINTS),
            sampler=SobolQMCNormalSampler(torch.Size([64]), seed=1),
            prune_baseline=True,
        )
        for pending in (None, torch.as_tensor([[0.4, 0.5, 0.6]], dtype=torch.float64)):
            function.set_X_pending(pending)
            moved = STARTS.clone().requires_grad_(True)
            values = function(moved)
            torch.autograd.backward(values.sum())
            found.append((values.detach(), moved.grad))
    for one, other in zip(found[:2], found[2:], strict=True):
        torch.testing.assert_close(one[0], other[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(one[1], other[1], rtol=1e-3, atol=1e-4)
    assert not torch.allclose(found[0][0], found[1][0])
