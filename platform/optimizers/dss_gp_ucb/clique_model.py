"""Gaussian process of a sum over given cliques, with lengthscale, noise and graph by evidence.

The graph is used while it explains the evaluations better than one term over all dimensions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.term_ascent import (
    KernelTerms,
    SumOfProducts,
)
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.surrogate import dense
from rolecast.platform.surrogate.clique_sum.cpu import CliqueLayout, clique_sum
from rolecast.platform.surrogate.gp import Fit, fit
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.outcome_transform import transform_returns
from rolecast.platform.surrogate.refits import refit_is_due, rows_to_keep

COMPARED_GRAPHS: Final = ("given", "none")
"""Graphs that evidence compares: the given cliques, and one term over all dimensions."""


@dataclass(frozen=True, kw_only=True)
class CliquePosterior:
    """Posterior of the process: terms of the prior, evaluations and their fit."""

    terms: KernelTerms
    points: Float
    """X [N, D]."""

    targets: Float
    """[N], of mean 0 and deviation 1."""

    noise: Float
    """[N], variances as shares of the output variance."""

    fit: Fit

    @property
    def term_deviation(self) -> float:
        """Deviation of one term before any evaluation, in units of the targets."""
        return float(np.sqrt(self.fit.scale / len(self.terms.weights)))

    def means(self) -> Float:
        """Return the posterior means [N] at the evaluated points."""
        return np.asarray(self.targets - self.noise * self.fit.weights)

    def mean(self, queries: Float) -> Float:
        """Return posterior means [Q] at queries [Q, D], up to a constant."""
        inverse = 1.0 / np.square(self.terms.lengthscales)
        layout = CliqueLayout.of(self.terms.cliques)
        cross = clique_sum(queries, self.points, layout, inverse, self.terms.weights, smooth=True)
        return np.asarray(cross @ self.fit.weights)

    def mean_functions(self, rows: int) -> SumOfProducts:
        """Return the posterior mean, `rows` times."""
        return SumOfProducts(
            terms=self.terms,
            points=self.points,
            coefficients=np.repeat(self.fit.weights[None], rows, axis=0),
            frequencies=[np.zeros((len(clique), 0)) for clique in self.terms.cliques],
            amplitudes=[np.zeros((rows, 0), dtype=np.complex128)] * len(self.terms.cliques),
        )

    def draws(self, shares: Float, rng: np.random.Generator) -> SumOfProducts:
        """Return functions drawn from the posterior, each drawn towards the mean.

        f = prior draw + k(x, X) (K + noise)^-1 (z - prior draw at X - noise): Matheron's rule
        (Wilson et al. 2020). What a draw differs by from the mean is multiplied by its share.

        Args:
            shares: [R], at least 0; 0 gives the mean, 1 a draw, more a bolder one.
            rng: of the draws.
        """
        rows, scale = len(shares), np.sqrt(self.fit.scale)
        drawn = scale * np.sqrt(GLOBAL_CONSTANTS.constant_variance) * rng.standard_normal((rows, 1))
        drawn = drawn + scale * np.sqrt(self.noise) * rng.standard_normal((rows, len(self.points)))
        frequencies, amplitudes = [], []
        count = GLOBAL_CONSTANTS.prior_waves
        for clique, lengthscale, weight in zip(
            self.terms.cliques, self.terms.lengthscales, self.terms.weights, strict=True
        ):
            waves = rng.standard_normal((len(clique), count)) / lengthscale
            # The real part of independent complex amplitudes has a uniform phase.
            parts = rng.standard_normal((2, rows, count))
            sizes = (parts[0] + 1j * parts[1]) * scale * np.sqrt(weight / count)
            angles = self.points[:, list(clique)] @ waves
            drawn += sizes.real @ np.cos(angles).T - sizes.imag @ np.sin(angles).T
            frequencies.append(waves)
            amplitudes.append(sizes * shares[:, None])
        residuals = self.targets[:, None] - shares * drawn.T
        return SumOfProducts(
            terms=self.terms,
            points=self.points,
            coefficients=np.ascontiguousarray(dense.solve(self.fit.factor, residuals).T),
            frequencies=frequencies,
            amplitudes=amplitudes,
        )


class CliqueGp:
    """Process over the cube whose kernel is a sum over given cliques, or one term where refuted."""

    def __init__(
        self,
        *,
        dimension: int,
        cliques: Sequence[Sequence[int]],
        max_points: int,
        outcome_transform: str | None,
    ) -> None:
        self._graphs = {"given": tuple(map(tuple, cliques)), "none": (tuple(range(dimension)),)}
        self._layouts = {name: CliqueLayout.of(each) for name, each in self._graphs.items()}
        self._max_points, self._transform = max_points, outcome_transform
        self._places = dict.fromkeys(COMPARED_GRAPHS, GLOBAL_CONSTANTS.first_choice)
        self._evidence = dict.fromkeys(COMPARED_GRAPHS, 0.0)
        self._kept: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._fitted = 0
        self._posterior: CliquePosterior | None = None

    @property
    def graph(self) -> str:
        """Which graph evidence prefers: "given" or "none"."""
        return max(COMPARED_GRAPHS, key=lambda name: self._evidence[name])

    def take_in(self, data: Observations) -> None:
        """Choose lengthscale, noise and graph anew where due; called with each tell.

        Raises:
            ConfigError: the evaluations do not fit in memory.
        """
        self._posterior = None
        if not refit_is_due(self._fitted, len(data) - self._fitted):
            return

        def means(earlier: int) -> Float:
            return self._conditioned(data, self._kept).mean(data.candidates[:earlier])

        self._kept = rows_to_keep(len(data), self._max_points, means if self._fitted else None)
        points, targets, shape = self._seen(data, self._kept)
        require_memory(*points.shape, fits=GLOBAL_CONSTANTS.refit_fits)
        for graph in COMPARED_GRAPHS:
            self._choose(graph, points, targets, shape)
        self._fitted = len(data)

    def posterior(self, data: Observations) -> CliquePosterior:
        """Return the posterior given the evaluations, at the latest choice."""
        if self._posterior is None:
            rows = np.concatenate([self._kept, np.arange(self._fitted, len(data))])
            self._posterior = self._conditioned(data, rows)
        return self._posterior

    def _conditioned(self, data: Observations, rows: NDArray[np.int64]) -> CliquePosterior:
        """Return the posterior given some rows [N] of the evaluations, at the latest choice."""
        points, targets, shape = self._seen(data, rows)
        multiple, noise = self._values(self._places[self.graph])
        terms, variances = self._terms(self.graph, multiple), noise * shape
        covariance = self._covariance(self.graph, terms, points)
        return CliquePosterior(
            terms=terms,
            points=points,
            targets=targets,
            noise=variances,
            fit=fit(covariance, targets, variances),
        )

    def explain(self) -> dict[str, float]:
        """Return what evidence chose last; `graph_evidence` is in favour of the given graph."""
        multiple, noise = self._values(self._places[self.graph])
        return {
            "lengthscale": multiple,
            "noise_share": noise,
            "structure_share": float(self.graph == "given"),
            "graph_evidence": float(self._evidence["given"] - self._evidence["none"]),
        }

    def state_dict(self) -> dict[str, Any]:
        """Return the choices of the last refit, and its evaluations."""
        return {
            "fitted": self._fitted,
            "kept": self._kept.copy(),
            "places": {name: list(places) for name, places in self._places.items()},
            "evidence": {name: float(value) for name, value in self._evidence.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._fitted = int(state["fitted"])
        earliest = max(0, self._fitted - self._max_points)
        # Earlier states do not say which evaluations they keep; these are the latest ones.
        self._kept = np.array(state.get("kept", np.arange(earliest, self._fitted)), dtype=np.int64)
        for name in COMPARED_GRAPHS:
            first, second = state["places"][name]
            self._places[name] = (int(first), int(second))
            self._evidence[name] = float(state["evidence"][name])
        self._posterior = None

    def _choose(self, graph: str, points: Float, targets: Float, shape: Float) -> None:
        """Climb the evidence of a graph on the grids of lengthscale and noise."""
        multiples = GLOBAL_CONSTANTS.clique_lengthscales
        noises = GLOBAL_CONSTANTS.clique_noise_variances
        found: dict[tuple[int, int], float] = {}
        best = self._places[graph]
        while True:
            first, second = best
            for place in (first, first - 1, first + 1):
                levels = [
                    level
                    for level in (second, second - 1, second + 1)
                    if 0 <= level < len(noises) and (place, level) not in found
                ]
                if not 0 <= place < len(multiples) or not levels:
                    continue
                multiple = multiples[place]
                covariance = self._covariance(graph, self._terms(graph, multiple), points)
                # Log-normal prior of the lengthscale: median 0.5, deviation one doubling.
                prior = -0.5 * (np.log(multiple / 0.5) / np.log(2.0)) ** 2
                for level in levels:
                    fitted = fit(covariance, targets, noises[level] * shape)
                    found[place, level] = fitted.log_evidence + prior
            best = max(found, key=lambda each: found[each])
            if best == (first, second):
                break
        self._places[graph], self._evidence[graph] = best, found[best]

    def _values(self, places: tuple[int, int]) -> tuple[float, float]:
        multiples = GLOBAL_CONSTANTS.clique_lengthscales
        return multiples[places[0]], GLOBAL_CONSTANTS.clique_noise_variances[places[1]]

    def _terms(self, graph: str, multiple: float) -> KernelTerms:
        cliques = self._graphs[graph]
        sizes = np.array([len(clique) for clique in cliques], dtype=np.float64)
        return KernelTerms(
            cliques=cliques,
            lengthscales=multiple * np.sqrt(sizes),
            weights=np.full(len(sizes), 1.0 / len(sizes)),
        )

    def _covariance(self, graph: str, terms: KernelTerms, points: Float) -> Float:
        inverse = 1.0 / np.square(terms.lengthscales)
        layout = self._layouts[graph]
        found = clique_sum(points, None, layout, inverse, terms.weights, smooth=True)
        return found + GLOBAL_CONSTANTS.constant_variance

    def _seen(self, data: Observations, rows: NDArray[np.int64]) -> tuple[Float, Float, Float]:
        """Return points [N, D] of some rows, targets [N], and the shape of their noise [N]."""
        targets, slopes = transform_returns(data.returns, self._transform, rows=rows)
        return data.candidates[rows], targets, noise_shape(data.stderrs[rows] * slopes)


def noise_shape(stderrs: Float) -> NDArray[np.float64]:
    """Return the relative noise variances [N] of evaluations, of mean 1.

    Half is common to all, for a standard error from few episodes is itself uncertain; the rest is
    proportional to the squared standard errors [N], NaN where unknown.
    """
    variances = np.square(stderrs)
    known = np.isfinite(variances)
    if not known.any() or not variances[known].max() > 0.0:
        return np.ones(len(stderrs))
    mean = float(variances[known].mean())
    return np.asarray(0.5 + 0.5 * np.where(known, variances, mean) / mean)
