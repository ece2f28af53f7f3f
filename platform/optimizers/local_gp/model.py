"""Gaussian process of the local search: metric, kernel and noise, fixed between two refits.

A refit of the latest N evaluations chooses relevance, noise, lengthscales and structure's share by
evidence, in O(N^3). Between refits new evaluations extend the factor, in O(N^2) each. A small
process is refitted with every batch, a large one when it has grown by a tenth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.evidence import (
    best_correlation,
    best_scale,
    best_share,
    noise_matrix,
    noise_shape,
)
from rolecast.platform.optimizers.local_gp.metric import Metric
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.local_gp.terms import common_term, interacting, structured_term
from rolecast.platform.optimizers.local_gp.trust_region import SearchDefaults
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.optimizers.structure.returns import StructureFinder
from rolecast.platform.surrogate.dense import Matrix, find_device, free_memory
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import Kernel, Mixture
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.outcome_transform import transform_returns, untransform_returns
from rolecast.platform.surrogate.refits import refit_is_due

if TYPE_CHECKING:
    import torch

Groups = NDArray[np.int64]
"""[N], evaluations of one number share their episodes."""


@dataclass(frozen=True)
class _Span:
    """Evaluations of the last refit, from `start` to `stop`, and the radius at that time."""

    start: int
    stop: int
    radius: float


class LocalGp:
    """Gaussian process of the latest N evaluations, in D dimensions; see the module."""

    def __init__(
        self, config: LocalGpSettings, defaults: SearchDefaults, *, dimension: int
    ) -> None:
        self._config, self._defaults, self._dimension = config, defaults, dimension
        self._cliques = interacting(config.surrogate_cliques())
        self._finder = StructureFinder(config.finder_settings(), dimension=dimension)
        self.metric = Metric(config, defaults.relevance_power, dimension=dimension)
        """Relevance of the dimensions; points are stretched by its root before the kernel."""
        self._by_evidence = defaults.lengthscale == "evidence"
        self._noises = (
            (
                *SEARCH_CONSTANTS.small_noise_variances,
                *SEARCH_CONSTANTS.noise_variances,
                *SEARCH_CONSTANTS.large_noise_variances,
            )
            if self._by_evidence
            else SEARCH_CONSTANTS.noise_variances
        )
        self._noise, self._share = SEARCH_CONSTANTS.first_noise_variance, 0.0
        self._correlation = 0.0
        self._scales = 1.0, 1.0
        self._structure = "cliques"
        self._chosen = 1
        self._span: _Span | None = None
        self._base: Posterior | None = None

    @cached_property
    def device(self) -> "torch.device | None":
        """Device of the matrices, None for the CPU; looked up on first use.

        A driver without a GPU can thus check the settings.

        Raises:
            ConfigError: torch does not find the device here.
        """
        return find_device(f"{type(self._config).__name__}.device", self._config.device)

    @property
    def noise(self) -> float:
        """Variance of an evaluation's error, as a share of the output variance."""
        return self._noise

    @property
    def order(self) -> int:
        """Dimensions d of the largest term of the sum; 1 where its share is 0."""
        if not self._share:
            return 1
        return 2 if self._structure == "pairs" else max(map(len, self._cliques or ((),)))

    def current(self, data: Observations, groups: Groups) -> Posterior | None:
        """Return the posterior of the last `condition`, None before it; arguments as then."""
        return None if self._span is None else self._extended(data, groups, self._span)

    def condition(self, data: Observations, groups: Groups, radius: float, tells: int) -> Posterior:
        """Return the posterior given the latest evaluations, in stretched coordinates.

        Args:
            data: all evaluations.
            groups: [N], evaluations of one number share their episodes.
            radius: current radius of the trust region.
            tells: batches told so far; some choices are made every few batches.

        Raises:
            ConfigError: the evaluations of the window do not fit in memory.
        """
        span = self._span
        if span is None or self._is_due(span, len(data), radius):
            return self._refit(data, groups, radius, tells)
        return self._extended(data, groups, span)

    def returns(self, transformed: Float, data: Observations) -> Float:
        """Return values [M] of the process in the unit of the returns."""
        start = 0 if self._span is None else self._span.start
        return untransform_returns(
            transformed, data.returns, self._config.outcome_transform, rows=slice(start, None)
        )

    def explain(self) -> dict[str, float]:
        """Return the hyperparameters that evidence chose last."""
        found = {"noise_share": self._noise, "error_correlation": self._correlation}
        if self._by_evidence and self._span is not None:
            found["lengthscale"] = self._scales[0] * self._span.radius
        if self._structures():
            found["structure_share"] = self._share
            found["structure_pairs"] = float(self._share > 0.0 and self._structure == "pairs")
        return found | self.metric.explain() | self._finder.explain()

    def state_dict(self) -> dict[str, Any]:
        """Return the last choices, and the evaluations that they were made from."""
        span = self._span
        return {
            "metric": self.metric.state_dict(),
            "choices": [self._noise, self._share, *self._scales, self._correlation],
            "structure": self._structure,
            "chosen": self._chosen,
            "span": None if span is None else [span.start, span.stop, span.radius],
            "finder": self._finder.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; the factor is computed again on first use."""
        self.metric.load_state_dict(state["metric"])
        self._noise, self._share, *scales, self._correlation = map(float, state["choices"])
        self._scales = scales[0], scales[1]
        self._structure = str(state["structure"])
        self._chosen = int(state["chosen"])
        span = state["span"]
        self._span = None if span is None else _Span(int(span[0]), int(span[1]), float(span[2]))
        self._base = None
        self._finder.load_state_dict(state["finder"])
        self._cliques = interacting(self._config.surrogate_cliques() or self._finder.cliques)

    def _is_due(self, span: _Span, count: int, radius: float) -> bool:
        change = max(radius, span.radius) / min(radius, span.radius)
        fitted = span.stop - span.start
        return (
            refit_is_due(fitted, count - span.stop) or change > SEARCH_CONSTANTS.refit_radius_change
        )

    def _refit(self, data: Observations, groups: Groups, radius: float, tells: int) -> Posterior:
        """Return the posterior after a choice of all hyperparameters.

        Noise is compared near its last value; lengthscales and share are chosen every few batches.
        """
        count = len(data)
        self._span = _Span(max(0, count - self._config.window), count, radius)
        interval = SEARCH_CONSTANTS.choice_interval
        choosing = tells % interval == 1 or tells - self._chosen >= interval
        if choosing and self.metric.by_evidence:
            self.metric.judge_symmetries(data, groups)
        self.metric.update(data, radius)
        points, targets, variances = self._seen(data, self._span, count)
        shared = groups[self._span.start : count]
        noise = noise_matrix(variances, shared, self._correlation)
        self._require_memory(points, fits=SEARCH_CONSTANTS.noise_neighbours)
        if self._finder.is_due(count):
            _, slopes = transform_returns(data.returns, self._config.outcome_transform)
            shape = noise_shape(data.stderrs * slopes, self._config.stderr_weight)
            self._finder.find(data.candidates, data.returns, shape)
            self._cliques = interacting(self._finder.cliques)
            self._share = 0.0 if self._structure == "cliques" else self._share
        if self._by_evidence and (choosing or tells < interval):
            self._choose_scales(points, targets, noise)
        covariance = self._common(self._scales[0]).matrix(points, points)
        if choosing:
            self._chosen = tells
        if choosing and self._structures():
            structured = self._choose_share(points, covariance, targets, noise)
        else:
            structured = self._chosen_structure(points)
        self._mix(covariance, structured)
        if choosing:
            near = self._near_noises()
            self._correlation = best_correlation(covariance, targets, variances, shared, near)
            noise = noise_matrix(variances, shared, self._correlation)
        fits = {choice: fit(covariance, targets, choice * noise) for choice in self._near_noises()}
        self._noise = max(fits, key=lambda choice: fits[choice].log_evidence)
        self._base = Posterior(self._kernel(), points, fits[self._noise])
        return self._base

    def _near_noises(self) -> Sequence[float]:
        """Return the last noise variance and its neighbours on the grid."""
        place, reach = self._noises.index(self._noise), SEARCH_CONSTANTS.noise_neighbours // 2
        return self._noises[max(0, place - reach) : place + reach + 1]

    def _extended(self, data: Observations, groups: Groups, span: _Span) -> Posterior:
        """Return the posterior of the last refit, extended by later evaluations."""
        if self._base is None:
            self._base = self._restored(data, groups, span)
        if len(data) == span.stop:
            return self._base
        points, targets, noise = self._seen(data, span, len(data))
        noise = noise_matrix(noise, groups[span.start :], self._correlation)
        self._require_memory(points, fits=2)
        return self._base.extended(points, targets, self._noise * noise)

    def _restored(self, data: Observations, groups: Groups, span: _Span) -> Posterior:
        """Return the posterior of the last refit, computed from its choices."""
        points, targets, noise = self._seen(data, span, span.stop)
        noise = noise_matrix(noise, groups[span.start : span.stop], self._correlation)
        self._require_memory(points, fits=1)
        covariance = self._common(self._scales[0]).matrix(points, points)
        self._mix(covariance, self._chosen_structure(points))
        return Posterior(self._kernel(), points, fit(covariance, targets, self._noise * noise))

    def _seen(self, data: Observations, span: _Span, stop: int) -> tuple[Float, Float, Float]:
        """Return stretched points [N, D], transformed targets [N] and the shape of noise [N]."""
        seen, transform = slice(span.start, stop), self._config.outcome_transform
        targets, slopes = transform_returns(data.returns[:stop], transform, rows=seen)
        noise = noise_shape(data.stderrs[seen] * slopes, self._config.stderr_weight)
        return self.metric.seen(data.candidates[seen]), targets, noise

    def _choose_scales(self, points: Float, targets: Float, noise: Float) -> None:
        """Choose the lengthscale of the common term."""

        def matrix(scale: float) -> Matrix:
            return self._common(scale).matrix(points, points)

        self._scales = best_scale(matrix, targets, noise, self._noises), self._scales[1]

    def _structures(self) -> tuple[str, ...]:
        """Return the structured terms that exist: "pairs", for black boxes alone, and "cliques"."""
        # In the small region of a policy's weights "pairs" equals the common term: quadratic.
        pairs = self._by_evidence and self._finder.looks
        return ("pairs",) * pairs + ("cliques",) * (self._cliques is not None)

    def _choose_share(
        self, points: Float, covariance: Matrix, targets: Float, noise: Float
    ) -> Matrix | None:
        """Choose the structured term, its share and, with "evidence", its lengthscale.

        Returns:
            The structured covariance [N, N]; None for share 0.
        """
        scales = SEARCH_CONSTANTS.lengthscale_multiples if self._by_evidence else (1.0,)
        matrices = (
            ((structure, scale), self._structured(structure, scale).matrix(points, points))
            for structure in self._structures()
            for scale in scales
        )
        noises = (
            self._noises
            if self._by_evidence
            else (*SEARCH_CONSTANTS.noise_variances, *SEARCH_CONSTANTS.large_noise_variances)
        )
        shares = (
            SEARCH_CONSTANTS.structure_shares[1:]
            if self._by_evidence
            else SEARCH_CONSTANTS.structure_shares[1:-1]
        )
        share, label, structured = best_share(covariance, matrices, targets, noise, noises, shares)
        self._share = share
        self._structure, scale = label or (self._structure, 1.0)
        self._scales = self._scales[0], scale
        return structured

    def _chosen_structure(self, points: Float) -> Matrix | None:
        """Return the chosen structured covariance [N, N]; None for share 0."""
        if not self._share:
            return None
        return self._structured(self._structure, self._scales[1]).matrix(points, points)

    def _mix(self, common: Matrix, structured: Matrix | None) -> None:
        """Replace K_common [N, N] by (1 - s) K_common + s K_structured, in place."""
        if structured is not None:
            common += self._share * (structured - common)

    def _kernel(self) -> Kernel:
        """Return the chosen kernel."""
        common = self._common(self._scales[0])
        if not self._share:
            return common
        return Mixture(common, self._structured(self._structure, self._scales[1]), self._share)

    def _common(self, scale: float) -> Kernel:
        """Return the term over all dimensions, lengthscale `scale` times the radius."""
        return common_term(self._dimension, scale * self._radius(), self.device)

    def _structured(self, structure: str, scale: float) -> Kernel:
        """Return the sum over pairs or cliques; a clique of m: lengthscale scale r sqrt(m / D)."""
        return structured_term(
            None if structure == "pairs" else self._cliques,
            dimension=self._dimension,
            lengthscale=scale * self._radius() / np.sqrt(self._dimension),
            # Single precision adds 2e-6 of the variance, far below the noise of a policy's returns.
            single=not self._by_evidence,
            device=self.device,
        )

    def _require_memory(self, points: Float, *, fits: int) -> None:
        """Refuse a process of points [N, D] that does not fit in the memory of the device."""
        require_memory(*points.shape, fits=fits, available=free_memory(self.device))

    def _radius(self) -> float:
        """Return the radius of the trust region at the last refit."""
        return self._defaults.radius if self._span is None else self._span.radius
