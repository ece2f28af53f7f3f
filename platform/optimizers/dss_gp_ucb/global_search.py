"""The literal search of the paper: one process over the whole cube, candidates of greatest UCB.

Algorithm 4, step 4, of the DSS-GP-UCB paper: theta_t = argmax mu + sqrt(beta_t) s under the
posterior of the SUM kernel, in batches by hallucinated means (GP-BUCB, Desautels et al. 2014).
Without cliques it is plain GP-UCB. In hundreds of dimensions with mostly noise it finds little; it
is here to be shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.stats import qmc

from rolecast.envs.errors import RequestError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
)
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import CliqueSum, Kernel, Matern
from rolecast.platform.surrogate.levelling import level
from rolecast.platform.surrogate.memory import require_memory

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


class GlobalSearch:
    """GP-UCB over the unit cube, with a sum over cliques or one kernel over all dimensions."""

    def __init__(
        self,
        config: GlobalSettings,
        *,
        dimension: int,
        seed: int,
        cliques: Sequence[Sequence[int]] | None,
    ) -> None:
        self._config, self._cliques = config, cliques
        self._data = Observations(dimension)
        self._rng = np.random.default_rng(seed)
        self._pending = np.empty((0, dimension))
        self._posterior: Posterior | None = None
        self._noise = NOISES[-2]

    def ask(self, q: int) -> Float:
        """Return q points [q, D]: uniform before any evaluation, of greatest UCB after."""
        shape = (require_batch(q), self._data.dimension)
        asked = self._of_greatest_bound(q) if len(self._data) else self._rng.random(shape)
        self._pending = np.concatenate([self._pending, asked])
        return asked

    def _of_greatest_bound(self, q: int) -> Float:
        """Return q points [q, D] of a pool, chosen in view of the pending ones."""
        posterior, root_beta = self._model(), self._root_beta()
        # Sobol's generator is spawned, which no state of ours would show; its seed is drawn.
        sobol = qmc.Sobol(self._data.dimension, seed=int(self._rng.integers(2**63)))
        size = max(self._config.pool, 1 << (q - 1).bit_length())
        pool = np.concatenate([sobol.random(size), self._perturbed(self._config.pool // 4)])
        means, deviations = posterior.mean_and_deviation(pool)
        order = np.argsort(-(means + root_beta * deviations), kind="stable")
        for start in order[:REFINED]:
            refined = self._refine(posterior, pool[start], root_beta)
            # Two climbs can end in one corner of the cube, or where an earlier one did.
            known = (self._data.candidates, self._pending, pool)
            if not any((points == refined).all(1).any() for points in known):
                pool[start] = refined
        pool = np.concatenate([self._pending, pool])
        chosen = self._greedy(posterior, pool, root_beta, len(self._pending), q)
        return np.asarray(pool[chosen])

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations."""
        self._data.add(candidates, returns, stderrs)
        told = {row.tobytes() for row in np.asarray(candidates, dtype=np.float64)}
        waiting = [row.tobytes() not in told for row in self._pending]
        self._pending = self._pending[np.array(waiting, dtype=bool)]
        self._posterior = None

    def best(self) -> Float:
        """Return the evaluated point of highest posterior mean."""
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        posterior = self._model()
        means = posterior.mean(posterior.points)
        return np.array(posterior.points[int(np.argmax(means))])

    def state_dict(self) -> dict[str, Any]:
        """Return data, generator and pending points."""
        return {
            "data": self._data.state_dict(),
            "rng": generator_state(self._rng),
            "pending": self._pending.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])
        self._pending = np.array(state["pending"], dtype=np.float64)
        self._posterior = None

    def _root_beta(self) -> float:
        """Return sqrt(beta_t), beta_t = beta d log(2 t), d the largest clique (Kandasamy 2015)."""
        width = 1 if self._cliques is None else max(map(len, self._cliques))
        return float(np.sqrt(self._config.beta * width * np.log(2.0 * max(len(self._data), 1))))

    def _kernel(self, multiple: float) -> Kernel:
        dimension = self._data.dimension
        if self._cliques is None:
            return Matern(multiple * np.sqrt(dimension))
        sizes = np.array([len(clique) for clique in self._cliques], dtype=np.float64)
        weights = np.full(len(sizes), 1.0 / len(sizes))
        return CliqueSum(self._cliques, multiple * np.sqrt(sizes), weights)

    def _model(self) -> Posterior:
        """Condition on at most `max_points` evaluations, hyperparameters by evidence.

        Raises:
            ConfigError: there are more evaluations than memory holds.
        """
        if self._posterior is None:
            count = len(self._data)
            kept = np.arange(count)
            if count > self._config.max_points:
                half = self._config.max_points // 2
                best = np.argsort(-self._data.returns[: count - half], kind="stable")[:half]
                kept = np.concatenate([np.sort(best), np.arange(count - half, count)])
            points = self._data.candidates[kept]
            # The best fit so far, that of now, and that of the best before it is let go.
            require_memory(*points.shape, queries=2 * self._config.pool, fits=3)
            targets, slopes = level(self._data.returns[kept], self._config.levelling)
            known = np.square(np.nan_to_num(self._data.stderrs[kept] * slopes))
            # One at a time: all of them would be thirty matrices.
            choices = self._choices(points, targets, known)
            _, self._noise, self._posterior = max(choices, key=lambda choice: choice[0])
        return self._posterior

    def _choices(
        self, points: Float, targets: Float, known: Float
    ) -> Iterator[tuple[float, float, Posterior]]:
        """Yield evidence with prior, noise floor and posterior for each set of hyperparameters."""
        for multiple in LENGTHSCALES:
            kernel = self._kernel(multiple)
            covariance = kernel.matrix(points, points)
            prior = -0.5 * (np.log(multiple / 0.5) / np.log(2.0)) ** 2
            for noise in NOISES:
                found = fit(covariance, targets, np.maximum(known, noise))
                yield found.log_evidence + prior, noise, Posterior(kernel, points, found)

    def _perturbed(self, count: int) -> Float:
        """Return the incumbent with one random clique (or 20 dimensions) drawn anew, [count, D]."""
        dimension = self._data.dimension
        points = np.repeat(self.best()[None], count, axis=0)
        for point in points:
            if self._cliques is None:
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

    def _greedy(
        self, posterior: Posterior, pool: Float, root_beta: float, pending: int, q: int
    ) -> list[int]:
        """Choose q of the pool one by one, each told its own mean (hallucinated) at once.

        The first `pending` points of the pool are told theirs before, and are not chosen again.
        """
        cross = posterior.kernel.matrix(pool, posterior.points)
        means = cross @ posterior.fit.weights
        half = solve_triangular(posterior.fit.factor, cross.T, lower=True, check_finite=False)
        variances = np.maximum(1.0 - np.square(half).sum(0), 1e-12)
        updates = np.zeros((0, len(pool)))
        chosen: list[int] = []
        for place in range(pending + q):
            bound = means + root_beta * np.sqrt(posterior.fit.scale * variances)
            bound[chosen] = -np.inf
            pick = place if place < pending else int(np.argmax(bound))
            chosen.append(pick)
            row = posterior.kernel.matrix(pool[pick : pick + 1], pool)[0]
            row = row - half[:, pick] @ half - updates[:, pick] @ updates
            update = row / np.sqrt(variances[pick] + self._noise)
            updates = np.concatenate([updates, update[None]])
            variances = np.maximum(variances - np.square(update), 1e-12)
        return chosen[pending:]
