"""The fused sum over cliques as one operation of torch, with its gradient.

Forward and backward are the compiled kernels on the CPU and chunks of plain torch on other devices;
derivatives of a derivative (`create_graph`) are always those of plain torch.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rolecast.platform.surrogate.additive_kernel_torch import (
    torch_clique_sum,
    torch_clique_sum_gradient,
)
from rolecast.platform.surrogate.clique_sum import CliqueLayout, clique_sum, clique_sum_gradient


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
    """One batch after the other, each by the compiled kernels or by chunks."""

    @staticmethod
    def forward(
        ctx: Any, u1: Tensor, u2: Tensor | None, weights: Tensor, layout: CliqueLayout, smooth: bool
    ) -> Tensor:
        ctx.save_for_backward(u1, u2, weights)
        ctx.layout, ctx.smooth = layout, smooth
        if not _is_compiled(u1):
            return torch_clique_sum(u1, u1 if u2 is None else u2, weights, layout, smooth=smooth)
        ones = np.ones(weights.shape[-1])
        parts = [
            torch.from_numpy(
                clique_sum(
                    *(ours, theirs, layout, ones, shares),
                    smooth=smooth,
                    threads=torch.get_num_threads(),
                )
            )
            for ours, theirs, shares in zip(*_batches(u1, u2, weights), strict=True)
        ]
        return _joined(parts, u1, (u1.shape[-2], (u1 if u2 is None else u2).shape[-2]))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        u1, u2, weights = ctx.saved_tensors
        layout, smooth = ctx.layout, ctx.smooth
        if torch.is_grad_enabled():
            return *_differentiable(ctx, u1, u2, weights, gradients[0]), None, None
        if not _is_compiled(u1):
            in_u1, in_u2, in_weights = torch_clique_sum_gradient(
                *(u1, u1 if u2 is None else u2, weights, gradients[0], layout), smooth=smooth
            )
            if u2 is None:
                return in_u1 + in_u2, None, in_weights, None, None
            return in_u1, in_u2, in_weights, None, None
        ones = np.ones(weights.shape[-1])
        coefficients = gradients[0].to(u1.dtype).reshape(-1, *gradients[0].shape[-2:]).numpy()
        parts = [
            clique_sum_gradient(
                *(ours, theirs, given, layout, ones, shares),
                smooth=smooth,
                threads=torch.get_num_threads(),
            )
            for (ours, theirs, shares), given in zip(
                zip(*_batches(u1, u2, weights), strict=True), coefficients, strict=True
            )
        ]
        in_u1 = _joined([torch.from_numpy(part[0]) for part in parts], u1, u1.shape[-2:])
        in_weights = _joined(
            [torch.from_numpy(part[2]) for part in parts], weights, weights.shape[-1:]
        )
        if u2 is None:
            return in_u1, None, in_weights, None, None
        in_u2 = _joined([torch.from_numpy(part[1]) for part in parts], u2, u2.shape[-2:])
        return in_u1, in_u2, in_weights, None, None


def _is_compiled(points: Tensor) -> bool:
    return points.device.type == "cpu"


def _batches(u1: Tensor, u2: Tensor | None, weights: Tensor) -> tuple[list[Any], ...]:
    """Return the arrays of each batch, of leading sizes that are one."""
    rows = list(u1.detach().reshape(-1, *u1.shape[-2:]).numpy())
    shares = list(weights.detach().reshape(-1, weights.shape[-1]).numpy())
    if u2 is None:
        return rows, [None] * len(rows), shares
    return rows, list(u2.detach().reshape(-1, *u2.shape[-2:]).numpy()), shares


def _joined(parts: list[Tensor], like: Tensor, shape: Any) -> Tensor:
    """Return the batches' results as one tensor with the leading sizes and type of another."""
    leading = like.shape[: -2 if len(shape) == 2 else -1]
    if not parts:
        return like.new_zeros(*leading, *shape)
    return torch.stack(parts).reshape(*leading, *shape).to(like.dtype)


def _differentiable(
    ctx: Any, u1: Tensor, u2: Tensor | None, weights: Tensor, coefficients: Tensor
) -> list[Tensor | None]:
    """Return the gradients as torch can derive them again."""
    needed = ctx.needs_input_grad[:3]
    # Views of their own: of one tensor given twice, each side has its gradient.
    ours, shares = u1.view_as(u1), weights.view_as(weights)
    theirs = ours if u2 is None else u2.view_as(u2)
    value = torch_clique_sum(ours, theirs, shares, ctx.layout, smooth=ctx.smooth)
    given = zip((ours, theirs, shares), needed, strict=True)
    wanted = [each for each, need in given if need]
    found = iter(torch.autograd.grad(value, wanted, coefficients, create_graph=True))
    return [next(found) if need else None for need in needed]
