"""The embeddings of BAxUS: every dimension follows one of few bins, and bins are split again.

Source: Papenmeier, Nardi and Poloczek (2022), Increasing the scope as you learn: adaptive Bayesian
optimization in nested subspaces.
"""

from dataclasses import dataclass
from math import floor, log
from typing import Final

import numpy as np

from rolecast.baselines.hdbo.record import Index
from rolecast.baselines.hdbo.trust_region import FIRST_LENGTH, LEAST_REGION_LENGTH
from rolecast.core.types import Float

NEW_BINS: Final = 3
"""b, bins that a split adds to each bin."""


@dataclass(frozen=True)
class Bins:
    """An embedding of d bins in D dimensions: x_i = sign_i z_(bin_i), both in [-1, 1]."""

    owners: Index
    """[D], bin of each dimension."""

    signs: Float
    """[D], 1 or -1."""

    @property
    def count(self) -> int:
        """Number of bins, d."""
        return int(self.owners.max()) + 1

    def points(self, inputs: Float) -> Float:
        """Map z [N, d] to points [N, D] of the unit cube."""
        return np.asarray(0.5 + 0.5 * self.signs * inputs[:, self.owners])

    def inputs(self, points: Float) -> Float:
        """Map points [N, D] of the unit cube to z [N, d]: the mean over each bin.

        Undoes `points`, before and after splits; points from elsewhere are seen through it.
        """
        sums = np.zeros((self.count, len(points)))
        np.add.at(sums, self.owners, (self.signs * (2.0 * points - 1.0)).T)
        return np.asarray((sums / np.bincount(self.owners)[:, None]).T)

    def split(self, rng: np.random.Generator) -> "Bins":
        """Divide each bin into b + 1, or as many as it has dimensions: no point is lost."""
        owners, count = self.owners.copy(), self.count
        for place in range(self.count):
            members = rng.permutation(np.flatnonzero(self.owners == place))
            pieces = np.array_split(members, min(NEW_BINS + 1, len(members)))
            for piece in pieces[1:]:
                owners[piece] = count
                count += 1
        return Bins(owners, self.signs)


def first_bins(dimension: int, rng: np.random.Generator) -> Bins:
    """Return bins of nearly equal size with random signs."""
    owners = np.empty(dimension, dtype=np.int64)
    pieces = np.array_split(rng.permutation(dimension), first_count(dimension))
    for place, piece in enumerate(pieces):
        owners[piece] = place
    return Bins(owners, rng.choice([-1.0, 1.0], dimension))


def splits(dimension: int) -> int:
    """Return k, splits until there are about D bins."""
    return int(np.rint(log(dimension, NEW_BINS + 1)))


def first_count(dimension: int) -> int:
    """Return the number of first bins for which k splits come closest to D."""
    reached = (NEW_BINS + 1) ** splits(dimension) * np.arange(1, NEW_BINS + 1)
    return int(np.argmin(np.abs(reached - dimension))) + 1


def tolerance(count: int, dimension: int, evaluations: int) -> int:
    """Return the evaluations without gain after which a box of d bins is halved.

    The evaluations of a number of bins are in proportion to it. Within them the box may shrink from
    its first to its least side.
    """
    if count >= dimension:
        return dimension
    growth = (NEW_BINS + 1) ** (splits(dimension) + 1) - 1
    share = round(NEW_BINS * evaluations * count / (first_count(dimension) * growth))
    halvings = floor(log(LEAST_REGION_LENGTH / FIRST_LENGTH, 0.5))
    return int(min(count, max(1, share // halvings)))
