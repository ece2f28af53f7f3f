"""The literal search of the paper: one process over the whole cube, candidates of greatest UCB.

Algorithm 4, step 4, of the DSS-GP-UCB paper: theta_t = argmax mu + sqrt(beta_t) s under the
posterior of the SUM kernel, in batches by hallucinated means (GP-BUCB, Desautels et al. 2014).
Without cliques it is plain GP-UCB. In hundreds of dimensions with mostly noise it finds little; it
is here to be shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.optimize import minimize
from scipy.stats import qmc

from rolecast.envs.errors import RequestError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.acquisition import greatest_bounds, root_beta
from rolecast.platform.optimizers.dss_gp_ucb.config import FinderSettings
from rolecast.platform.optimizers.dss_gp_ucb.evidence import PLAINER
from rolecast.platform.optimizers.dss_gp_ucb.inference import StructureFinder
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
    still_pending,
)
from rolecast.platform.surrogate.gp import Fit, Posterior, extend, fit
from rolecast.platform.surrogate.kernels import CliqueSum, Kernel, Matern
from rolecast.platform.surrogate.levelling import level
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.refits import refit_is_due

LENGTHSCALES: Final = (0.125, 0.25, 0.5, 1.0, 2.0)
"""Lengthscales that evidence chooses among, as multiples of the square root of the dimension."""

NOISES: Final = (1e-4, 1e-3, 1e-2, 0.1, 0.4, 1.6)
"""Noise floors that evidence chooses among, as shares of the output variance."""

REFINED: Final = 2
"""Candidates improved by L-BFGS-B in each batch."""


class GlobalSettings(Protocol):
    """What a global search must know; `GpUcbConfig` and `DssGpUcbConfig` have it."""

    @property
    def levelling(self) -> str | None:
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

    structured: bool
    """Whether the kernel is a sum over cliques."""


class GlobalSearch:
    """GP-UCB over the unit cube, with a sum over cliques or one kernel over all dimensions."""

    def __init__(
        self,
        config: GlobalSettings,
        *,
        dimension: int,
        seed: int,
        cliques: Sequence[Sequence[int]] | None,
        finder: FinderSettings | None = None,
    ) -> None:
        self._config, self._cliques = config, cliques
        self._finder = StructureFinder(finder, dimension=dimension)
        self._data = Observations(dimension)
        self._rng = np.random.default_rng(seed)
        self._pending = np.empty((0, dimension))
        self._posterior: Posterior | None = None
        self._choice = Choice(0.5, NOISES[-2], cliques is not None)
        self._kept: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._stop = 0
        self._base: Fit | None = None

    def ask(self, q: int) -> Float:
        """Return q points [q, D]: uniform before any evaluation, of greatest UCB after."""
        shape = (require_batch(q), self._data.dimension)
        asked = self._of_greatest_bound(q) if len(self._data) else self._rng.random(shape)
        self._pending = np.concatenate([self._pending, asked])
        return asked

    def _of_greatest_bound(self, q: int) -> Float:
        """Return q points [q, D] of a pool, chosen in view of the pending ones."""
        posterior, weight = self._model(), self._root_beta()
        # Sobol's generator is spawned, which no state of ours would show; its seed is drawn.
        sobol = qmc.Sobol(self._data.dimension, seed=int(self._rng.integers(2**63)))
        size = max(self._config.pool, 1 << (q - 1).bit_length())
        pool = np.concatenate([sobol.random(size), self._perturbed(self._config.pool // 4)])
        means, deviations = posterior.mean_and_deviation(pool)
        order = np.argsort(-(means + weight * deviations), kind="stable")
        for start in order[:REFINED]:
            refined = self._refine(posterior, pool[start], weight)
            # Two climbs can end in one corner of the cube, or where an earlier one did.
            known = (self._data.candidates, self._pending, pool)
            if not any((points == refined).all(1).any() for points in known):
                pool[start] = refined
        pool = np.concatenate([self._pending, pool])
        chosen = greatest_bounds(
            posterior,
            pool,
            q,
            pending=len(self._pending),
            root_beta=weight,
            noise=self._choice.noise,
        )
        return np.asarray(pool[chosen])

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations."""
        self._data.add(candidates, returns, stderrs)
        self._pending = still_pending(self._pending, candidates)
        count = len(self._data)
        # With the tell, so that nothing depends on what is asked in between.
        due = refit_is_due(len(self._kept), count - self._stop)
        self._posterior = self._refit(count) if due else None

    def best(self) -> Float:
        """Return the evaluated point of highest posterior mean."""
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        posterior = self._model()
        means = posterior.mean(posterior.points)
        return np.array(posterior.points[int(np.argmax(means))])

    def state_dict(self) -> dict[str, Any]:
        """Return data, generator, pending points, and the choices of the last refit."""
        return {
            "data": self._data.state_dict(),
            "rng": generator_state(self._rng),
            "pending": self._pending.copy(),
            "kept": self._kept.copy(),
            "stop": self._stop,
            "choice": list(astuple(self._choice)),
            "finder": self._finder.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])
        self._pending = np.array(state["pending"], dtype=np.float64)
        self._kept = np.array(state["kept"], dtype=np.int64)
        self._stop = int(state["stop"])
        multiple, noise, structured = state["choice"]
        self._choice = Choice(float(multiple), float(noise), bool(structured))
        self._finder.load_state_dict(state["finder"])
        self._cliques = self._finder.cliques or self._cliques
        self._posterior = self._base = None

    def _root_beta(self) -> float:
        cliques = self._cliques if self._choice.structured else None
        return root_beta(self._config.beta, cliques, len(self._data))

    def _kernel(self, choice: Choice) -> Kernel:
        dimension = self._data.dimension
        if not choice.structured or self._cliques is None:
            return Matern(choice.multiple * np.sqrt(dimension))
        sizes = np.array([len(clique) for clique in self._cliques], dtype=np.float64)
        weights = np.full(len(sizes), 1.0 / len(sizes))
        return CliqueSum(self._cliques, choice.multiple * np.sqrt(sizes), weights)

    def _model(self) -> Posterior:
        """Return the process given the evaluations of the last refit and those since.

        Raises:
            ConfigError: there are more evaluations than memory holds.
        """
        if self._posterior is None:
            self._posterior = self._extended(len(self._data))
        return self._posterior

    def _refit(self, count: int) -> Posterior:
        """Choose evaluations and hyperparameters anew."""
        data = self._data
        if self._finder.is_due(count):
            self._finder.find(data.candidates, data.returns, np.ones(count))
            self._cliques = self._finder.cliques
        self._kept, self._stop = np.arange(count), count
        if count > self._config.max_points:
            half = self._config.max_points // 2
            best = np.argsort(-data.returns[: count - half], kind="stable")[:half]
            self._kept = np.concatenate([np.sort(best), np.arange(count - half, count)])
        points, targets, known = self._seen(count)
        # The best fit so far, that of now, and that of the best before it is let go.
        require_memory(*points.shape, queries=2 * self._config.pool, fits=3)
        # One at a time: all of them would be thirty matrices.
        choices = self._choices(points, targets, known)
        _, self._choice, posterior = max(choices, key=lambda each: each[0])
        self._base = posterior.fit
        return posterior

    def _extended(self, count: int) -> Posterior:
        """Extend the last refit by what was told since; the choices stand."""
        points, targets, known = self._seen(count)
        require_memory(*points.shape, queries=2 * self._config.pool, fits=2)
        kernel, fitted = self._kernel(self._choice), len(self._kept)
        if self._base is None:
            old, levelled, floor = self._seen(self._stop)
            noise = np.maximum(floor, self._choice.noise)
            self._base = fit(kernel.matrix(old, old), levelled, noise)
        fresh = points[fitted:]
        if not len(fresh):
            return Posterior(kernel, points, self._base)
        found = extend(
            self._base,
            kernel.matrix(points[:fitted], fresh),
            kernel.matrix(fresh, fresh),
            targets,
            np.maximum(known[fitted:], self._choice.noise),
        )
        return Posterior(kernel, points, found)

    def _seen(self, count: int) -> tuple[Float, Float, Float]:
        """Return points [N, D], levelled targets [N] and known noise variances [N].

        Of the last refit and what was told since, up to so many evaluations.
        """
        seen = np.concatenate([self._kept, np.arange(self._stop, count)])
        targets, slopes = level(self._data.returns[seen], self._config.levelling)
        known = np.square(np.nan_to_num(self._data.stderrs[seen] * slopes))
        return self._data.candidates[seen], targets, known

    def _choices(
        self, points: Float, targets: Float, known: Float
    ) -> Iterator[tuple[float, Choice, Posterior]]:
        """Yield evidence with prior, and posterior, for each set of hyperparameters.

        Cliques that are given are used; those that were found compete with none.
        """
        found = self._finder.cliques is not None
        for structured in (False, True) if found else (self._cliques is not None,):
            for multiple in LENGTHSCALES:
                kernel = self._kernel(Choice(multiple, NOISES[0], structured))
                covariance = kernel.matrix(points, points)
                prior = -0.5 * (np.log(multiple / 0.5) / np.log(2.0)) ** 2
                prior -= PLAINER if structured and found else 0.0
                for noise in NOISES:
                    known_or_floor = np.maximum(known, noise)
                    fitted = fit(covariance, targets, known_or_floor)
                    choice = Choice(multiple, noise, structured)
                    yield fitted.log_evidence + prior, choice, Posterior(kernel, points, fitted)

    def _perturbed(self, count: int) -> Float:
        """Return the incumbent with one random clique (or 20 dimensions) drawn anew, [count, D]."""
        dimension = self._data.dimension
        points = np.repeat(self.best()[None], count, axis=0)
        for point in points:
            if self._cliques is None or not self._choice.structured:
                changed = self._rng.choice(dimension, min(20, dimension), replace=False)
            else:
                changed = np.asarray(self._cliques[int(self._rng.integers(len(self._cliques)))])
            point[changed] = self._rng.random(len(changed))
        return points

    def _refine(self, posterior: Posterior, start: Float, root_beta: float) -> Float:
        """Return a local maximum of the UCB, from a start [D]."""

        def loss(point: Float) -> tuple[float, Float]:
            mean, deviation = posterior.mean_and_deviation(point[None])
            cross = posterior.kernel.matrix(point[None], posterior.points)[0]
            inverse = cho_solve((posterior.fit.factor, True), cross, check_finite=False)
            slope = -posterior.fit.scale / deviation[0]
            gradient = posterior.kernel.gradient(
                point, posterior.points, posterior.fit.weights + root_beta * slope * inverse
            )
            return -float(mean[0] + root_beta * deviation[0]), -gradient

        found = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * len(start),
            options={"maxiter": 10},
        )
        return np.clip(found.x, 0.0, 1.0)
