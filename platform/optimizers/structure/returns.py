"""Finds which dimensions interact from evaluations alone, where no policy can be differentiated.

A process of single dimensions explains what it can of the returns. How much of the rest a pair's
products of features share is a weighted sum of squares, of which chance is known: pairs that it
cannot explain join the process, strongest first, and the rest is asked again, until none are left.

Appendix H of the DSS-GP-UCB paper leaves Hessians without gradients to finite differences and
Gaussian processes. Differs: a test of each pair, not the Hessian of a posterior mean, which finds
fewer of the true pairs from the same points and says of none how sure it is; measured in
docs/notebook/2026-11-structure.md.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.stats import chi2, false_discovery_control

from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.cliques import find_structure, strongest_edges
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.gp import Fit, fit
from rolecast.platform.surrogate.matern import matern52
from rolecast.platform.surrogate.outcome_transform import transform_returns

FIRST_LOOK: Final = 100
"""Evaluations before a first look."""

LOOK_GROWTH: Final = 1.5
"""Factor of evaluations from one look to the next."""

LOOK_WINDOW: Final = 2000
"""Latest evaluations that a look takes in."""

DIMENSION_LIMIT: Final = 1000
"""Most dimensions in which it looks: scores take 8 (6 D)^2 bytes a few times over, and more pairs
are not told apart by any evaluations that a search can make."""

RELATIVE_LENGTHSCALE: Final = 1.4
"""Of the one-dimensional kernels, in standard deviations of the dimension."""

NYSTROEM_NODES: Final = 20
"""Quantiles of a dimension from which its kernel's features are made (Nyström)."""

FEATURE_COUNT: Final = 6
"""How many of them are kept."""

ROUND_LIMIT: Final = 20
"""Most rounds."""

DIMENSIONS_PER_PAIR: Final = 8
"""Dimensions for each pair that joins in a round: one that shares a dimension with a true pair
looks like one itself until that has joined."""

FALSE_DISCOVERY_RATE: Final = 0.1
"""Share of false pairs among those found that is put up with (Benjamini and Hochberg 1995). Where
nothing interacts, it is how often a look finds any; chances are a little rough, so 0.15 at most."""

NOISE_VARIANCES: Final = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Noise variances that evidence chooses among, as shares of the output variance."""

PAIR_SHARES: Final = (0.2, 0.5, 0.8)
"""Shares of the pairs that evidence chooses among."""

Index = NDArray[np.int64]


class StructureFinder:
    """Looks for pairs now and then, as evaluations come in; without settings it never does."""

    def __init__(self, settings: FinderSettings | None, *, dimension: int) -> None:
        self._settings, self._dimension = settings, dimension
        self._next = FIRST_LOOK
        self._edges: Index = np.zeros((0, 2), dtype=np.int64)
        self.cliques: tuple[tuple[int, ...], ...] | None = None
        """Found last, a dimension in no pair alone; None before the first look."""

    @property
    def looks(self) -> bool:
        """Whether it ever does."""
        return self._settings is not None and 1 < self._dimension <= DIMENSION_LIMIT

    def is_due(self, count: int) -> bool:
        """Return whether it is time to look, with so many evaluations."""
        return self.looks and count >= self._next

    def find(self, candidates: Float, returns: Float, noise: Float) -> None:
        """Look for pairs among the latest evaluations.

        Args:
            candidates: [N, D].
            returns: [N].
            noise: [N], relative noise variance of each.
        """
        if self._settings is None:
            return
        self._next = int(LOOK_GROWTH * len(candidates))
        seen = slice(max(0, len(candidates) - LOOK_WINDOW), None)
        targets, _ = transform_returns(returns[seen], self._settings.outcome_transform)
        scores = pair_scores(candidates[seen], targets, noise[seen])
        self._edges, _ = strongest_edges(scores, self._settings.edge_cap)
        self.cliques = self._joined(scores)

    @property
    def has_pairs(self) -> bool:
        """Whether it found any when it last looked."""
        return len(self._edges) > 0

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
        looked = self._next > FIRST_LOOK
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
        targets: [N], transformed returns of mean 0.
        noise: [N], relative noise variance of each.
    """
    pairs = _PairModel(candidates, targets, noise).pairs()
    scores = np.zeros((candidates.shape[1],) * 2)
    for place, (a, b) in enumerate(pairs):
        scores[a, b] = scores[b, a] = 1.0 / (1 + place)
    return scores


def features(column: Float) -> Float:
    """Return centred features [N, FEATURE_COUNT] of a dimension, whose products sum to its kernel.

    Matérn-5/2 by Nyström's method on quantiles, the constant taken out, mean square sum 1.
    """
    spread = max(float(column.std()), 1e-12) * RELATIVE_LENGTHSCALE
    nodes = np.quantile(column, np.linspace(0.0, 1.0, NYSTROEM_NODES))
    cross = matern52(np.square((column[:, None] - nodes) / spread))
    own = matern52(np.square((nodes[:, None] - nodes) / spread))
    values, vectors = np.linalg.eigh(own)
    kept = values > 1e-8 * values[-1]
    mapped = cross @ (vectors[:, kept] / np.sqrt(values[kept]))
    left, singular, _ = np.linalg.svd(mapped - mapped.mean(0), full_matrices=False)
    # A dimension that hardly varies has fewer features; the others stay 0.
    found = np.zeros((len(column), FEATURE_COUNT))
    rank = min(FEATURE_COUNT, len(singular))
    found[:, :rank] = left[:, :rank] * singular[:rank]
    mean_square = np.square(found).sum() / len(column)
    return np.asarray(found / np.sqrt(max(float(mean_square), 1e-300)))


class _PairModel:
    """Features of all dimensions, and a process that takes in pairs round by round."""

    def __init__(self, candidates: Float, targets: Float, noise: Float) -> None:
        self._targets, self._noise = targets, noise
        self._features = np.stack([features(column) for column in candidates.T])
        flat = np.moveaxis(self._features, 0, 1).reshape(len(targets), -1)
        self._flat = flat
        self._single = flat @ flat.T / candidates.shape[1]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that chance does not explain, in the order in which they joined."""
        found: list[tuple[int, int]] = []
        together = np.zeros_like(self._single)
        for _ in range(ROUND_LIMIT):
            joined = self._next(self._fit(len(found), together), found)
            if not joined:
                break
            found += joined
            together = together + sum(self._kernel(a) * self._kernel(b) for a, b in joined)
        return found

    def _next(self, known: Fit, found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs that join next, least likely by chance first; none at the end."""
        times, chances = self._tested(known)
        for a, b in found:
            chances[a, b] = 1.0
        rows, columns = np.triu_indices(len(times), 1)
        times, chances = times[rows, columns], chances[rows, columns]
        # Chances can be too small for a float; then the greater score goes first.
        order = np.lexsort((-times, chances))[: max(1, len(self._features) // DIMENSIONS_PER_PAIR)]
        sure = false_discovery_control(chances)[order] <= FALSE_DISCOVERY_RATE
        return [(int(rows[place]), int(columns[place])) for place in order[sure]]

    def _kernel(self, dimension: int) -> Float:
        return np.asarray(self._features[dimension] @ self._features[dimension].T)

    def _fit(self, pairs: int, together: Float) -> Fit:
        """Choose share and noise by evidence, given the sum of so many pairs' kernels."""
        fits = (
            fit(
                (1.0 - share) * self._single + share * together / max(pairs, 1),
                self._targets,
                noise * self._noise,
            )
            for share in (PAIR_SHARES if pairs else (0.0,))
            for noise in NOISE_VARIANCES
        )
        return max(fits, key=lambda each: each.log_evidence)

    def _tested(self, known: Fit) -> tuple[Float, Float]:
        """Return what each pair's products of features share of what is unexplained, [D, D] twice.

        As a multiple of what chance makes of it, and how likely chance makes as much.
        """
        size, _, rank = self._features.shape
        shape = (size, rank, size, rank)
        identity = np.eye(len(self._targets))
        inverse = solve_triangular(known.factor, identity, lower=True, check_finite=False)
        squares = np.square(self._flat)
        variances = known.scale * np.square(inverse).sum(0)
        usual = (squares.T @ (variances[:, None] * squares)).reshape(shape)
        shared = np.square(self._flat.T @ (known.weights[:, None] * self._flat)).reshape(shape)
        sums = [np.power(usual, power).sum((1, 3)) for power in (1, 2, 3)]
        total = shared.sum((1, 3))
        # A dimension that does not vary has no features, and shares nothing.
        varies = sums[2] > 0.0
        first, second, third = (np.where(varies, each, 1.0) for each in sums)
        chances = np.where(varies, chance_of(total, first, second, third), 1.0)
        return np.asarray(total / first), chances


def chance_of(total: Float, first: Float, second: Float, third: Float) -> Float:
    """Return how likely a weighted sum of squares of independent normal deviates is this great.

    By a chi-square of the same mean, variance and skewness (Hall 1983, Buckley and Eagleson 1988).

    Args:
        total: the sum.
        first: sum of the weights, of the same shape.
        second: of their squares.
        third: of their cubes.
    """
    freedom = second**3 / third**2
    above = (total - first) / np.sqrt(2.0 * second)
    return np.asarray(chi2.sf(above * np.sqrt(2.0 * freedom) + freedom, freedom))
