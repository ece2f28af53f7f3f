"""Observations of a predator: all entities within its view, or the nearest of each kind.

Source: `observation` of the FACMAC scenarios for `full`, whose size grows with n. The policy sizes
of Table 3 need 16 numbers for every n; `nearest16` is this project's choice of them.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import unknown_name
from rolecast.core.types import Float
from rolecast.envs.predator_prey.physics import PredatorPreyParameters

OBSERVATION_VARIANTS: Final = ("nearest16", "full")
"""Variants of the observation, the default first."""

NEAREST_COUNTS: Final = {"landmarks": 2, "predators": 2, "prey": 1}
"""Number of entities of each kind in `nearest16`."""


def observation_size(params: PredatorPreyParameters, variant: str) -> int:
    """Return do: 16 for `nearest16`; for `full` 16, 30, 44, 72 at n = 3, 6, 9, 15."""
    if variant not in OBSERVATION_VARIANTS:
        raise unknown_name("observation variant", str(variant), OBSERVATION_VARIANTS)
    if variant == "nearest16":
        return 16
    return 4 + 2 * params.landmarks + 2 * (params.predators - 1) + 4 * params.prey


def observe(
    params: PredatorPreyParameters, positions: Float, velocities: Float, variant: str = "nearest16"
) -> Float:
    """Return the observations of the predators.

    Columns in this order:
    - own velocity and position.
    - landmarks, other predators and prey, relative to the own position.
    - velocities of these prey.

    Entities beyond the view radius read 0. So do prey for predators that are no scouts, where
    there are scouts. `full` has all entities in their order. `nearest16` has
    the two nearest landmarks, the two nearest other predators and the nearest prey. They stand in
    entity order, and ties go to the lowest index; both variants are equal at n = 3.

    Args:
        params: parameters of the world.
        positions: [B, m, 2].
        velocities: [B, n + k, 2].
        variant: one of `OBSERVATION_VARIANTS`.
    Returns:
        [B, n, do].
    Raises:
        RequestError: the variant does not exist.
    """
    size = observation_size(params, variant)
    n, movers = params.predators, params.movers
    own = np.concatenate([velocities[:, :n], positions[:, :n]], axis=-1)
    offset = positions[:, None, :, :] - positions[:, :n, None, :]
    distance = np.sqrt(np.square(offset).sum(axis=-1))
    seen = (distance <= params.view_radius)[..., None]
    if params.scouts:
        seen[:, params.scouts :, n:movers] = False
    offset = np.where(seen, offset, 0.0)
    prey_velocity = np.where(seen[:, :, n:movers], velocities[:, None, n:], 0.0)

    agents = np.arange(n)
    kinds = {
        "landmarks": np.broadcast_to(np.arange(movers, params.entities), (n, params.landmarks)),
        "predators": agents[:-1] + (agents[:-1] >= agents[:, None]),
        "prey": np.broadcast_to(np.arange(n, movers), (n, params.prey)),
    }
    batch = len(positions)
    chosen = {name: np.broadcast_to(of, (batch, *of.shape)) for name, of in kinds.items()}
    if variant == "nearest16":
        chosen = {name: _nearest(distance, of, NEAREST_COUNTS[name]) for name, of in chosen.items()}
    relative = [np.take_along_axis(offset, of[..., None], axis=2) for of in chosen.values()]
    prey_index = chosen["prey"][..., None] - n
    relative.append(np.take_along_axis(prey_velocity, prey_index, axis=2))
    parts = [own, *(part.reshape(batch, n, -1) for part in relative)]
    return np.concatenate(parts, axis=-1).reshape(batch, n, size)


def _nearest(distance: Float, of: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the `count` nearest of the entities of [B, n, c] to each agent, in entity order.

    Args:
        distance: [B, n, m].
        of: [B, n, c], entities to choose from, ascending.
        count: at most c.
    """
    rank = np.argsort(np.take_along_axis(distance, of, axis=2), axis=-1, kind="stable")
    return np.take_along_axis(of, np.sort(rank[..., :count], axis=-1), axis=2)
