"""Gaussian process of the global search: evaluations, kernel and noise, fixed between refits.

A refit takes at most `max_points` evaluations: half are the latest, half those of highest posterior
mean among the others; the highest returns would be the luckiest. Evidence
chooses lengthscale, noise level and, where no cliques were given, the structure. Structures are one
term over all dimensions, a sum over all pairs, or a sum over found cliques. Later evaluations
extend the factor until the next refit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.global_settings import GlobalSettings
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.evidence import KERNEL_STRUCTURES
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.optimizers.structure.returns import StructureFinder
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import AllPairs, CliqueSum, Kernel, Matern
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.outcome_transform import transform_returns
from rolecast.platform.surrogate.refits import refit_is_due, rows_to_keep


@dataclass(frozen=True)
class Choice:
    """Hyperparameters that evidence chose."""

    multiple: float
    """Lengthscale, in units of GLOBAL_CONSTANTS.lengthscale_multiples."""

    noise: float
    """Median noise variance, as a share of the output variance."""

    structure: str
    """Kernel structure, one of KERNEL_STRUCTURES."""


def believed_noise(known: Float, ratio: float) -> tuple[Float, float]:
    """Return noise shares [N] for `gp.fit`, and the least output variance that they allow.

    Known variances v are in the unit of the squared targets, shares r w in that of the output
    variance s, which the fit estimates: r w_i s = v_i. With w_i = v_i / median(v) the noise is at
    least the known one where s >= median(v) / r.

    Args:
        known: noise variances v [N] of the targets, 0 where unknown.
        ratio: r, the median noise variance as a share of the output variance.
    """
    measured = known > 0.0
    if not measured.any():
        return np.full(len(known), ratio), 0.0
    typical = float(np.median(known[measured]))
    weights = np.where(
        measured, np.maximum(known / typical, GLOBAL_CONSTANTS.least_noise_weight), 1.0
    )
    return np.maximum(ratio * weights, GLOBAL_CONSTANTS.noise_variances[0]), typical / ratio


class GlobalGp:
    """Gaussian process over the cube: one kernel over all dimensions, all pairs, or cliques."""

    def __init__(
        self,
        config: GlobalSettings,
        *,
        dimension: int,
        cliques: Sequence[Sequence[int]] | None,
        finder: FinderSettings | None,
    ) -> None:
        self._config, self._dimension, self._cliques = config, dimension, cliques
        self._finder = StructureFinder(finder, dimension=dimension)
        given = "common" if cliques is None else "cliques"
        self._choice = Choice(0.5, GLOBAL_CONSTANTS.first_noise_variance, given)
        self._kept: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._stop = 0
        self._base: Posterior | None = None
        self._posterior: Posterior | None = None

    @property
    def noise(self) -> float:
        """Median noise variance, as a share of the output variance."""
        return self._choice.noise

    @property
    def order(self) -> int:
        """Dimensions d of the largest term of the sum; 1 where the kernel is no sum."""
        if self._choice.structure == "cliques" and self._cliques is not None:
            return max(map(len, self._cliques))
        return 2 if self._choice.structure == "pairs" else 1

    def term(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the dimensions of a random term of the sum; 20 random ones without a sum."""
        if self._choice.structure == "cliques" and self._cliques is not None:
            return np.asarray(self._cliques[int(rng.integers(len(self._cliques)))])
        few = (
            self.order
            if self._choice.structure == "pairs"
            else GLOBAL_CONSTANTS.perturbed_dimensions
        )
        return rng.choice(self._dimension, min(few, self._dimension), replace=False)

    def take_in(self, data: Observations) -> None:
        """Refit if due. Called with each tell, so that refits do not depend on later asks.

        Raises:
            ConfigError: the evaluations do not fit in memory.
        """
        due = refit_is_due(len(self._kept), len(data) - self._stop)
        self._posterior = self._refit(data) if due else None

    def posterior(self, data: Observations) -> Posterior:
        """Return the posterior given the evaluations of the last refit and those since.

        Raises:
            ConfigError: the evaluations do not fit in memory.
        """
        if self._posterior is None:
            self._posterior = self._extended(data)
        return self._posterior

    def explain(self) -> dict[str, float]:
        """Return the hyperparameters that evidence chose last."""
        found = {"noise_share": self._choice.noise, "lengthscale": self._choice.multiple}
        found["structure_share"] = float(self._choice.structure != "common")
        found["structure_pairs"] = float(self._choice.structure == "pairs")
        return found | self._finder.explain()

    def state_dict(self) -> dict[str, Any]:
        """Return the choices of the last refit, and its evaluations."""
        return {
            "kept": self._kept.copy(),
            "stop": self._stop,
            "choice": list(astuple(self._choice)),
            "finder": self._finder.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; the factor is computed again on first use."""
        self._kept = np.array(state["kept"], dtype=np.int64)
        self._stop = int(state["stop"])
        multiple, noise, structure = state["choice"]
        self._choice = Choice(float(multiple), float(noise), str(structure))
        self._finder.load_state_dict(state["finder"])
        self._cliques = self._finder.cliques or self._cliques
        self._posterior = self._base = None

    def _kernel(self, choice: Choice) -> Kernel:
        dimension = self._dimension
        if choice.structure == "pairs":
            return AllPairs(dimension, choice.multiple)
        if choice.structure == "common" or self._cliques is None:
            return Matern(choice.multiple * np.sqrt(dimension))
        sizes = np.array([len(clique) for clique in self._cliques], dtype=np.float64)
        # Algorithm 4, step 3: k = sum over cliques, all alike; 1 / M so that k(x, x) = 1.
        weights = np.full(len(sizes), 1.0 / len(sizes))
        return CliqueSum(self._cliques, choice.multiple * np.sqrt(sizes), weights)

    def _refit(self, data: Observations) -> Posterior:
        """Choose evaluations and hyperparameters anew."""
        count = len(data)

        def means(earlier: int) -> Float:
            return self._fitted(data).mean(data.candidates[:earlier])

        kept = rows_to_keep(count, self._config.max_points, means if self._stop else None)
        if self._finder.is_due(count):
            self._finder.find(data.candidates, data.returns, np.ones(count))
            self._cliques = self._finder.cliques
        self._kept, self._stop = kept, count
        points, targets, known = self._seen(data, count)
        # Three fits at once: the best so far, the current one, and the best replaced by it.
        require_memory(*points.shape, queries=2 * self._config.pool, fits=3)
        # One choice at a time: all together would be thirty matrices.
        choices = self._choices(points, targets, known)
        _, self._choice, self._base = max(choices, key=lambda each: each[0])
        return self._base

    def _fitted(self, data: Observations) -> Posterior:
        """Return the posterior of the last refit, computed again after a restart."""
        if self._base is None:
            points, targets, known = self._seen(data, self._stop)
            kernel = self._kernel(self._choice)
            fitted = fit(
                kernel.matrix(points, points), targets, *believed_noise(known, self._choice.noise)
            )
            self._base = Posterior(kernel, points, fitted)
        return self._base

    def _extended(self, data: Observations) -> Posterior:
        """Return the posterior of the last refit, extended by later evaluations."""
        base = self._fitted(data)
        if len(data) == self._stop:
            return base
        points, targets, known = self._seen(data, len(data))
        require_memory(*points.shape, queries=2 * self._config.pool, fits=2)
        return base.extended(points, targets, *believed_noise(known, self._choice.noise))

    def _seen(self, data: Observations, count: int) -> tuple[Float, Float, Float]:
        """Return points [N, D], transformed targets [N] and their known noise variances [N].

        A variance is 0 where it is unknown. Evaluations are those of the last refit and later ones,
        up to `count`.
        """
        seen = np.concatenate([self._kept, np.arange(self._stop, count)])
        told, transform = data.returns[:count], self._config.outcome_transform
        targets, slopes = transform_returns(told, transform, rows=seen)
        known = np.square(np.nan_to_num(data.stderrs[seen] * slopes))
        return data.candidates[seen], targets, known

    def _choices(
        self, points: Float, targets: Float, known: Float
    ) -> Iterator[tuple[float, Choice, Posterior]]:
        """Yield log evidence plus log prior, and posterior, for each set of hyperparameters.

        Given cliques are used without comparison. Found cliques compete with all pairs and with the
        common kernel.
        """
        large = GLOBAL_CONSTANTS.large_noise_variances if known.any() else ()
        noises = (*GLOBAL_CONSTANTS.noise_variances, *large)
        for structure in self._structures():
            for multiple in GLOBAL_CONSTANTS.lengthscale_multiples:
                kernel = self._kernel(Choice(multiple, noises[0], structure))
                covariance = kernel.matrix(points, points)
                # Log-normal prior of the lengthscale: median 0.5 sqrt(D), deviation one doubling.
                prior = -0.5 * (np.log(multiple / 0.5) / np.log(2.0)) ** 2
                prior -= (
                    SEARCH_CONSTANTS.structure_penalty
                    if structure == "cliques" and self._finder.looks
                    else 0.0
                )
                for noise in noises:
                    fitted = fit(covariance, targets, *believed_noise(known, noise))
                    choice = Choice(multiple, noise, structure)
                    yield fitted.log_evidence + prior, choice, Posterior(kernel, points, fitted)

    def _structures(self) -> tuple[str, ...]:
        """Return the kernel structures that are compared."""
        if not self._finder.looks:
            return ("common",) if self._cliques is None else ("cliques",)
        return KERNEL_STRUCTURES if self._finder.has_pairs else KERNEL_STRUCTURES[:2]
