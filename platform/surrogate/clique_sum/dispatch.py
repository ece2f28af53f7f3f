"""Sum over cliques of tensors that are not on the CPU: by Triton on CUDA, else by plain torch.

Triton is part of torch for CUDA on Linux. Plain torch in chunks takes 79 to 523 times as
long with 1,000 points and 1,500 cliques (docs/results/surrogate.json).
"""

from contextlib import AbstractContextManager
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout
from rolecast.platform.surrogate.clique_sum.torch_sum import (
    torch_clique_sum,
    torch_clique_sum_gradient,
)


def device_clique_sum(
    u1: Tensor,
    u2: Tensor | None,
    weights: Tensor,
    layout: CliqueLayout,
    *,
    smooth: bool,
    inverse: Tensor | None = None,
) -> Tensor:
    """Return [N, M], the sum over c of w_c k(|u1_c - u2_c|^2 inverse_c), in the precision of u1.

    Args:
        u1: [N, D], divided by lengthscales.
        u2: [M, D]; None: u1, for half the work.
        weights: [C].
        layout: of C cliques.
        smooth: k(s) is exp(-s / 2), not Matérn-5/2.
        inverse: [C], reciprocals of squared lengthscales; None: ones.
    """
    if runs_triton(u1.device):
        from rolecast.platform.surrogate.clique_sum.triton_sum import triton_clique_sum

        with _current(u1):
            return triton_clique_sum(u1, u2, weights, layout, smooth=smooth, inverse=inverse)
    theirs = u1 if u2 is None else u2
    return torch_clique_sum(u1, theirs, weights, layout, smooth=smooth, inverse=inverse)


def device_clique_sum_gradient(
    u1: Tensor,
    u2: Tensor,
    weights: Tensor,
    coefficients: Tensor,
    layout: CliqueLayout,
    *,
    smooth: bool,
    inverse: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of sum_ij c_ij k(u1_i, u2_j) in u1 [N, D] and in the weights [C].

    The gradient in u2 is the one in u1 with arguments exchanged and coefficients transposed.

    Args:
        u1: as for `device_clique_sum`.
        u2: [M, D].
        weights: [C].
        coefficients: [N, M], c.
        layout: of C cliques.
        smooth: as for `device_clique_sum`.
        inverse: likewise.
    """
    if runs_triton(u1.device):
        from rolecast.platform.surrogate.clique_sum.triton_sum import triton_clique_sum_gradient

        with _current(u1):
            return triton_clique_sum_gradient(
                u1, u2, weights, coefficients, layout, smooth=smooth, inverse=inverse
            )
    in_u1, _, in_weights = torch_clique_sum_gradient(
        u1, u2, weights, coefficients, layout, smooth=smooth, inverse=inverse
    )
    return in_u1, in_weights


def _current(points: Tensor) -> AbstractContextManager[None]:
    """Make the device of points the current one, on which Triton starts programs."""
    made: Any = torch.cuda.device_of
    found: AbstractContextManager[None] = made(points)
    return found


@cache
def runs_triton(device: torch.device) -> bool:
    """Return whether Triton's kernels run on a device."""
    return device.type == "cuda" and find_spec("triton") is not None
