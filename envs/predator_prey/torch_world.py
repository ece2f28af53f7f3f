"""Physics, reward and prey of predator-prey on tensors, for CPU and CUDA.

`physics.py` and `prey.py` are the readable reference; functions here follow them line by line. The
batch is the last axis and x, y the first, [2, entity, B], so that every operation runs over long
rows.
"""

import math
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.predator_prey.prey import FIRST_COUNTER
from rolecast.envs.torch_random import draw, shifted

_TINY: Final = {torch.float32: 1e-12, torch.float64: 1e-300}
"""Keeps the direction between two entities at one point finite, so that no force acts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TorchWorld:
    """The parameters of the world with their arrays as tensors of one device and dtype."""

    params: PredatorPreyParameters

    gain: Tensor
    """[n, 1]."""

    max_speeds: Tensor
    """[n + k, 1]."""

    touching: Tensor
    """[n + k, m, 1], distance at which two entities touch."""

    @property
    def tiny(self) -> float:
        """Least distance to divide by."""
        return _TINY[self.gain.dtype]


def torch_world(
    params: PredatorPreyParameters, device: torch.device, dtype: torch.dtype
) -> TorchWorld:
    """Put the parameters of a world on a device, float32 or float64."""
    sizes = params.sizes
    gain, max_speeds, touching = (
        torch.as_tensor(array, dtype=dtype, device=device)[..., None]
        for array in (params.gain, params.max_speeds, sizes[: params.movers, None] + sizes)
    )
    return TorchWorld(params=params, gain=gain, max_speeds=max_speeds, touching=touching)


def start_positions(world: TorchWorld, keys: tuple[Tensor, Tensor]) -> Tensor:
    """Return positions [2, m, B] at the beginning, for keys [B]; all velocities are 0 then."""
    params, (first, second) = world.params, keys
    counters = torch.arange(2 * params.entities, dtype=torch.int32, device=first.device)
    bits = draw(first, second, counters.reshape(-1, 2).T[..., None])
    positions = shifted(bits, 8).to(torch.float64) * 2.0**-23 - 1.0
    positions[:, params.movers :] *= params.landmark_spread
    return positions.to(world.gain.dtype)


def contact_forces(world: TorchWorld, positions: Tensor) -> Tensor:
    """Return the forces [2, n + k, B] by which all entities push the movers away."""
    params = world.params
    offset = positions[:, : params.movers, None] - positions[:, None]
    distance = _norm(offset)
    depth = (world.touching - distance) / params.contact_margin
    overlap = params.contact_margin * torch.logaddexp(depth.new_zeros(()), depth)
    push = params.contact_force * overlap / distance.clamp_min(world.tiny)
    return (push * offset).sum(dim=2)


def touching_pairs(world: TorchWorld, positions: Tensor) -> Tensor:
    """Return the number [B] of pairs of a predator and a prey that touch, as a float."""
    params = world.params
    n = params.predators
    distance = _norm(positions[:, :n, None] - positions[:, None, n : params.movers])
    touch = distance < params.predator_size + params.prey_size
    return touch.sum(dim=(0, 1)).to(positions.dtype)


def transition(
    world: TorchWorld, positions: Tensor, velocities: Tensor, actions: Tensor, prey_forces: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Advance B worlds by one step.

    Args:
        world: on the device and of the dtype of all tensors here.
        positions: [2, m, B].
        velocities: [2, n + k, B], length per unit of time.
        actions: [2, n, B] of the predators, in [-1, 1].
        prey_forces: [2, k, B], applied as they are.
    Returns:
        positions [2, m, B], velocities [2, n + k, B] and team_reward [B] after the step.
    """
    params = world.params
    own = torch.cat([world.gain * actions, prey_forces], dim=1)
    force = own + contact_forces(world, positions)
    velocities = (1.0 - params.damping) * velocities + params.dt * force
    speed = _norm(velocities)
    slow_down = world.max_speeds / speed.clamp_min(world.tiny)
    velocities = velocities * torch.where(speed > world.max_speeds, slow_down, 1.0)
    moved = positions[:, : params.movers] + params.dt * velocities
    positions = torch.cat([moved, positions[:, params.movers :]], dim=1)
    return positions, velocities, params.touch_reward * touching_pairs(world, positions)


def prey_points(world: TorchWorld, keys: tuple[Tensor, Tensor], step: int) -> Tensor:
    """Return the points [2, k, J, B] of the unit disc that the prey try at a step, from 0."""
    params, (first, second) = world.params, keys
    count = params.prey * params.prey_points
    begin = FIRST_COUNTER + step * count
    counters = torch.arange(begin, begin + count, dtype=torch.int32, device=first.device)
    bits = draw(first, second, counters.reshape(params.prey, params.prey_points, 1))
    radius = shifted(bits, 16).to(world.gain.dtype).div_(65536.0).sqrt_()
    angle = (bits & 65535).to(world.gain.dtype).mul_(2.0 * math.pi / 65536.0)
    return torch.stack([radius * angle.cos(), radius * angle.sin()])


def flee(world: TorchWorld, positions: Tensor, points: Tensor) -> Tensor:
    """Return the point [2, k, B] that each prey chooses, of points [2, k, J, B].

    Of those with which it would touch no predator, the one farthest from the predator that is
    nearest to it now; 0 where there is none.
    """
    params = world.params
    n = params.predators
    predators, prey = positions[:, None, :n], positions[:, n : params.movers, None]
    nearest = _squared(prey - predators).argmin(dim=1)[None, :, None].expand(2, -1, -1, -1)
    feared = predators.expand(-1, params.prey, -1, -1).gather(2, nearest)
    target = prey + points
    score = _squared(target - feared)
    closest = _squared(target[:, :, None] - predators[..., None, :]).amin(dim=1)
    reach = (params.predator_size + params.prey_size) ** 2
    best, choice = torch.where(closest >= reach, score, -1.0).max(dim=1)
    chosen = points.gather(2, choice[None, :, None].expand(2, -1, -1, -1))[:, :, 0]
    return chosen.masked_fill_(best < 0.0, 0.0)


def _squared(vectors: Tensor) -> Tensor:
    """Return the squared length of vectors [2, ...]."""
    squares = vectors.square()
    return squares[0].add_(squares[1])


def _norm(vectors: Tensor) -> Tensor:
    """Return the length of vectors [2, ...]."""
    return _squared(vectors).sqrt()
