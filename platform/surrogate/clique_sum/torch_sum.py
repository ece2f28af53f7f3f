"""Sum over cliques in plain torch: on any device, and with derivatives of any order.

Cliques are summed in chunks of bounded memory. It is used for second derivatives, and on devices
without a compiled kernel.
"""

from collections.abc import Iterator
from typing import Any, Final

import torch
from torch import Tensor

from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout

CHUNK_NUMBERS: Final = 2**23
"""Numbers in one chunk: pairs times cliques times their largest size."""

LEAST_SQUARED_DISTANCE: Final = 1e-30
"""Squared distance below which points count as equal: the root has no finite slope at 0."""


def torch_clique_sum(
    u1: Tensor,
    u2: Tensor,
    weights: Tensor,
    layout: CliqueLayout,
    *,
    smooth: bool,
    inverse: Tensor | None = None,
) -> Tensor:
    """Return [..., N, M], the sum over c of w_c k(|u1_c - u2_c|^2 inverse_c).

    Args:
        u1: [..., N, D], divided by lengthscales.
        u2: [..., M, D], with the same leading sizes.
        weights: [..., C], likewise.
        layout: of C cliques.
        smooth: k(s) is exp(-s / 2), not Matérn-5/2.
        inverse: [C], reciprocals of squared lengthscales; None: ones.
    """
    result = u1.new_zeros(*u1.shape[:-1], u2.shape[-2])
    for chunk in _chunks(u1, u2, layout):
        result = result + _chunk_sum(u1, u2, weights, chunk, smooth, inverse)
    return result


def torch_clique_sum_gradient(
    u1: Tensor,
    u2: Tensor,
    weights: Tensor,
    coefficients: Tensor,
    layout: CliqueLayout,
    *,
    smooth: bool,
    inverse: Tensor | None = None,
) -> list[Tensor]:
    """Return the gradients of sum_ij c_ij k_ij in u1, u2 and weights, one chunk at a time.

    Arguments as for `torch_clique_sum`, and coefficients c [..., N, M].
    """
    inputs = [each.detach().requires_grad_() for each in (u1, u2, weights)]
    gradients = [torch.zeros_like(each) for each in inputs]
    with torch.enable_grad():
        for chunk in _chunks(u1, u2, layout):
            value = _chunk_sum(inputs[0], inputs[1], inputs[2], chunk, smooth, inverse)
            for gradient, part in zip(
                gradients, torch.autograd.grad(value, inputs, coefficients), strict=True
            ):
                gradient += part
    return gradients


Chunk = tuple[Tensor, Tensor, Tensor]


def _chunks(u1: Tensor, u2: Tensor, layout: CliqueLayout) -> Iterator[Chunk]:
    """Yield chunks of cliques: indices [C], members [C, k], and a mask of members [C, k]."""
    pairs = max(u1.shape[:-1].numel() * u2.shape[-2], 1)
    device = u1.device
    order, starts = torch.as_tensor(layout.order), torch.as_tensor(layout.starts)
    members = torch.as_tensor(layout.used[layout.members])
    sizes, count = starts.diff(), len(layout.order)
    first = 0
    while first < count:
        # Cliques are sorted by size, so the last of a chunk is the largest.
        last = first + 1
        while last < count and pairs * int(sizes[last]) * (last + 1 - first) <= CHUNK_NUMBERS:
            last += 1
        places = torch.arange(int(sizes[last - 1]))
        there = places < sizes[first:last, None]
        index = torch.where(there, starts[first:last, None] + places, 0)
        yield order[first:last].to(device), members[index].to(device), there.to(device)
        first = last


def _chunk_sum(
    u1: Tensor, u2: Tensor, weights: Tensor, chunk: Chunk, smooth: bool, inverse: Tensor | None
) -> Tensor:
    """Return [..., N, M], the sum over the cliques of a chunk."""
    cliques, members, there = chunk
    ours, theirs = u1[..., members] * there, u2[..., members] * there
    matern52: Any = _Matern52.apply
    squared = (ours.unsqueeze(-3) - theirs.unsqueeze(-4)).square().sum(-1)
    if inverse is not None:
        squared = squared * inverse[cliques]
    values = torch.exp(-0.5 * squared) if smooth else matern52(squared)
    return torch.einsum("...nmc,...c->...nm", values, weights[..., cliques])


def _root(squared: Tensor) -> Tensor:
    return (5.0 * squared.clamp_min(LEAST_SQUARED_DISTANCE)).sqrt()


class _Matern52(torch.autograd.Function):
    """Matérn-5/2 of squared distances s, with a slope that is finite at s = 0."""

    @staticmethod
    def forward(ctx: Any, squared: Tensor) -> Tensor:
        ctx.save_for_backward(squared)
        root = _root(squared)
        return (1.0 + root + root.square() / 3.0) * torch.exp(-root)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (squared,) = ctx.saved_tensors
        slope: Any = _Matern52Slope.apply
        return gradients[0] * slope(squared)


class _Matern52Slope(torch.autograd.Function):
    """Slope dk/ds = -5/6 (1 + r) exp(-r), r = sqrt(5 s); its own, 25/12 exp(-r), is finite."""

    @staticmethod
    def forward(ctx: Any, squared: Tensor) -> Tensor:
        ctx.save_for_backward(squared)
        root = _root(squared)
        return -5.0 / 6.0 * (1.0 + root) * torch.exp(-root)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (squared,) = ctx.saved_tensors
        return gradients[0] * (25.0 / 12.0) * torch.exp(-_root(squared))
