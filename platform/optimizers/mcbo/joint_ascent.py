"""One L-BFGS-B over many points at once, for starts of an acquisition and nodes of a fit.

The sum of their values is maximised, whose gradient is that of each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from rolecast.core.types import Float


def ascended(
    values: Callable[[Tensor], Tensor],
    rows: Float,
    bounds: list[tuple[float, float]],
    *,
    steps: int,
    device: str = "cpu",
) -> Float:
    """Return the points [B, C] where a joint climb from `rows` [B, C] ends.

    Args:
        values: [B] of points [B, C], each of its own point alone.
        rows: where the climb begins.
        bounds: of the C coordinates.
        steps: most steps, which all points take together.
        device: of the points.
    """

    def loss(flat: Float) -> tuple[float, Float]:
        points = torch.tensor(flat.reshape(rows.shape), device=device, requires_grad=True)
        total = values(points).sum()
        (gradient,) = torch.autograd.grad(total, points)
        return -float(total.detach()), -gradient.cpu().numpy().ravel()

    objective: Any = loss  # SciPy's types know no function that returns its gradient, too
    found = minimize(
        objective,
        rows.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds * len(rows),
        options={"maxiter": steps},
    )
    return np.asarray(found.x).reshape(rows.shape)
