"""What the predators observe, on tensors: `observation.observe`, for CPU and CUDA."""

import torch
from torch import Tensor

from rolecast.envs.predator_prey.observation import NEAREST
from rolecast.envs.predator_prey.physics import PredatorPreyParameters


def observe(
    params: PredatorPreyParameters, positions: Tensor, velocities: Tensor, variant: str
) -> Tensor:
    """Return what each predator observes; see `observation.observe`.

    Args:
        params: the world.
        positions: [2, m, B].
        velocities: [2, n + k, B].
        variant: one of `observation.VARIANTS`.
    Returns:
        [B, n, do], a view whose last axis is not contiguous.
    """
    n, movers, batch = params.predators, params.movers, positions.shape[-1]
    offset = positions[:, None] - positions[:, :n, None]
    distance = (offset[0].square() + offset[1].square()).sqrt()
    seen = distance <= params.view_radius
    offset = torch.where(seen, offset, 0.0)
    velocity = torch.where(seen[:, n:movers], velocities[:, None, n:], 0.0)

    entities = torch.arange(params.entities, device=positions.device)
    agents = entities[:n, None]
    kinds = {
        "landmarks": entities[movers:].expand(n, -1),
        "predators": entities[: n - 1] + (entities[: n - 1] >= agents),
        "prey": entities[n:movers].expand(n, -1),
    }
    rows = [velocities[:, :n, None], positions[:, :n, None]]
    for name, of in kinds.items():
        shown = of[..., None].expand(-1, -1, batch)
        if variant == "nearest16" and NEAREST[name] < of.shape[1]:
            shown = _nearest(distance, shown, NEAREST[name])
        rows.append(_pick(offset, shown))
    rows.append(_pick(velocity, shown - n))
    flat = [part.permute(1, 2, 0, 3).reshape(n, -1, batch) for part in rows]
    return torch.cat(flat, dim=1).permute(2, 0, 1)


def _pick(values: Tensor, shown: Tensor) -> Tensor:
    """Return values [2, n, e, B] of the entities shown [n, c, B], as [2, n, c, B]."""
    return values.gather(2, shown.expand(2, -1, -1, -1))


def _nearest(distance: Tensor, of: Tensor, count: int) -> Tensor:
    """Return the `count` nearest of the entities of [n, c, B] to each agent, in entity order.

    Args:
        distance: [n, m, B].
        of: [n, c, B], entities to choose from, ascending.
        count: at most c; of equal distances the lowest index.
    """
    rank = torch.argsort(distance.gather(1, of), dim=1, stable=True)
    return of.gather(1, rank[:, :count].sort(dim=1).values)
