"""Fused sum over cliques as one operation of torch, with its gradient.

Forward and backward are compiled kernels: for the CPU, and by Triton for CUDA. Other devices use
chunks of plain torch. So do second derivatives (`create_graph`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout, clique_sum, clique_sum_gradient
from rolecast.platform.surrogate.clique_sum.dispatch import (
    device_clique_sum,
    device_clique_sum_gradient,
)
from rolecast.platform.surrogate.clique_sum.torch_sum import torch_clique_sum


def covariances(
    u1: Tensor, u2: Tensor | None, weights: Tensor, layout: CliqueLayout, *, smooth: bool
) -> Tensor:
    """Return [..., N, M], the sum over c of w_c k(|u1_c - u2_c|^2), in the precision of u1.

    Args:
        u1: [..., N, D], float32 or float64, divided by lengthscales.
        u2: [..., M, D], with the same leading sizes; None: u1, for half the work.
        weights: [..., C], likewise.
        layout: of C cliques.
        smooth: k(s) is exp(-s / 2), not Matérn-5/2.
    """
    apply: Any = _Covariances.apply
    found: Tensor = apply(u1, u2, weights, layout, smooth)
    return found


class _Covariances(torch.autograd.Function):
    """Sum over cliques, one batch after the other, by the kernels of the device."""

    @staticmethod
    def forward(
        ctx: Any, u1: Tensor, u2: Tensor | None, weights: Tensor, layout: CliqueLayout, smooth: bool
    ) -> Tensor:
        ctx.save_for_backward(u1, u2, weights)
        ctx.layout, ctx.smooth = layout, smooth
        parts = [_value(*batch, layout, smooth) for batch in _batches(u1, u2, weights)]
        return _joined(parts, u1, (u1.shape[-2], (u1 if u2 is None else u2).shape[-2]))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        u1, u2, weights = ctx.saved_tensors
        layout, smooth = ctx.layout, ctx.smooth
        if torch.is_grad_enabled():
            return *_differentiable(ctx, u1, u2, weights, gradients[0]), None, None
        coefficients = gradients[0].to(u1.dtype).reshape(-1, *gradients[0].shape[-2:])
        parts = [
            _gradients(*batch, given, layout, smooth)
            for batch, given in zip(_batches(u1, u2, weights), coefficients, strict=True)
        ]
        in_u1 = _joined([part[0] for part in parts], u1, u1.shape[-2:])
        in_weights = _joined([part[2] for part in parts], weights, weights.shape[-1:])
        if u2 is None:
            return in_u1, None, in_weights, None, None
        in_u2 = _joined([part[1] for part in parts], u2, u2.shape[-2:])
        return in_u1, in_u2, in_weights, None, None


def _value(
    u1: Tensor, u2: Tensor | None, weights: Tensor, layout: CliqueLayout, smooth: bool
) -> Tensor:
    """Return [N, M] of one batch."""
    if not _is_in_memory(u1):
        return device_clique_sum(u1, u2, weights, layout, smooth=smooth)
    found = clique_sum(
        *(u1.numpy(), None if u2 is None else u2.numpy(), layout),
        *(np.ones(len(weights)), weights.numpy()),
        smooth=smooth,
        threads=torch.get_num_threads(),
    )
    return torch.from_numpy(found)


def _gradients(
    u1: Tensor,
    u2: Tensor | None,
    weights: Tensor,
    coefficients: Tensor,
    layout: CliqueLayout,
    smooth: bool,
) -> tuple[Tensor, Any, Tensor]:
    """Return the gradients in u1, u2 and weights of one batch; the second is None where u2 is."""
    if _is_in_memory(u1):
        in_u1, in_u2, in_weights = clique_sum_gradient(
            *(u1.numpy(), None if u2 is None else u2.numpy(), coefficients.numpy(), layout),
            *(np.ones(len(weights)), weights.numpy()),
            smooth=smooth,
            threads=torch.get_num_threads(),
        )
        other = None if in_u2 is None else torch.from_numpy(in_u2)
        return torch.from_numpy(in_u1), other, torch.from_numpy(in_weights)

    def gradient(ours: Tensor, theirs: Tensor, given: Tensor) -> tuple[Tensor, Tensor]:
        return device_clique_sum_gradient(ours, theirs, weights, given, layout, smooth=smooth)

    if u2 is None:
        # u2 is u1, so each entry contributes to its row and to its column.
        whole, shares = gradient(u1, u1, coefficients + coefficients.T)
        return whole, None, 0.5 * shares
    first, shares = gradient(u1, u2, coefficients)
    return first, gradient(u2, u1, coefficients.T)[0], shares


def _is_in_memory(points: Tensor) -> bool:
    return points.device.type == "cpu"


def _batches(
    u1: Tensor, u2: Tensor | None, weights: Tensor
) -> Iterator[tuple[Tensor, Tensor | None, Tensor]]:
    """Yield the batches one by one, with the leading sizes flattened."""
    rows = u1.detach().reshape(-1, *u1.shape[-2:])
    shares = weights.detach().reshape(-1, weights.shape[-1])
    others: Any = [None] * len(rows)
    if u2 is not None:
        others = u2.detach().reshape(-1, *u2.shape[-2:])
    yield from zip(rows, others, shares, strict=True)


def _joined(parts: list[Tensor], like: Tensor, shape: Any) -> Tensor:
    """Return the results of the batches as one tensor, with leading sizes and type of `like`."""
    leading = like.shape[: -2 if len(shape) == 2 else -1]
    if not parts:
        return like.new_zeros(*leading, *shape)
    return torch.stack(parts).reshape(*leading, *shape).to(like.dtype)


def _differentiable(
    ctx: Any, u1: Tensor, u2: Tensor | None, weights: Tensor, coefficients: Tensor
) -> list[Tensor | None]:
    """Return gradients that torch can differentiate again."""
    needed = ctx.needs_input_grad[:3]
    # Separate views, so that each side of a tensor given twice has its own gradient.
    ours, shares = u1.view_as(u1), weights.view_as(weights)
    theirs = ours if u2 is None else u2.view_as(u2)
    value = torch_clique_sum(ours, theirs, shares, ctx.layout, smooth=ctx.smooth)
    given = zip((ours, theirs, shares), needed, strict=True)
    wanted = [each for each, need in given if need]
    found = iter(torch.autograd.grad(value, wanted, coefficients, create_graph=True))
    return [next(found) if need else None for need in needed]
