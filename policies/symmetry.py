"""Weights under the symmetries of a task: which of them are tied, and centres that stay fixed.

A symmetry of the task moves a policy's weights by a signed permutation, without a change of its
expected return. At weights that all symmetries leave fixed, the gradient of the return therefore
lies in the fixed subspace: one direction for each orbit of weights. In `hom` on predator-prey these
are 57 of 353 directions.

Source: invariance under a known group, Kondor (2008) and Brown, Cioba and Bogunovic (2024).
Differs: the subspace of fixed weights is searched, in place of a kernel averaged over the group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.envs.symmetry import SignedPlaces, Symmetry, index_and_sign

Ties = NDArray[np.int64]
"""[D], the orbit of each weight from 1 on, with the sign of the weight in it; 0: a fixed weight
is zero."""


SymmetrySource = Literal["declared", "found"] | Sequence[Mapping[str, Any]]
"""Where the symmetries of weights come from; see `PolicySettings.symmetries`."""

SYMMETRY_SOURCES: Final = ("declared", "found")


def check_symmetry_source(field: str, source: object) -> None:
    """Refuse a source that is neither one of the words nor a list of symmetries.

    Args:
        field: name of the setting.
        source: its value.
    """
    if source in SYMMETRY_SOURCES:
        return
    words = ", ".join(map(repr, SYMMETRY_SOURCES))
    if isinstance(source, str) or not isinstance(source, Sequence):
        raise ConfigError(field, source, f"one of {words}, or a list of symmetries")
    for each in source:
        try:
            Symmetry.from_json(each)
        except (AttributeError, KeyError, TypeError) as error:
            expected = "a list of mappings with name, observation and action"
            raise ConfigError(field, each, expected) from error


def recorded_source(source: SymmetrySource) -> str | list[dict[str, Any]]:
    """Return a source as JSON values."""
    if isinstance(source, str):
        return source
    return [asdict(Symmetry.from_json(each)) for each in source]


@dataclass(frozen=True, kw_only=True)
class NetSymmetry:
    """One symmetry of a small net: what happens to its inputs, hidden units and outputs."""

    inputs: SignedPlaces
    """Signed permutation of the input columns."""

    hidden: tuple[SignedPlaces, ...]
    """Signed permutations of the units of each hidden layer."""

    outputs: SignedPlaces
    """Signed permutation of the outputs."""

    @property
    def layers(self) -> list[tuple[SignedPlaces, SignedPlaces]]:
        """Permutations of the outputs and of the inputs of each layer."""
        sides = [self.inputs, *self.hidden, self.outputs]
        return list(zip(sides[1:], sides[:-1], strict=True))

    def moved(self) -> SignedPlaces:
        """Return the signed permutation of the net's weights and biases, layer by layer."""
        return joined(
            part
            for outputs, inputs in self.layers
            for part in (moved_matrix(outputs, inputs), outputs)
        )


def same_places(count: int) -> SignedPlaces:
    """Return the identity of `count` entries."""
    return tuple(range(1, count + 1))


def joined(parts: Iterable[SignedPlaces]) -> SignedPlaces:
    """Return the signed permutation that acts on consecutive parts one by one."""
    places: list[int] = []
    for part in parts:
        start = len(places)
        places += [place + start if place > 0 else place - start for place in part]
    return tuple(places)


def vector_units(action: SignedPlaces, count: int) -> SignedPlaces:
    """Return what `count` units do that are copies of an action; units left over stay."""
    copies, rest = divmod(count, len(action))
    return joined([action] * copies + [same_places(rest)])


def paired_units(action: SignedPlaces, count: int) -> SignedPlaces:
    """Return what units (+a_1, -a_1, +a_2, ...) do; units left over stay.

    No sign changes, so that a sum of these units is an invariant output which sees the action's
    directions.
    """
    pair = joined([(1, 2) if place > 0 else (2, 1) for place in action])
    order = [2 * abs(place) - 1 for place in action]
    moved: list[int] = []
    for k, first in enumerate(order):
        flipped = pair[2 * k] != 2 * k + 1
        moved += [first + 1, first] if flipped else [first, first + 1]
    copies, rest = divmod(count, len(moved))
    return joined([tuple(moved)] * copies + [same_places(rest)])


def moved_matrix(outputs: SignedPlaces, inputs: SignedPlaces) -> SignedPlaces:
    """Return the signed permutation of a matrix W [out, in] to L W R^T, in C order."""
    row, row_sign = index_and_sign(outputs)
    column, column_sign = index_and_sign(inputs)
    place = row[:, None] * len(inputs) + column[None] + 1
    signed = place * np.outer(row_sign, column_sign).astype(np.int64)
    return tuple(signed.ravel().tolist())


def orbits(generators: Sequence[SignedPlaces]) -> Ties:
    """Return the ties of weights w that all generators leave fixed: w[k] = sign w[place].

    Args:
        generators: at least one signed permutation of the same D weights.
    """
    size = len(generators[0])
    parent = np.arange(size)
    sign = np.ones(size)  # of a weight relative to its parent
    zero = np.zeros(size, dtype=bool)

    def root(k: int) -> tuple[int, float]:
        total = 1.0
        while parent[k] != k:
            total *= sign[k]
            k = int(parent[k])
        return k, total

    for places in generators:
        for k, place in enumerate(places):
            (a, sign_a), (b, sign_b) = root(k), root(abs(place) - 1)
            relation = float(np.sign(place)) * sign_a * sign_b
            if a == b:
                zero[a] |= relation < 0.0  # w = -w
            else:
                parent[b], sign[b] = a, relation
                zero[a] |= zero[b]
    numbers: dict[int, int] = {}
    ties = np.zeros(size, dtype=np.int64)
    for k in range(size):
        at, relation = root(k)
        if not zero[at]:
            ties[k] = int(relation) * numbers.setdefault(at, len(numbers) + 1)
    return ties


class TiedSubspace:
    """Subspace of weights that have the signs and equalities of given ties."""

    def __init__(self, ties: ArrayLike) -> None:
        """Set up the subspace of ties [D]."""
        signed = np.asarray(ties, dtype=np.int64)
        self._signs, self._orbit = np.sign(signed), np.maximum(np.abs(signed) - 1, 0)
        self._sizes = np.maximum(np.bincount(self._orbit, np.abs(self._signs)), 1.0)
        self.dimension = int(np.abs(signed).max())
        """Number k of orbits."""
        self.basis = np.zeros((signed.size, self.dimension))
        """Orthonormal basis [D, k], a column for each orbit."""
        rows = np.flatnonzero(signed)
        orbit = self._orbit[rows]
        self.basis[rows, orbit] = self._signs[rows] / np.sqrt(self._sizes[orbit])

    def part(self, points: Float) -> Float:
        """Return the part of points [..., D] in the subspace, by its basis."""
        return np.asarray((points @ self.basis) @ self.basis.T)

    def projected(self, deviations: ArrayLike) -> Float:
        """Return `part` of deviations [..., D] by signed means over orbits.

        Tied entries are equal to the last bit, and what is tied already stays as it is.
        """
        signed = np.asarray(deviations, dtype=np.float64) * self._signs
        rows = signed.reshape(-1, signed.shape[-1])
        means = [np.bincount(self._orbit, row) / self._sizes for row in rows]
        tied = np.array(means)[:, self._orbit] * self._signs
        return np.asarray(tied.reshape(signed.shape))
