"""Global search of a black box whose graph is given: posterior draws, maximised clique by clique.

Each candidate maximises a function drawn from the posterior of a sum over the given cliques
(Thompson sampling), and the incumbent the posterior mean. Both are sums over cliques, which
`TermAscent` maximises globally in hundreds of dimensions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import qmc

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.dss_gp_ucb.clique_model import CliqueGp
from rolecast.platform.optimizers.dss_gp_ucb.constants import GLOBAL_CONSTANTS
from rolecast.platform.optimizers.dss_gp_ucb.term_ascent import TermAscent
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
    still_pending,
)


class CliqueSearch:
    """Thompson sampling over the unit cube, for a sum over known cliques."""

    def __init__(
        self,
        *,
        dimension: int,
        seed: int,
        cliques: Sequence[Sequence[int]],
        outcome_transform: str | None = None,
    ) -> None:
        """Start without evaluations.

        Args:
            dimension: D.
            seed: of all draws.
            cliques: together they hold every dimension.
            outcome_transform: of returns before the fit; None: none.

        Raises:
            ConfigError: the dimension is below 1.
        """
        self._data = Observations(dimension)
        self._rng = np.random.default_rng(seed)
        self._process = CliqueGp(
            dimension=dimension,
            cliques=cliques,
            max_points=GLOBAL_CONSTANTS.clique_points,
            outcome_transform=outcome_transform,
        )
        self._pending = np.empty((0, dimension))
        self._best: Float | None = None

    def ask(self, q: int) -> Float:
        """Return q points [q, D], each the maximum of a draw; Sobol points at first."""
        count = require_batch(q)
        if len(self._data) < GLOBAL_CONSTANTS.first_points:
            # Sobol would spawn the generator, which the saved state does not record.
            sobol = qmc.Sobol(self._data.dimension, seed=int(self._rng.integers(2**63)))
            points = sobol.random(1 << (count - 1).bit_length())[:count]
        else:
            points = self._of_draws(count)
        points = self._distinct(points)
        self._pending = np.concatenate([self._pending, points])
        return points

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations, and choose lengthscale, noise and graph anew if due."""
        self._data.add(candidates, returns, stderrs)
        self._pending = still_pending(self._pending, candidates)
        self._best = None
        self._process.take_in(self._data)

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._pending = self._pending[:0]

    def best(self) -> Float:
        """Return the maximum of the posterior mean [D], from the best points and by annealing."""
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        if self._best is None:
            self._best = self._greatest_mean()
        return self._best.copy()

    def explain(self) -> dict[str, float]:
        """Return what evidence chose last: lengthscale, noise, and for or against the graph."""
        return self._process.explain()

    def state_dict(self) -> dict[str, Any]:
        """Return data, generator, pending points, and the choices of the last refit."""
        return {
            "data": self._data.state_dict(),
            "rng": generator_state(self._rng),
            "pending": self._pending.copy(),
            "process": self._process.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])
        self._pending = np.array(state["pending"], dtype=np.float64)
        self._process.load_state_dict(state["process"])
        self._best = None

    def _of_draws(self, q: int) -> Float:
        """Return the maxima [q, D] of draws, most of them nearer to the mean than a full draw."""
        posterior = self._process.posterior(self._data)
        shares = (np.arange(q) + self._rng.random(q)) / q
        shares[shares > 1.0 - GLOBAL_CONSTANTS.bold_draws] = GLOBAL_CONSTANTS.bold_share
        ascent = TermAscent(posterior.draws(shares, self._rng))
        starts = np.repeat(self.best()[None], q, axis=0)
        deviation = posterior.term_deviation
        return ascent.maximise(starts, self._rng, temperature=deviation, annealed=True)

    def _greatest_mean(self) -> Float:
        """Return the maximum [D] of the posterior mean."""
        posterior = self._process.posterior(self._data)
        order = np.argsort(-posterior.means(), kind="stable")[: GLOBAL_CONSTANTS.incumbent_starts]
        starts = posterior.points[order]
        # Its own generator: what is asked for must not depend on how often `best` is called.
        rng = np.random.default_rng(len(self._data))
        deviation = posterior.term_deviation
        half = len(starts) // 2
        ends = [
            TermAscent(posterior.mean_functions(len(part))).maximise(
                part, rng, temperature=deviation, annealed=annealed
            )
            for part, annealed in ((starts[half:], False), (starts[:half], True))
            if len(part)
        ]
        found = np.concatenate([*ends, starts[:1]])
        return np.array(found[int(np.argmax(posterior.mean(found)))])

    def _distinct(self, points: Float) -> Float:
        """Return points [q, D], with one dimension drawn anew in those that are already known."""
        known = {row.tobytes() for row in (*self._data.candidates, *self._pending)}
        for point in points:
            while point.tobytes() in known:
                point[self._rng.integers(len(point))] = self._rng.random()
            known.add(point.tobytes())
        return points
