"""What is computed once for all batches is what BoTorch computes for each."""

from typing import Any, cast

import numpy as np
import pytest
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import Normalize
from botorch.sampling.normal import SobolQMCNormalSampler
from gpytorch.kernels import ScaleKernel
from torch import Tensor

from rolecast.baselines.hdbo.mahalanobis import IntegratedProcess, MahalanobisKernel
from rolecast.baselines.hdbo.shared_points import Bordered, SharedProcess
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


def test_all_that_is_asked_of_the_posterior_is_right() -> None:
    quick, joint = fitted(), fitted()
    quick.posterior(KNOWN)
    found, wanted = (cast("Any", model).posterior(asked(KNOWN, STARTS)) for model in (quick, joint))
    torch.testing.assert_close(found.variance, wanted.variance, rtol=1e-6, atol=1e-7)
    lazy, whole = found.distribution.lazy_covariance_matrix, wanted.covariance_matrix
    for index in (
        (0,),
        (slice(1, 3),),
        (torch.tensor([1, 0]),),
        (..., slice(None, 3), slice(None)),
        (..., slice(-1, None), slice(None)),
        (2, slice(4, 8), slice(2, 5)),
    ):
        torch.testing.assert_close(lazy[index].to_dense(), whole[index], rtol=1e-6, atol=1e-7)


def test_what_happens_to_the_known_points_later_changes_nothing() -> None:
    model, points = fitted(), KNOWN.clone()
    model.posterior(points)
    points += 0.5
    found = moments(model, asked(points, STARTS))
    torch.testing.assert_close(found, moments(fitted(), asked(points, STARTS)))


def test_two_gradients_can_follow_one_question_about_the_known_points() -> None:
    model, moved = fitted(), STARTS.clone().requires_grad_(True)
    model.posterior(KNOWN)
    for _ in range(2):
        torch.autograd.backward(model.posterior(asked(KNOWN, moved)).mean.sum())
    assert moved.grad is not None


def test_a_process_that_is_told_more_forgets() -> None:
    more, worth = torch.as_tensor(RNG.random((3, 3))), torch.as_tensor(RNG.random((3, 1)))
    found = []
    for known_first in (True, False):
        model = fitted()
        model.posterior(STARTS)
        if known_first:
            model.posterior(KNOWN)
        told = model.condition_on_observations(more, worth, noise=torch.full_like(worth, 0.02))
        found.append(moments(told, asked(KNOWN, STARTS)))
    torch.testing.assert_close(*found, rtol=1e-6, atol=1e-7)


def test_with_transforms_it_is_the_process_of_botorch() -> None:
    points, targets = torch.as_tensor(POINTS), torch.as_tensor(TARGETS)[:, None]
    model = SharedProcess(points, 3.0 + 2.0 * targets, input_transform=Normalize(3)).eval()
    before = moments(model, asked(KNOWN, STARTS))
    model.posterior(KNOWN)
    torch.testing.assert_close(moments(model, asked(KNOWN, STARTS)), before)
