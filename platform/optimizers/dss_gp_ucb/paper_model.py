"""The Gaussian process of a global search: its evaluations, kernel and noise, held between refits.

A refit takes at most `max_points` evaluations, half of them the best and half the latest, and
chooses lengthscale, noise floor and, where no cliques were given, the structure, by evidence: one
term over all dimensions, a sum over all pairs of them, or over cliques that were found. Between
refits later evaluations extend it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.evidence import KERNEL_STRUCTURES
from rolecast.platform.optimizers.observations import Observations
from rolecast.platform.optimizers.structure.returns import StructureFinder
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import AllPairs, CliqueSum, Kernel, Matern
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.outcome_transform import transform_returns
from rolecast.platform.surrogate.refits import refit_is_due

LENGTHSCALE_MULTIPLES: Final = (0.125, 0.25, 0.5, 1.0, 2.0)
"""Lengthscales that evidence chooses among, as multiples of the square root of the dimension."""

NOISE_VARIANCES: Final = (1e-4, 1e-3, 1e-2, 0.1, 0.4, 1.6)
"""Noise floors that evidence chooses among, as shares of the output variance."""

PERTURBED_DIMENSIONS: Final = 20
"""Dimensions drawn anew together where none are known to belong together."""


class GlobalSettings(Protocol):
    """What a global search must know; `GpUcbConfig` and `PaperDssGpUcbConfig` have it."""

    @property
    def outcome_transform(self) -> str | None:
        """How returns are made comparable."""

    @property
    def beta(self) -> float:
        """Factor of beta_t."""

    @property
    def max_points(self) -> int:
        """Most evaluations in the process."""

    @property
    def pool(self) -> int:
        """Points among which a batch is chosen, a power of 2."""


@dataclass(frozen=True)
class Choice:
    """Hyperparameters that evidence chose."""

    multiple: float
    """Lengthscale, in roots of the dimension."""

    noise: float
    """Floor of the noise variance, as a share of the output variance."""

    structure: str
    """One of KERNEL_STRUCTURES."""


class GlobalGp:
    """The process over the cube, with a sum over cliques or one kernel over all dimensions."""

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
        self._choice = Choice(0.5, NOISE_VARIANCES[-2], given)
        self._kept: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._stop = 0
        self._base: Posterior | None = None
        self._posterior: Posterior | None = None

    @property
    def noise(self) -> float:
        """Floor of the noise variance, as a share of the output variance."""
        return self._choice.noise

    @property
    def order(self) -> int:
        """How many dimensions the largest term of the sum has; 1 where the kernel is no sum."""
        if self._choice.structure == "cliques" and self._cliques is not None:
            return max(map(len, self._cliques))
        return 2 if self._choice.structure == "pairs" else 1

    def term(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the dimensions of a random term of the sum; 20 where the kernel is no sum."""
        if self._choice.structure == "cliques" and self._cliques is not None:
            return np.asarray(self._cliques[int(rng.integers(len(self._cliques)))])
        few = self.order if self._choice.structure == "pairs" else PERTURBED_DIMENSIONS
        return rng.choice(self._dimension, min(few, self._dimension), replace=False)

    def take_in(self, data: Observations) -> None:
        """Fit anew if that is due; with each tell, so that nothing depends on what is asked then.

        Raises:
            ConfigError: there are more evaluations than memory holds.
        """
        due = refit_is_due(len(self._kept), len(data) - self._stop)
        self._posterior = self._refit(data) if due else None

    def posterior(self, data: Observations) -> Posterior:
        """Return the process given the evaluations of the last refit and those since.

        Raises:
            ConfigError: there are more evaluations than memory holds.
        """
        if self._posterior is None:
            self._posterior = self._extended(data)
        return self._posterior

    def explain(self) -> dict[str, float]:
        """Return what evidence chose last."""
        found = {"noise_share": self._choice.noise, "lengthscale": self._choice.multiple}
        found["structure_share"] = float(self._choice.structure != "common")
        found["structure_pairs"] = float(self._choice.structure == "pairs")
        return found | self._finder.explain()

    def state_dict(self) -> dict[str, Any]:
        """Return the choices of the last refit, and what it saw."""
        return {
            "kept": self._kept.copy(),
            "stop": self._stop,
            "choice": list(astuple(self._choice)),
            "finder": self._finder.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; the factor is computed again when needed."""
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
        weights = np.full(len(sizes), 1.0 / len(sizes))
        return CliqueSum(self._cliques, choice.multiple * np.sqrt(sizes), weights)

    def _refit(self, data: Observations) -> Posterior:
        """Choose evaluations and hyperparameters anew."""
        count = len(data)
        if self._finder.is_due(count):
            self._finder.find(data.candidates, data.returns, np.ones(count))
            self._cliques = self._finder.cliques
        self._kept, self._stop = np.arange(count), count
        if count > self._config.max_points:
            half = self._config.max_points // 2
            best = np.argsort(-data.returns[: count - half], kind="stable")[:half]
            self._kept = np.concatenate([np.sort(best), np.arange(count - half, count)])
        points, targets, known = self._seen(data, count)
        # The best fit so far, that of now, and that of the best before it is let go.
        require_memory(*points.shape, queries=2 * self._config.pool, fits=3)
        # One at a time: all of them would be thirty matrices.
        choices = self._choices(points, targets, known)
        _, self._choice, self._base = max(choices, key=lambda each: each[0])
        return self._base

    def _extended(self, data: Observations) -> Posterior:
        """Extend the last refit by what was told since; the choices stand."""
        if self._base is None:
            points, targets, known = self._seen(data, self._stop)
            kernel, noise = self._kernel(self._choice), np.maximum(known, self._choice.noise)
            fitted = fit(kernel.matrix(points, points), targets, noise)
            self._base = Posterior(kernel, points, fitted)
        if len(data) == self._stop:
            return self._base
        points, targets, known = self._seen(data, len(data))
        require_memory(*points.shape, queries=2 * self._config.pool, fits=2)
        return self._base.extended(points, targets, np.maximum(known, self._choice.noise))

    def _seen(self, data: Observations, count: int) -> tuple[Float, Float, Float]:
        """Return points [N, D], transformed targets [N] and known noise variances [N].

        Of the last refit and what was told since, up to so many evaluations.
        """
        seen = np.concatenate([self._kept, np.arange(self._stop, count)])
        targets, slopes = transform_returns(data.returns[seen], self._config.outcome_transform)
        known = np.square(np.nan_to_num(data.stderrs[seen] * slopes))
        return data.candidates[seen], targets, known

    def _choices(
        self, points: Float, targets: Float, known: Float
    ) -> Iterator[tuple[float, Choice, Posterior]]:
        """Yield evidence with prior, and posterior, for each set of hyperparameters.

        Cliques that are given are used; those that were found compete with all pairs and with none.
        """
        for structure in self._structures():
            for multiple in LENGTHSCALE_MULTIPLES:
                kernel = self._kernel(Choice(multiple, NOISE_VARIANCES[0], structure))
                covariance = kernel.matrix(points, points)
                prior = -0.5 * (np.log(multiple / 0.5) / np.log(2.0)) ** 2
                prior -= (
                    SEARCH_CONSTANTS.structure_penalty
                    if structure == "cliques" and self._finder.looks
                    else 0.0
                )
                for noise in NOISE_VARIANCES:
                    known_or_floor = np.maximum(known, noise)
                    fitted = fit(covariance, targets, known_or_floor)
                    choice = Choice(multiple, noise, structure)
                    yield fitted.log_evidence + prior, choice, Posterior(kernel, points, fitted)

    def _structures(self) -> tuple[str, ...]:
        """Return the kernels that compete."""
        if not self._finder.looks:
            return ("common",) if self._cliques is None else ("cliques",)
        return KERNEL_STRUCTURES if self._finder.has_pairs else KERNEL_STRUCTURES[:2]
