"""Physics and reward of drone delivery on tensors, for CPU and CUDA.

`physics.py` is the readable reference; functions here follow it line by line. The batch is the last
axis and x, y the first, [2, n, B], so that every operation runs over long rows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from rolecast.envs.drone_delivery.physics import FIRST_POINT_COUNTER, DroneDeliveryParameters
from rolecast.envs.torch_random import draw, symmetric_uniform

Keys = tuple[Tensor, Tensor]
"""Two keys, int32 [B] each, from `torch_random.key_tensors`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TorchDroneState:
    """All that there is of B episodes between two steps; see `physics.DroneState`."""

    positions: Tensor
    """[2, n, B]."""

    velocities: Tensor
    """[2, n, B]."""

    fuel: Tensor
    """[n, B]."""

    stopped: Tensor
    """[n, B], int32."""

    points: Tensor
    """[2, n, B]."""

    distances: Tensor
    """[n, B]."""

    deliveries: Tensor
    """[n, B], int32."""

    def part(self, episodes: slice) -> "TorchDroneState":
        """Return some of the episodes, as views."""
        return TorchDroneState(**{name: held[..., episodes] for name, held in vars(self).items()})

    @staticmethod
    def joined(parts: "list[TorchDroneState]") -> "TorchDroneState":
        """Return all episodes of some parts, in their order."""
        return TorchDroneState(
            **{
                name: torch.cat([getattr(part, name) for part in parts], dim=-1)
                for name in vars(parts[0])
            }
        )


def start(params: DroneDeliveryParameters, keys: Keys, dtype: torch.dtype) -> TorchDroneState:
    """Return the beginning of B episodes; see `physics.start`."""
    n, device = params.drones, keys[0].device
    counters = torch.arange(2 * n, dtype=torch.int32, device=device).view(n, 2).T[..., None]
    positions = symmetric_uniform(draw(*keys, counters), dtype)
    none = torch.zeros(positions.shape[1:], dtype=torch.int32, device=device)
    points = new_points(params, keys, positions, none)
    return TorchDroneState(
        positions=positions,
        velocities=torch.zeros_like(positions),
        fuel=torch.ones_like(positions[0]),
        stopped=none,
        points=points,
        distances=length(points - positions),
        deliveries=none,
    )


def new_points(
    params: DroneDeliveryParameters, keys: Keys, positions: Tensor, deliveries: Tensor
) -> Tensor:
    """Return the point [2, n, B] of each drone after its deliveries [n, B]; see the reference."""
    drones = torch.arange(params.drones, dtype=torch.int32, device=positions.device)[:, None]
    first = FIRST_POINT_COUNTER + 2 * (deliveries * params.drones + drones)
    points = symmetric_uniform(draw(*keys, torch.stack([first, first + 1])), positions.dtype)
    near = length(points - positions) < params.nearest_point
    inwards = torch.where(points < 0.0, points + 1.0, points - 1.0)
    return torch.where(near, inwards, points)


def touching(params: DroneDeliveryParameters, positions: Tensor) -> Tensor:
    """Return whether two different drones [n, n, B] are in contact."""
    close = length(positions[:, :, None] - positions[:, None]) < params.contact
    return close & others(params.drones, positions.device)


def transition(
    params: DroneDeliveryParameters, state: TorchDroneState, actions: Tensor, keys: Keys
) -> tuple[TorchDroneState, Tensor]:
    """Advance B worlds by one step; see `physics.transition`.

    Args:
        params: the world.
        state: before the step.
        actions: [2, n, B] in [-1, 1].
        keys: of the B episodes.
    Returns:
        The state after the step, and the team reward [B].
    """
    flying = (state.stopped == 0) & (state.fuel > 0.0)
    velocities = (1.0 - params.damping) * state.velocities + params.dt * params.gain * actions
    velocities = torch.where(flying, velocities, 0.0)
    positions = state.positions + params.dt * velocities

    demand = params.dt * (params.hover_burn + params.speed_burn * length(velocities) ** 3)
    fuel = state.fuel - torch.minimum(demand, state.fuel)
    delivered = (fuel > 0.0) & (length(state.points - positions) < params.delivery_radius)
    empty = fuel <= 0.0
    collided = touching(params, positions) & ~touching(params, state.positions)
    halted = collided.any(dim=1)

    deliveries = state.deliveries + delivered
    points = torch.where(delivered, new_points(params, keys, positions, deliveries), state.points)
    after = TorchDroneState(
        positions=positions,
        velocities=torch.where(halted | empty, 0.0, velocities),
        fuel=torch.where(delivered, 1.0, fuel),
        stopped=torch.where(halted, params.stop_steps, (state.stopped - 1).clamp(min=0)),
        points=points,
        distances=torch.where(delivered, length(points - positions), state.distances),
        deliveries=deliveries,
    )
    paid = params.delivery_reward * torch.where(delivered, state.distances.square(), 0.0).sum(dim=0)
    pairs = collided.sum(dim=(0, 1), dtype=paid.dtype) / 2.0
    stranded = empty.sum(dim=0, dtype=paid.dtype)
    reward = paid - params.collision_penalty * pairs - params.empty_penalty * stranded
    return after, reward


def others(n: int, device: torch.device) -> Tensor:
    """Return a mask [n, n, 1] of the pairs of two different drones."""
    return ~torch.eye(n, dtype=torch.bool, device=device)[..., None]


def length(vectors: Tensor) -> Tensor:
    """Return the Euclidean length [...] of vectors [2, ...]."""
    return vectors.square().sum(dim=0).sqrt()
