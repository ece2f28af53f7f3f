"""Global search of the paper: one Gaussian process over the cube, candidates of greatest UCB.

Algorithm 4, step 4, of the DSS-GP-UCB paper: theta_t = argmax mu(theta) + sqrt(beta_t) s(theta),
under the posterior of the SUM kernel. Batches use hallucinated means (GP-BUCB, Desautels et al.
2014). Without cliques it is plain GP-UCB. It finds little in hundreds of dimensions with mostly
noise. With cliques it is among the best in some tens of dimensions (docs/structure.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.global_settings import GlobalSettings
from rolecast.platform.optimizers.dss_gp_ucb.paper_model import GlobalGp
from rolecast.platform.optimizers.local_gp.acquisition import greatest_bounds, root_beta
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
    still_pending,
)
from rolecast.platform.optimizers.structure.settings import FinderSettings
from rolecast.platform.surrogate import dense
from rolecast.platform.surrogate.gp import Posterior

CANDIDATE_SOURCES: Final = ("sobol", "incumbent", "climb")
"""Sources of a batch: Sobol points, the incumbent with one term drawn anew, and L-BFGS-B ascents
from the best of both."""


class GlobalSearch:
    """GP-UCB over the unit cube, with a sum over cliques, all pairs, or one common kernel."""

    def __init__(
        self,
        config: GlobalSettings,
        *,
        dimension: int,
        seed: int,
        cliques: Sequence[Sequence[int]] | None,
        finder: FinderSettings | None = None,
    ) -> None:
        self._config, self._data = config, Observations(dimension)
        self._rng = np.random.default_rng(seed)
        self._pending = np.empty((0, dimension))
        self._process = GlobalGp(config, dimension=dimension, cliques=cliques, finder=finder)
        self._won: dict[str, float] = {}

    def ask(self, q: int) -> Float:
        """Return q points [q, D] of greatest UCB; uniform ones before the first evaluation."""
        count = require_batch(q)
        if len(self._data):
            asked = self._of_greatest_bound(count)
        else:
            asked = self._rng.random((count, self._data.dimension))
        self._pending = np.concatenate([self._pending, asked])
        return asked

    def _of_greatest_bound(self, q: int) -> Float:
        """Return q points [q, D] of a pool, of greatest UCB given the pending points."""
        posterior, weight = self._process.posterior(self._data), self._root_beta()
        # Sobol would spawn the generator, which the saved state does not record: draw its seed.
        sobol = qmc.Sobol(self._data.dimension, seed=int(self._rng.integers(2**63)))
        size = max(self._config.pool, 1 << (q - 1).bit_length())
        pool = np.concatenate([sobol.random(size), self._perturbed(self._config.pool // 4)])
        means, deviations = posterior.mean_and_deviation(pool)
        order = np.argsort(-(means + weight * deviations), kind="stable")
        starts = np.repeat(["sobol", "incumbent"], [size, len(pool) - size]).astype("<U9")
        for start in order[: GLOBAL_CONSTANTS.refined_candidates]:
            refined = self._refine(posterior, pool[start], weight)
            # Two climbs can end in one corner of the cube, or where an earlier one did.
            known = (self._data.candidates, self._pending, pool)
            if not any((points == refined).all(1).any() for points in known):
                pool[start], starts[start] = refined, "climb"
        pool = np.concatenate([self._pending, pool])
        chosen = greatest_bounds(
            posterior,
            pool,
            q,
            pending=len(self._pending),
            root_beta=weight,
            noise=self._process.noise,
        )
        won = starts[np.array(chosen) - len(self._pending)]
        self._won = {f"from_{name}": float(np.mean(won == name)) for name in CANDIDATE_SOURCES}
        return np.asarray(pool[chosen])

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations, and refit if due."""
        self._data.add(candidates, returns, stderrs)
        self._pending = still_pending(self._pending, candidates)
        self._process.take_in(self._data)

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._pending = self._pending[:0]

    def best(self) -> Float:
        """Return the evaluated point of highest posterior mean."""
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        posterior = self._process.posterior(self._data)
        means = posterior.mean(posterior.points)
        return np.array(posterior.points[int(np.argmax(means))])

    def explain(self) -> dict[str, float]:
        """Return the choices by evidence, and the sources of the last batch.

        `from_sobol`, `from_incumbent` (with one term drawn anew) and `from_climb` are shares.
        """
        return self._process.explain() | self._won

    def state_dict(self) -> dict[str, Any]:
        """Return data, generator, pending points, choices of the last refit, and sources."""
        return {
            "data": self._data.state_dict(),
            "rng": generator_state(self._rng),
            "pending": self._pending.copy(),
            "process": self._process.state_dict(),
            "won": dict(self._won),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])
        self._pending = np.array(state["pending"], dtype=np.float64)
        self._process.load_state_dict(state["process"])
        self._won = dict(state.get("won", {}))  # older states have none

    def _root_beta(self) -> float:
        return root_beta(self._config.beta, self._process.order, len(self._data))

    def _perturbed(self, count: int) -> Float:
        """Return copies [count, D] of the incumbent, each with one random term drawn anew."""
        points = np.repeat(self.best()[None], count, axis=0)
        for point in points:
            changed = self._process.term(self._rng)
            point[changed] = self._rng.random(len(changed))
        return points

    def _refine(self, posterior: Posterior, start: Float, root_beta: float) -> Float:
        """Return a local maximum of the UCB, by L-BFGS-B from a start [D]."""

        def loss(point: Float) -> tuple[float, Float]:
            # grad s = -(scale / s) sum_j (K^-1 k)_j grad k_j, so one gradient serves mu and s.
            mean, deviation = posterior.mean_and_deviation(point[None])
            cross = posterior.kernel.matrix(point[None], posterior.points)[0]
            inverse = dense.solve(posterior.fit.factor, cross)
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
