"""Symmetries of a task: signed permutations under which episodes keep their probability.

A symmetry maps an observation o to S o and an action a to A a, the same for all agents. Agents may
be renumbered with it. A policy pi and its image A pi(S^-1 o) then have the same expected return.
A task declares generators; `check-task` compares them with episodes of random policies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float

SignedPlaces = tuple[int, ...]
"""Signed permutation of m entries: new[k] = sign(p[k]) old[|p[k]| - 1]."""


@dataclass(frozen=True, kw_only=True)
class Symmetry:
    """One symmetry of a task; a generator of its group."""

    name: str
    """Name in reports and errors."""

    observation: SignedPlaces
    """Signed permutation S of the do entries of an observation."""

    action: SignedPlaces
    """Signed permutation A of the da entries of an action."""

    exchanges_agents: bool = False
    """Whether agents are renumbered with it; a policy with an index of agents cannot follow."""

    def __post_init__(self) -> None:
        for field in ("observation", "action"):
            places = getattr(self, field)
            ordered = sorted(abs(place) for place in places)
            if ordered != list(range(1, len(places) + 1)):
                what = f"Symmetry.{field} of {self.name!r}"
                raise ConfigError(what, tuple(places), "each of 1..m once, with either sign")
            object.__setattr__(self, field, tuple(int(place) for place in places))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Symmetry":
        """Return the symmetry of a mapping that `dataclasses.asdict` gave."""
        places = {name: tuple(values[name]) for name in ("observation", "action")}
        return cls(**{**values, **places})


def apply_places(places: SignedPlaces, values: ArrayLike) -> Float:
    """Return values [..., m] after a signed permutation of their last axis."""
    index, sign = index_and_sign(places)
    return np.asarray(np.asarray(values)[..., index] * sign)


def index_and_sign(places: SignedPlaces) -> tuple[NDArray[np.int64], Float]:
    """Return the places [m] from 0 and the signs [m] of a signed permutation."""
    signed = np.array(places, dtype=np.int64)
    return np.abs(signed) - 1, np.sign(signed).astype(np.float64)


def square_symmetries(pairs: Sequence[int], size: int) -> tuple[Symmetry, Symmetry]:
    """Return two generators of the square's eight symmetries, for actions (x, y).

    Args:
        pairs: first entry, from 0, of each pair (x, y) in the observation.
        size: do; all entries outside the pairs stay.
    """
    mirrored, swapped = list(range(1, size + 1)), list(range(1, size + 1))
    for x in pairs:
        mirrored[x] = -mirrored[x]
        swapped[x], swapped[x + 1] = swapped[x + 1], swapped[x]
    return (
        Symmetry(name="mirror x", observation=tuple(mirrored), action=(-1, 2)),
        Symmetry(name="exchange x and y", observation=tuple(swapped), action=(2, 1)),
    )


def exchange(
    name: str,
    first: Sequence[int],
    second: Sequence[int],
    *,
    sizes: tuple[int, int],
    exchanges_agents: bool = False,
) -> Symmetry:
    """Return the exchange of two lists of observation entries, from 0; actions stay.

    Args:
        name: name of the symmetry.
        first: entries [m].
        second: entries [m] that they are exchanged with.
        sizes: do and da.
        exchanges_agents: as in `Symmetry`.
    """
    places = list(range(1, sizes[0] + 1))
    for a, b in zip(first, second, strict=True):
        places[a], places[b] = places[b], places[a]
    return Symmetry(
        name=name,
        observation=tuple(places),
        action=tuple(range(1, sizes[1] + 1)),
        exchanges_agents=exchanges_agents,
    )
