"""Finds which dimensions interact from evaluations alone, where no policy can be differentiated.

A process of single dimensions explains what it can of the returns; a pair of dimensions scores by
how its own term, the product of two centred one-dimensional kernels, would raise the evidence. The
best pairs join the process, and the rest is scored again, for as many rounds as make pairs that one
half of the evaluations has found raise the evidence of the other half.

Appendix H of the DSS-GP-UCB paper leaves Hessians without gradients to finite differences and
Gaussian processes. Differs: scores are of evidence, not the Hessian of a posterior mean, which
finds fewer of the true pairs from the same points (docs/structure.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.config import FinderSettings
from rolecast.platform.optimizers.dss_gp_ucb.structure import find_structure, strongest_edges
from rolecast.platform.surrogate.gp import Fit, fit
from rolecast.platform.surrogate.levelling import level
from rolecast.platform.surrogate.matern import matern52

FIRST: Final = 100
"""Evaluations before a first look."""

AGAIN: Final = 1.5
"""Factor of evaluations from one look to the next."""

MOST: Final = 1000
"""Latest evaluations that a look takes in."""

LARGEST: Final = 1000
"""Most dimensions in which it looks: scores take 8 (6 D)^2 bytes a few times over, and more pairs
are not told apart by any evaluations that a search can make."""

LENGTHSCALE: Final = 1.4
"""Of the one-dimensional kernels, in standard deviations of the dimension."""

NODES: Final = 20
"""Quantiles of a dimension from which its kernel's features are made (Nyström)."""

FEATURES: Final = 6
"""How many of them are kept."""

ROUNDS: Final = 10
"""Most rounds."""

PACE: Final = 8
"""Dimensions for each pair that joins in a round."""

NOISES: Final = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Noise variances that evidence chooses among, as shares of the output variance."""

SHARES: Final = (0.2, 0.5, 0.8)
"""Shares of the pairs that evidence chooses among."""

SURE: Final = 6.0
"""Log evidence, of both halves together, that pairs must gain to be believed. Where returns are
noise, the best of ten rounds gained at most 4 in two dozen trials."""

Index = NDArray[np.int64]


class StructureFinder:
    """Looks for pairs now and then, as evaluations come in; without settings it never does."""

    def __init__(self, settings: FinderSettings | None, *, dimension: int) -> None:
        self._settings, self._dimension = settings, dimension
        self._next = FIRST
        self._edges: Index = np.zeros((0, 2), dtype=np.int64)
        self.cliques: tuple[tuple[int, ...], ...] | None = None
        """Found last, a dimension in no pair alone; None before the first look."""

    def is_due(self, count: int) -> bool:
        """Return whether it is time to look, with so many evaluations."""
        looks = self._settings is not None and 1 < self._dimension <= LARGEST
        return looks and count >= self._next

    def find(self, candidates: Float, returns: Float, noise: Float) -> None:
        """Look for pairs among the latest evaluations.

        Args:
            candidates: [N, D].
            returns: [N].
            noise: [N], relative noise variance of each.
        """
        if self._settings is None:
            return
        self._next = int(AGAIN * len(candidates))
        seen = slice(max(0, len(candidates) - MOST), None)
        targets, _ = level(returns[seen], self._settings.levelling)
        scores = pair_scores(candidates[seen], targets, noise[seen])
        self._edges, _ = strongest_edges(scores, self._settings.edge_cap)
        self.cliques = self._joined(scores)

    def explain(self) -> dict[str, float]:
        """Return how many pairs were found, where it looks for them."""
        return {} if self._settings is None else {"structure_edges": float(len(self._edges))}

    def state_dict(self) -> dict[str, Any]:
        """Return pairs, strongest first, and when to look again."""
        return {"next": self._next, "edges": self._edges.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._next = int(state["next"])
        self._edges = np.array(state["edges"], dtype=np.int64).reshape(-1, 2)
        scores = np.zeros((self._dimension, self._dimension))
        ranks = np.arange(len(self._edges), 0, -1)
        scores[self._edges[:, 0], self._edges[:, 1]] = ranks
        looked = self._next > FIRST
        self.cliques = self._joined(scores + scores.T) if looked else None

    def _joined(self, scores: Float) -> tuple[tuple[int, ...], ...] | None:
        if self._settings is None:
            return None
        found = find_structure(
            scores,
            edge_cap=self._settings.edge_cap,
            clique_cap=self._settings.clique_cap,
            clique_size=self._settings.clique_size,
        )
        return found.cliques


def pair_scores(candidates: Float, targets: Float, noise: Float) -> Float:
    """Return scores [D, D] of pairs that interact: 0 for the others, greater for those found first.

    Args:
        candidates: [N, D].
        targets: [N], levelled returns of mean 0.
        noise: [N], relative noise variance of each.
    """
    model = _PairModel(candidates, targets, noise)
    everywhere = np.arange(len(targets))
    even, odd = everywhere[::2], everywhere[1::2]
    gains = np.array(list(model.gains(even, odd))) + np.array(list(model.gains(odd, even)))
    count = int(np.argmax(gains)) if gains.max() > SURE else 0
    scores = np.zeros((candidates.shape[1],) * 2)
    if count:
        *_, last = islice(model.rounds(everywhere), count + 1)
        for place, (a, b) in enumerate(last.pairs):
            scores[a, b] = scores[b, a] = 1.0 / (1 + place)
    return scores


def features(column: Float) -> Float:
    """Return centred features [N, FEATURES] of a dimension, whose products sum to its kernel.

    Matérn-5/2 by Nyström's method on quantiles, the constant taken out, mean square sum 1.
    """
    spread = max(float(column.std()), 1e-12) * LENGTHSCALE
    nodes = np.quantile(column, np.linspace(0.0, 1.0, NODES))
    cross = matern52(np.square((column[:, None] - nodes) / spread))
    own = matern52(np.square((nodes[:, None] - nodes) / spread))
    values, vectors = np.linalg.eigh(own)
    kept = values > 1e-8 * values[-1]
    mapped = cross @ (vectors[:, kept] / np.sqrt(values[kept]))
    left, singular, _ = np.linalg.svd(mapped - mapped.mean(0), full_matrices=False)
    # A dimension that hardly varies has fewer features; the others stay 0.
    found = np.zeros((len(column), FEATURES))
    rank = min(FEATURES, len(singular))
    found[:, :rank] = left[:, :rank] * singular[:rank]
    mean_square = np.square(found).sum() / len(column)
    return np.asarray(found / np.sqrt(max(float(mean_square), 1e-300)))


@dataclass(frozen=True, eq=False)
class _Step:
    """The process after some rounds."""

    pairs: tuple[tuple[int, int], ...]
    together: Float
    """[N, N], sum of the pairs' kernels."""

    fit: Fit


class _PairModel:
    """Features of all dimensions, and a process that takes in pairs round by round."""

    def __init__(self, candidates: Float, targets: Float, noise: Float) -> None:
        self._targets, self._noise = targets, noise
        self._features = np.stack([features(column) for column in candidates.T])
        flat = np.moveaxis(self._features, 0, 1).reshape(len(targets), -1)
        self._flat = flat
        self._single = flat @ flat.T / candidates.shape[1]

    def rounds(self, known: Index) -> Iterator[_Step]:
        """Yield the process of single dimensions, and that after each round, given some points."""
        together = np.zeros_like(self._single)
        pairs: tuple[tuple[int, int], ...] = ()
        dimension = len(self._features)
        while True:
            step = _Step(pairs, together, self._fit(pairs, together, known))
            yield step
            scores = self._scores(step.fit, known)
            for a, b in pairs:
                scores[a, b] = scores[b, a] = 0.0
            found, _ = strongest_edges(scores, max(1, dimension // PACE))
            pairs = (*pairs, *((int(a), int(b)) for a, b in found))
            together = together + sum(self._kernel(a) * self._kernel(b) for a, b in found)

    def gains(self, known: Index, judge: Index) -> Iterator[float]:
        """Yield by how much the pairs of each round raise the evidence of other points."""
        alone = None
        for step in islice(self.rounds(known), ROUNDS + 1):
            evidence = self._fit(step.pairs, step.together, judge).log_evidence
            alone = evidence if alone is None else alone
            yield evidence - alone

    def _kernel(self, dimension: int) -> Float:
        return np.asarray(self._features[dimension] @ self._features[dimension].T)

    def _fit(self, pairs: Sequence[tuple[int, int]], together: Float, seen: Index) -> Fit:
        """Choose share and noise by evidence and condition on some points."""
        inside = np.ix_(seen, seen)
        single, paired = self._single[inside], together[inside] / max(len(pairs), 1)
        fits = (
            fit(
                (1.0 - share) * single + share * paired,
                self._targets[seen],
                noise * self._noise[seen],
            )
            for share in (SHARES if pairs else (0.0,))
            for noise in NOISES
        )
        return max(fits, key=lambda found: found.log_evidence)

    def _scores(self, known: Fit, seen: Index) -> Float:
        """Return how much of what is unexplained each pair's products of features share, [D, D].

        As the multiple, less 1, of what chance makes of it; 0 where it is no more than that.
        """
        size, _, rank = self._features.shape
        flat = self._flat[seen]
        factor = np.eye(len(seen))
        inverse = solve_triangular(known.factor, factor, lower=True, check_finite=False)
        squares = np.square(flat)
        chance = squares.T @ (known.scale * np.square(inverse).sum(0)[:, None] * squares)
        shared = np.square(flat.T @ (known.weights[:, None] * flat))
        shape = (size, rank, size, rank)
        usual = np.maximum(chance.reshape(shape).sum((1, 3)), 1e-300)
        times = shared.reshape(shape).sum((1, 3)) / usual
        np.fill_diagonal(times, 0.0)
        return np.asarray(np.maximum(times - 1.0, 0.0))
