"""The Gaussian process of a local search: its metric, kernel and noise, held between two refits.

A refit takes the latest evaluations, chooses relevance, noise, lengthscales and the share of
structure by evidence, and factors the covariance: N^3. Between refits all of that stands, and new
evaluations extend the factor: N^2 for each. A process of few points is fitted anew with every
batch, for that costs nothing; a large one when it has grown by a tenth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.evidence import best_scale, best_share, noise_shape
from rolecast.platform.optimizers.local_gp.metric import Metric
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.local_gp.trust_region import SearchDefaults
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.optimizers.structure.returns import StructureFinder
from rolecast.platform.surrogate.dense import Matrix, find_device, free_memory
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import AllPairs, CliqueSum, Kernel, Matern, Mixture
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.outcome_transform import transform_returns, untransform_returns
from rolecast.platform.surrogate.refits import refit_is_due

if TYPE_CHECKING:
    import torch

Cliques = Sequence[Sequence[int]]


@dataclass(frozen=True)
class _Span:
    """What the last refit saw: evaluations from `start` to `stop`, and the cloud's radius then."""

    start: int
    stop: int
    radius: float


class LocalGp:
    """The process over the latest evaluations; see the module. D dimensions, N evaluations."""

    def __init__(
        self, config: LocalGpSettings, defaults: SearchDefaults, *, dimension: int
    ) -> None:
        self._config, self._defaults, self._dimension = config, defaults, dimension
        self._cliques = _interacting(config.surrogate_cliques())
        self._finder = StructureFinder(config.finder_settings(), dimension=dimension)
        self.metric = Metric(config, defaults.relevance_power, dimension=dimension)
        """How much each dimension matters; points are stretched by it before the kernel."""
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
        self._scales = 1.0, 1.0
        self._structure = "cliques"
        self._chosen = 1
        self._span: _Span | None = None
        self._base: Posterior | None = None

    @cached_property
    def device(self) -> "torch.device | None":
        """Where matrices are, None for the CPU; looked for when first needed.

        A driver that only checks settings may have none.

        Raises:
            ConfigError: torch does not see it here.
        """
        return find_device(f"{type(self._config).__name__}.device", self._config.device)

    @property
    def noise(self) -> float:
        """Variance of an evaluation's error, as a share of the output variance."""
        return self._noise

    @property
    def order(self) -> int:
        """How many dimensions the largest term of the sum has; 1 where it has no share."""
        if not self._share:
            return 1
        return 2 if self._structure == "pairs" else max(map(len, self._cliques or ((),)))

    def current(self, data: Observations) -> Posterior | None:
        """Return what `condition` returned last; None before that. Nothing was told since."""
        return None if self._span is None else self._extended(data, self._span)

    def condition(self, data: Observations, radius: float, tells: int) -> Posterior:
        """Return the process given the latest evaluations, in stretched coordinates.

        Args:
            data: all evaluations.
            radius: of the cloud, now.
            tells: batches told so far, for what is chosen every few of them.

        Raises:
            ConfigError: the window holds more evaluations than memory does.
        """
        span = self._span
        if span is None or self._is_due(span, len(data), radius):
            return self._refit(data, radius, tells)
        return self._extended(data, span)

    def returns(self, transformed: Float, data: Observations) -> Float:
        """Map values [M] of the process back to the unit of the returns."""
        start = 0 if self._span is None else self._span.start
        return untransform_returns(
            transformed, data.returns[start:], self._config.outcome_transform
        )

    def explain(self) -> dict[str, float]:
        """Return what evidence chose last."""
        found = {"noise_share": self._noise}
        if self._by_evidence and self._span is not None:
            found["lengthscale"] = self._scales[0] * self._span.radius
        if self._structures():
            found["structure_share"] = self._share
            found["structure_pairs"] = float(self._share > 0.0 and self._structure == "pairs")
        return found | self._finder.explain()

    def state_dict(self) -> dict[str, Any]:
        """Return what was chosen last, and what it was chosen from."""
        span = self._span
        return {
            "metric": self.metric.state_dict(),
            "choices": [self._noise, self._share, *self._scales],
            "structure": self._structure,
            "chosen": self._chosen,
            "span": None if span is None else [span.start, span.stop, span.radius],
            "finder": self._finder.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; the factor of the last refit is computed again when needed."""
        self.metric.load_state_dict(state["metric"])
        self._noise, self._share, *scales = map(float, state["choices"])
        self._scales = scales[0], scales[1]
        self._structure = str(state["structure"])
        self._chosen = int(state["chosen"])
        span = state["span"]
        self._span = None if span is None else _Span(int(span[0]), int(span[1]), float(span[2]))
        self._base = None
        self._finder.load_state_dict(state["finder"])
        self._cliques = _interacting(self._config.surrogate_cliques() or self._finder.cliques)

    def _is_due(self, span: _Span, count: int, radius: float) -> bool:
        change = max(radius, span.radius) / min(radius, span.radius)
        fitted = span.stop - span.start
        return (
            refit_is_due(fitted, count - span.stop) or change > SEARCH_CONSTANTS.refit_radius_change
        )

    def _refit(self, data: Observations, radius: float, tells: int) -> Posterior:
        """Choose everything anew and condition.

        The noise is near the last choice; lengthscales and share are chosen every few batches.
        """
        count = len(data)
        self._span = _Span(max(0, count - self._config.window), count, radius)
        self.metric.update(data, radius)
        points, targets, noise = self._seen(data, self._span, count)
        self._require_memory(points, fits=SEARCH_CONSTANTS.noise_neighbours)
        if self._finder.is_due(count):
            shape = noise_shape(data.stderrs, self._config.stderr_weight)
            self._finder.find(data.candidates, data.returns, shape)
            self._cliques = _interacting(self._finder.cliques)
            self._share = 0.0 if self._structure == "cliques" else self._share
        choosing = (
            tells % SEARCH_CONSTANTS.choice_interval == 1
            or tells - self._chosen >= SEARCH_CONSTANTS.choice_interval
        )
        if self._by_evidence and (choosing or tells < SEARCH_CONSTANTS.choice_interval):
            self._choose_scales(points, targets, noise)
        covariance = self._common(self._scales[0]).matrix(points, points)
        if choosing:
            self._chosen = tells
        if choosing and self._structures():
            structured = self._choose_share(points, covariance, targets, noise)
        else:
            structured = self._chosen_structure(points)
        self._mix(covariance, structured)
        place = self._noises.index(self._noise)
        near = self._noises[
            max(0, place - SEARCH_CONSTANTS.noise_neighbours // 2) : place
            + SEARCH_CONSTANTS.noise_neighbours // 2
            + 1
        ]
        fits = {choice: fit(covariance, targets, choice * noise) for choice in near}
        self._noise = max(fits, key=lambda choice: fits[choice].log_evidence)
        self._base = Posterior(self._kernel(), points, fits[self._noise])
        return self._base

    def _extended(self, data: Observations, span: _Span) -> Posterior:
        """Condition on what the last refit saw and what was told since, by its choices."""
        if self._base is None:
            self._base = self._restored(data, span)
        if len(data) == span.stop:
            return self._base
        points, targets, noise = self._seen(data, span, len(data))
        self._require_memory(points, fits=2)
        return self._base.extended(points, targets, self._noise * noise)

    def _restored(self, data: Observations, span: _Span) -> Posterior:
        """Return the process of the last refit, from its choices."""
        points, targets, noise = self._seen(data, span, span.stop)
        self._require_memory(points, fits=1)
        covariance = self._common(self._scales[0]).matrix(points, points)
        self._mix(covariance, self._chosen_structure(points))
        return Posterior(self._kernel(), points, fit(covariance, targets, self._noise * noise))

    def _seen(self, data: Observations, span: _Span, stop: int) -> tuple[Float, Float, Float]:
        """Return stretched points [N, D], transformed targets [N] and the shape of noise [N]."""
        seen = slice(span.start, stop)
        targets, slopes = transform_returns(data.returns[seen], self._config.outcome_transform)
        noise = noise_shape(data.stderrs[seen] * slopes, self._config.stderr_weight)
        return data.candidates[seen] * self.metric.stretch, targets, noise

    def _choose_scales(self, points: Float, targets: Float, noise: Float) -> None:
        """Choose the common term's lengthscale."""

        def matrix(scale: float) -> Matrix:
            return self._common(scale).matrix(points, points)

        self._scales = best_scale(matrix, targets, noise, self._noises), self._scales[1]

    def _structures(self) -> tuple[str, ...]:
        """Return the structured terms that there are: "pairs", "cliques".

        All pairs are for black boxes alone: in the narrow cloud of a policy's weights a function is
        a plane with some curvature, and they would pass for the common term.
        """
        pairs = self._by_evidence and self._finder.looks
        return ("pairs",) * pairs + ("cliques",) * (self._cliques is not None)

    def _choose_share(
        self, points: Float, covariance: Matrix, targets: Float, noise: Float
    ) -> Matrix | None:
        """Choose the structured term and its share, and its scale where lengthscales are chosen.

        Returns:
            The structured covariance [N, N]; None where its share is 0.
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
        """Return the structured covariance [N, N] as it was chosen; None where its share is 0."""
        if not self._share:
            return None
        return self._structured(self._structure, self._scales[1]).matrix(points, points)

    def _mix(self, common: Matrix, structured: Matrix | None) -> None:
        """Make the common term's covariance [N, N] the one that was chosen, in place."""
        if structured is not None:
            common += self._share * (structured - common)

    def _kernel(self) -> Kernel:
        """Return the covariance that was chosen."""
        common = self._common(self._scales[0])
        if not self._share:
            return common
        return Mixture(common, self._structured(self._structure, self._scales[1]), self._share)

    def _common(self, scale: float) -> Kernel:
        """Return the term over all dimensions, at a multiple of the cloud's scale."""
        lengthscale = scale * self._radius()
        if self.device is None:
            return Matern(lengthscale)
        whole, one = [range(self._dimension)], np.ones(1)
        return CliqueSum(whole, lengthscale * one, one, device=self.device)

    def _structured(self, structure: str, scale: float) -> Kernel:
        """Return the sum over all pairs or over cliques, each at a multiple of the cloud in it."""
        # Single precision adds 2e-6 of the variance, far below any noise of a policy's returns.
        single = not self._by_evidence
        one = scale * self._radius() / np.sqrt(self._dimension)
        if structure == "pairs" or self._cliques is None:
            return AllPairs(self._dimension, one, single=single, device=self.device)
        sizes = np.array([len(clique) for clique in self._cliques], dtype=np.float64)
        return CliqueSum(
            *(self._cliques, one * np.sqrt(sizes), sizes / sizes.sum()),
            single=single,
            device=self.device,
        )

    def _require_memory(self, points: Float, *, fits: int) -> None:
        """Refuse a process of points [N, D] that does not fit where its matrices are."""
        require_memory(*points.shape, fits=fits, available=free_memory(self.device))

    def _radius(self) -> float:
        """Return the cloud's radius at the last refit."""
        return self._defaults.radius if self._span is None else self._span.radius


def _interacting(cliques: Cliques | None) -> Cliques | None:
    """Return the cliques of two dimensions or more; the common term covers the others."""
    kept = [clique for clique in cliques or () if len(clique) > 1]
    return kept or None
