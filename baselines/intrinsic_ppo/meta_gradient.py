"""How a policy would look after its next step, as a function that gradients can pass."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim import Adam


def after_adam_step(
    parameters: Sequence[nn.Parameter], gradients: Sequence[Tensor], optimizer: Adam
) -> list[Tensor]:
    """Return the parameters as `optimizer.step()` would leave them, differentiable in gradients.

    Args:
        parameters: of the optimiser's only group, in its order.
        gradients: of these, with the graph that made them; already clipped.
        optimizer: Adam without weight decay or AMSGrad; it is not changed.
    Returns:
        As many tensors of the same shapes.
    Source: Zheng et al. 2018, whose published code holds the second moment fixed: in it the
    gradient counts as a constant. With it moving, the first step would be the gradient's sign,
    through which no gradient passes.
    """
    (group,) = optimizer.param_groups
    near, far = group["betas"]
    moved = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        state = optimizer.state.get(parameter, {})
        taken = float(state["step"]) + 1.0 if state else 1.0
        first, second = state.get("exp_avg", 0.0), state.get("exp_avg_sq", 0.0)
        first = near * first + (1.0 - near) * gradient
        second = far * second + (1.0 - far) * gradient.detach().square()
        scale = (second / (1.0 - far**taken)).sqrt() + group["eps"]
        moved.append(parameter - group["lr"] * (first / (1.0 - near**taken)) / scale)
    return moved


def clipped_by_norm(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    """Return gradients scaled so that their norm together is at most `limit`, differentiably."""
    norm = torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt()
    scale = (limit / (norm + 1e-6)).clamp(max=1.0)
    return [gradient * scale for gradient in gradients]


def clipped_surrogate(
    log_probabilities: Tensor, old_log_probabilities: Tensor, advantages: Tensor, clip: float
) -> Tensor:
    """Return the objective of PPO to be raised, a mean over all rows.

    Source: Schulman et al. 2017, equation 7.
    """
    ratio = (log_probabilities - old_log_probabilities).exp()
    return torch.min(ratio * advantages, ratio.clamp(1.0 - clip, 1.0 + clip) * advantages).mean()
