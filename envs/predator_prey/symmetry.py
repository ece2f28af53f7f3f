"""Symmetries of predator-prey: the square's eight, and exchanges of equal entities.

All entities start uniformly in a square, act within its symmetries, and see pairs (x, y). The
reversed order of the landmarks exchanges the two that are seen, and that of the predators likewise.
"""

from rolecast.envs.predator_prey.observation import NEAREST_COUNTS, observation_size
from rolecast.envs.predator_prey.physics import PredatorPreyParameters
from rolecast.envs.symmetry import Symmetry, exchange, square_symmetries

OWN_ENTRIES = 4
"""Own velocity and position, before the other entities."""


def symmetries(
    params: PredatorPreyParameters, variant: str, *, exchangeable: bool
) -> tuple[Symmetry, ...]:
    """Return the generators.

    Args:
        params: parameters of the world.
        variant: of the observation.
        exchangeable: whether all predators are equal.
    """
    size = observation_size(params, variant)
    counts = {
        "landmarks": params.landmarks,
        "predators": params.predators - 1,
        "prey": params.prey,
    }
    if variant == "nearest16":
        counts = NEAREST_COUNTS
    first = OWN_ENTRIES
    landmarks = [_pair(first, k) for k in range(counts["landmarks"])]
    first += 2 * counts["landmarks"]
    others = [_pair(first, k) for k in range(counts["predators"])]
    found = list(square_symmetries(range(0, size, 2), size))
    found.append(_reversal("reverse landmarks", landmarks, size))
    if exchangeable:
        found.append(_reversal("reverse predators", others, size, exchanges_agents=True))
    return tuple(found)


def _pair(first: int, number: int) -> list[int]:
    """Return the entries of an entity's pair (x, y)."""
    return [first + 2 * number, first + 2 * number + 1]


def _reversal(
    name: str, pairs: list[list[int]], size: int, *, exchanges_agents: bool = False
) -> Symmetry:
    """Return the reversal of the order of entities."""
    half = len(pairs) // 2
    front, back = pairs[:half], pairs[::-1][:half]
    return exchange(
        name,
        [entry for pair in front for entry in pair],
        [entry for pair in back for entry in pair],
        sizes=(size, 2),
        exchanges_agents=exchanges_agents,
    )
