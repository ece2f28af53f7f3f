"""What drones observe, on tensors; `observation.py` is the readable reference."""

import torch
from torch import Tensor

from rolecast.envs.drone_delivery.observation import TINY
from rolecast.envs.drone_delivery.physics import DroneDeliveryParameters
from rolecast.envs.drone_delivery.torch_world import TorchDroneState, length, others


def observe(params: DroneDeliveryParameters, state: TorchDroneState) -> Tensor:
    """Return what each drone observes, [B, n, 13]; see `observation.observe`."""
    n, batch = state.fuel.shape
    velocities = state.velocities / params.speed_unit
    offset = state.positions[:, None] - state.positions[:, :, None]
    distance = length(offset)
    seen = (distance <= params.view_radius) & others(n, distance.device)
    nearness = 1.0 / distance.clamp(min=TINY) - 1.0 / params.view_radius
    closing = velocities[:, None] - velocities[:, :, None]
    about = torch.where(seen, torch.cat([offset * nearness, closing]), 0.0)
    rank = torch.where(seen, distance, torch.inf).argsort(dim=1, stable=True)[:, :2]
    nearest = about.gather(2, rank.expand(4, *rank.shape))
    shown = torch.zeros((2, 4, n, batch), dtype=state.fuel.dtype, device=state.fuel.device)
    shown[: min(n, 2)] = nearest.permute(2, 0, 1, 3)
    way = state.points - state.positions
    far = length(way).clamp(min=TINY)
    stopped = (state.stopped > 0).to(far.dtype)
    own = torch.cat([velocities, state.fuel[None], stopped[None], way / far, far[None]])
    return torch.cat([own, shown.view(8, n, batch)[:6]]).permute(2, 1, 0)
