"""Interactions of dimensions from evaluations alone, for policies without derivatives.

A Gaussian process of single dimensions is fitted to the returns. Each pair of dimensions is then
tested: the squared products of its features with the residual are summed. Without interaction this
is a weighted sum of chi-squares, which gives a p-value. Significant pairs join the process,
strongest first, and the test is repeated until no pair is significant.

Appendix H of the DSS-GP-UCB paper suggests finite differences or Gaussian processes for Hessians
without gradients. Differs: a test of each pair, not the Hessian of a posterior mean. That Hessian
finds fewer true pairs from the same points, without p-values (docs/notebook/2026-11-structure.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import chdtrc

from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.cliques import find_structure, strongest_edges
from rolecast.platform.optimizers.structure.constants import PAIR_CONSTANTS
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.gp import Fit, fit
from rolecast.platform.surrogate.matern import matern52
from rolecast.platform.surrogate.outcome_transform import transform_returns

Index = NDArray[np.int64]


class StructureFinder:
    """Structure found in the evaluations of a search; off without settings."""

    def __init__(self, settings: FinderSettings | None, *, dimension: int) -> None:
        self._settings, self._dimension = settings, dimension
        self._next = PAIR_CONSTANTS.first_look
        self._edges: Index = np.zeros((0, 2), dtype=np.int64)
        self.cliques: tuple[tuple[int, ...], ...] | None = None
        """Cliques of the last test, with single dimensions; None before the first test."""

    @property
    def looks(self) -> bool:
        """Whether pairs are tested at all."""
        return self._settings is not None and 1 < self._dimension <= PAIR_CONSTANTS.dimension_limit

    def is_due(self, count: int) -> bool:
        """Return whether the next test is due at a count of evaluations."""
        return self.looks and count >= self._next

    def find(self, candidates: Float, returns: Float, noise: Float) -> None:
        """Test all pairs on the latest evaluations.

        Args:
            candidates: [N, D].
            returns: [N].
            noise: [N], relative noise variance of each.
        """
        if self._settings is None:
            return
        self._next = int(PAIR_CONSTANTS.look_growth * len(candidates))
        seen = slice(max(0, len(candidates) - PAIR_CONSTANTS.look_window), None)
        targets, _ = transform_returns(returns, self._settings.outcome_transform, rows=seen)
        scores = pair_scores(candidates[seen], targets, noise[seen])
        self._edges, _ = strongest_edges(scores, self._settings.edge_cap)
        self.cliques = self._joined(scores)

    @property
    def has_pairs(self) -> bool:
        """Whether the last test found any pair."""
        return len(self._edges) > 0

    def explain(self) -> dict[str, float]:
        """Return the number of pairs found; nothing without settings."""
        return {} if self._settings is None else {"structure_edges": float(len(self._edges))}

    def state_dict(self) -> dict[str, Any]:
        """Return pairs, strongest first, and the evaluations at which the next test is due."""
        return {"next": self._next, "edges": self._edges.copy()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._next = int(state["next"])
        self._edges = np.array(state["edges"], dtype=np.int64).reshape(-1, 2)
        scores = np.zeros((self._dimension, self._dimension))
        ranks = np.arange(len(self._edges), 0, -1)
        scores[self._edges[:, 0], self._edges[:, 1]] = ranks
        looked = self._next > PAIR_CONSTANTS.first_look
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
    """Return scores [D, D] of pairs: 1 / rank of those found, 0 of the others.

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
    """Return centred features [N, 6] of a dimension, f(x) f(x') close to its kernel.

    Nyström's method for Matérn-5/2 at quantiles. The sum of the features' mean squares is 1.
    """
    spread = max(float(column.std()), 1e-12) * PAIR_CONSTANTS.relative_lengthscale
    nodes = np.quantile(column, np.linspace(0.0, 1.0, PAIR_CONSTANTS.nystroem_nodes))
    cross = matern52(np.square((column[:, None] - nodes) / spread))
    own = matern52(np.square((nodes[:, None] - nodes) / spread))
    values, vectors = np.linalg.eigh(own)
    kept = values > 1e-8 * values[-1]
    mapped = cross @ (vectors[:, kept] / np.sqrt(values[kept]))
    left, singular, _ = np.linalg.svd(mapped - mapped.mean(0), full_matrices=False)
    # A dimension that hardly varies has fewer features; the others stay 0.
    found = np.zeros((len(column), PAIR_CONSTANTS.feature_count))
    rank = min(PAIR_CONSTANTS.feature_count, len(singular))
    found[:, :rank] = left[:, :rank] * singular[:rank]
    mean_square = np.square(found).sum() / len(column)
    return np.asarray(found / np.sqrt(max(float(mean_square), 1e-300)))


class _PairModel:
    """Features of all dimensions, and a Gaussian process to which pairs are added in rounds."""

    def __init__(self, candidates: Float, targets: Float, noise: Float) -> None:
        self._targets, self._noise = targets, noise
        self._features = np.stack([features(column) for column in candidates.T])
        flat = np.moveaxis(self._features, 0, 1).reshape(len(targets), -1)
        self._flat = flat
        self._single = flat @ flat.T / candidates.shape[1]

    def pairs(self) -> list[tuple[int, int]]:
        """Return the significant pairs, in the order in which they joined."""
        found: list[tuple[int, int]] = []
        together = np.zeros_like(self._single)
        for _ in range(PAIR_CONSTANTS.round_limit):
            joined = self._next(self._fit(len(found), together), found)
            if not joined:
                break
            found += joined
            together = together + sum(self._kernel(a) * self._kernel(b) for a, b in joined)
        return found

    def _next(self, known: Fit, found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs that join next, smallest p-value first; none at the end."""
        times, chances = self._tested(known)
        for a, b in found:
            chances[a, b] = 1.0
        rows, columns = np.triu_indices(len(times), 1)
        times, chances = times[rows, columns], chances[rows, columns]
        # A p-value can underflow to 0; then the greater score goes first.
        order = np.lexsort((-times, chances))[
            : max(1, len(self._features) // PAIR_CONSTANTS.dimensions_per_pair)
        ]
        from scipy.stats import false_discovery_control  # here, as all of it loads for a second

        sure = false_discovery_control(chances)[order] <= PAIR_CONSTANTS.false_discovery_rate
        return [(int(rows[place]), int(columns[place])) for place in order[sure]]

    def _kernel(self, dimension: int) -> Float:
        return np.asarray(self._features[dimension] @ self._features[dimension].T)

    def _fit(self, pairs: int, together: Float) -> Fit:
        """Return the fit of greatest evidence over share and noise, for that many pairs."""
        fits = (
            fit(
                (1.0 - share) * self._single + share * together / max(pairs, 1),
                self._targets,
                noise * self._noise,
            )
            for share in (PAIR_CONSTANTS.pair_shares if pairs else (0.0,))
            for noise in PAIR_CONSTANTS.noise_variances
        )
        return max(fits, key=lambda each: each.log_evidence)

    def _tested(self, known: Fit) -> tuple[Float, Float]:
        """Return the statistic of each pair over its expected value, and p-values, both [D, D].

        T_ab = sum_ij (sum_n w_n f_ai(n) f_bj(n))^2, with weights w = K^-1 z of the fit.
        Without interaction T_ab is near sum_ij lambda_ij chi^2_1 in distribution, with
        lambda_ij = sum_n var(w_n) f_ai(n)^2 f_bj(n)^2.
        """
        size, _, rank = self._features.shape
        shape = (size, rank, size, rank)
        identity = np.eye(len(self._targets))
        inverse = solve_triangular(known.factor, identity, lower=True, check_finite=False)
        squares = np.square(self._flat)
        # Cov(K^-1 z) = scale K^-1, of which the diagonal is used.
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
    """Return p-values of sums of lambda_i z_i^2, z_i independent standard normal deviates.

    Approximated by a chi-square of the same mean, variance and skewness (Hall 1983, Buckley and
    Eagleson 1988).

    Args:
        total: the sums.
        first: sums of lambda_i, of the same shape.
        second: sums of lambda_i^2.
        third: sums of lambda_i^3.
    """
    # nu = c_2^3 / c_3^2, and (T - c_1) / sqrt(2 c_2) is near (chi2_nu - nu) / sqrt(2 nu).
    freedom = second**3 / third**2
    above = (total - first) / np.sqrt(2.0 * second)
    return np.asarray(chdtrc(freedom, np.maximum(above * np.sqrt(2.0 * freedom) + freedom, 0.0)))
