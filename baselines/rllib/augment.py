"""Transitions seen through the symmetries that a task declares, which searches know too."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float32
from rolecast.envs.spec import TaskSpec
from rolecast.envs.symmetry import Symmetry, index_and_sign

OBSERVATION_COLUMNS: Final = ("observations", "next_observations")
"""Columns of `Transitions` that a symmetry of observations maps."""

LARGEST_GROUP: Final = 64
"""Elements of a group that are kept; a group of more is refused."""

SignedPlaces = tuple[int, ...]


class SymmetryAugmentation:
    """Maps each transition of a batch by an element of the group, drawn uniformly.

    All agents of a transition are mapped by the same element, as the world is. Symmetries that
    exchange agents are left out: they hold for one agent's view, not for a joint transition.
    """

    def __init__(self, symmetries: Sequence[Symmetry], sizes: tuple[int, int]) -> None:
        """Close the group that the generators make.

        Args:
            symmetries: of the task.
            sizes: do and da.
        Raises:
            ConfigError: there is none that a joint transition has, or the group is too large.
        """
        generators = [
            (each.observation, each.action) for each in symmetries if not each.exchanges_agents
        ]
        if not generators:
            raise ConfigError("symmetries", True, "False: the task declares none of this kind")
        elements = _closed(generators, sizes)
        self.order = len(elements)
        """Elements of the group, the identity among them."""
        self._observation = _stacked([observation for observation, _ in elements])
        self._action = _stacked([action for _, action in elements])

    @classmethod
    def of_task(cls, task: TaskSpec) -> "SymmetryAugmentation":
        """Return the augmentation by all symmetries that a task declares.

        Raises:
            ConfigError: as for a new one.
        """
        return cls(task.symmetries, (task.observation_size, task.action_size))

    def __call__(
        self, batch: Mapping[str, Float32], random: np.random.Generator
    ) -> dict[str, Float32]:
        """Return a batch of `Transitions` columns, each row [n, ...] mapped by its own element."""
        rows = random.integers(self.order, size=len(batch["actions"]))
        found = dict(batch)
        for name in OBSERVATION_COLUMNS:
            found[name] = _mapped(batch[name], *self._observation, rows)
        found["actions"] = _mapped(batch["actions"], *self._action, rows)
        return found


def _closed(
    generators: Sequence[tuple[SignedPlaces, SignedPlaces]], sizes: tuple[int, int]
) -> list[tuple[SignedPlaces, SignedPlaces]]:
    """Return all products of the generators, the identity first."""
    observation, action = (tuple(range(1, size + 1)) for size in sizes)
    elements = [(observation, action)]
    fresh = list(elements)
    while fresh:
        made = {
            (_after(left[0], right[0]), _after(left[1], right[1])): None
            for left, right in product(generators, fresh)
        }
        fresh = [each for each in made if each not in elements]
        elements += fresh
        if len(elements) > LARGEST_GROUP:
            raise ConfigError("symmetries", True, f"a group of at most {LARGEST_GROUP} elements")
    return elements


def _after(outer: SignedPlaces, inner: SignedPlaces) -> SignedPlaces:
    """Return the signed permutation that applies `inner`, then `outer`."""
    return tuple(int(np.sign(place)) * inner[abs(place) - 1] for place in outer)


def _stacked(places: Sequence[SignedPlaces]) -> tuple[NDArray[np.int64], Float32]:
    """Return indices and signs [G, m] of G signed permutations."""
    pairs = [index_and_sign(each) for each in places]
    return np.stack([index for index, _ in pairs]), np.stack(
        [sign.astype(np.float32) for _, sign in pairs]
    )


def _mapped(
    values: Float32, index: NDArray[np.int64], sign: Float32, rows: NDArray[np.int64]
) -> Float32:
    """Return values [N, n, m] with the last axis of row r mapped by element rows[r]."""
    places = np.broadcast_to(index[rows][:, None, :], values.shape)
    mapped: Float32 = np.take_along_axis(values, places, axis=-1) * sign[rows][:, None, :]
    return mapped
