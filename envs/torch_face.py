"""What tasks on tensors share: their device, and what they ask of actions."""

from typing import Final

import torch
from torch import Tensor

from rolecast.core.errors import ConfigError
from rolecast.envs.spec import TaskSpec

DEVICES: Final = ("cpu", "cuda")
FLOATS: Final = (torch.float32, torch.float64)


def chosen_device(field: str, device: str | torch.device | None) -> torch.device:
    """Return the device that was asked for, or CUDA where torch sees one, else the CPU.

    Raises:
        ConfigError: torch does not see such a device; `field` is what the error calls it.
    """
    expected = "'cpu', or 'cuda' where torch sees such a device"
    cuda = torch.cuda.is_available()
    try:
        found = torch.device(device or ("cuda" if cuda else "cpu"))
    except RuntimeError as error:
        raise ConfigError(field, device, expected) from error
    if found.type not in DEVICES or (found.type == "cuda" and not cuda):
        raise ConfigError(field, str(found), expected)
    return found


def checked_dtype(field: str, dtype: torch.dtype) -> torch.dtype:
    """Return the dtype; ConfigError unless it is float32 or float64."""
    if dtype not in FLOATS:
        raise ConfigError(field, dtype, "torch.float32 or torch.float64")
    return dtype


def checked_actions(
    spec: TaskSpec,
    actions: Tensor,
    batch: int,
    steps: int,
    device: torch.device,
    dtype: torch.dtype,
) -> Tensor:
    """Return actions [B, n, da] clipped to [-1, 1], as [da, n, B] on a device, without gradient.

    Args:
        spec: of the task.
        actions: as given; that they are finite is checked, for which the host waits for the device.
        batch: B.
        steps: taken before.
        device: of the result.
        dtype: of the result.
    Raises:
        ConfigError: the shape is not [B, n, da], or a number is NaN or infinite; names the agent,
            the episode and the step.
    """
    shape = (batch, spec.agents, spec.action_size)
    if tuple(actions.shape) != shape:
        raise ConfigError(f"actions for task {spec.id!r}", tuple(actions.shape), f"shape {shape}")
    if not torch.isfinite(actions).all():
        episode, agent, number = torch.nonzero(~torch.isfinite(actions))[0].tolist()
        raise ConfigError(
            f"task {spec.id!r}: action of agent {agent} in episode {episode} at step {steps + 1}",
            float(actions[episode, agent, number]),
            "finite numbers",
        )
    own = actions.detach().to(device, dtype)
    return own.clamp(-1.0, 1.0).permute(2, 1, 0).contiguous()


def pieces(batch: int, at_once: int) -> list[slice]:
    """Cut a batch into pieces of at most so many episodes, at least one in each."""
    size = max(at_once, 1)
    return [slice(start, start + size) for start in range(0, batch, size)]
