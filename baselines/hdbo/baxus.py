"""BAxUS: a trust region in few bins of dimensions, which are split when it has shrunk.

Source: Papenmeier, Nardi and Poloczek (2022), Increasing the scope as you learn: adaptive Bayesian
optimization in nested subspaces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from botorch.models import SingleTaskGP
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel, MaternKernel, ScaleKernel
from scipy.stats import qmc

from rolecast.baselines.hdbo import trust_region
from rolecast.baselines.hdbo.nested_bins import Bins, first_bins, tolerance
from rolecast.baselines.hdbo.record import FOREIGN, Index, Record
from rolecast.baselines.hdbo.surrogate import (
    Surrogate,
    SurrogateConfig,
    posterior_draws,
    posterior_mean,
)
from rolecast.baselines.hdbo.trust_region import TrustRegion, gains
from rolecast.envs.errors import ConfigError, RequestError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.observations import require_batch
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.surrogate.levelling import to_returns

INITIAL: Final = 10
"""Points of the first design; the authors'."""


LEAST_NOISE: Final = 1e-6
"""Next to nothing, for centres are chosen by posterior mean."""


@dataclass(frozen=True, kw_only=True)
class BaxusConfig(SurrogateConfig):
    """A trust region in nested embeddings."""

    evaluations: int = 1000
    """m_D, evaluations after which there should be as many bins as dimensions."""

    candidates: int | None = None
    """Points among which draws of the process choose; None: min(5000, max(2000, 200 d))."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("evaluations", "candidates"):
            value = getattr(self, name)
            if name == "candidates" and value is None:
                continue
            if type(value) is not int or value < 1:
                raise ConfigError(f"BaxusConfig.{name}", value, "an integer >= 1")

    def build(self, *, dimension: int, seed: int) -> "Baxus":
        """Return a fresh optimiser."""
        return Baxus(self, dimension=dimension, seed=seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose few candidates of many episodes: few bins need few."""
        return many_cheap(budget_episodes, episodes=32, batch_size=15)


class Baxus:
    """Points carry the number of their embedding; splits keep it, a new start has a new one."""

    def __init__(self, config: BaxusConfig, *, dimension: int, seed: int) -> None:
        self._config = config
        self._record = Record(dimension, seed)
        self._initial = config.initial or INITIAL
        self._surrogate = Surrogate(config, self._kernel, lambda: trust_region.noise(LEAST_NOISE))
        self._tag, self._judged, self._box = 0, 0, TrustRegion()
        self._bins = first_bins(dimension, np.random.default_rng((seed, dimension)))
        # Of the embeddings that ended: row of the centre, and its posterior mean.
        self._ended = np.empty((0, 2))

    def _kernel(self) -> Kernel:
        """Return the authors' kernel: Matern-5/2, a lengthscale a bin, in bounds."""
        base = MaternKernel(
            nu=2.5, ard_num_dims=self._bins.count, lengthscale_constraint=Interval(0.005, 10.0)
        )
        scaled = ScaleKernel(base, outputscale_constraint=Interval(0.05, 10.0)).double()
        scaled.outputscale, base.lengthscale = 1.0, 1.0
        return scaled

    def ask(self, q: int) -> Float:
        """Return q points [q, D]: of the design of an embedding, or the best of draws."""
        count, rng = require_batch(q), self._record.generator()
        self._judge()
        if self._box.spent:
            self._widen(rng)
        tags = np.concatenate([self._record.tags, self._record.pending_tags])
        if int((tags == self._tag).sum()) < self._initial or not len(self._rows()):
            inputs = 2.0 * qmc.LatinHypercube(self._bins.count, rng=rng).random(count) - 1.0
        else:
            inputs = self._thompson(count, rng)
        asked = np.full(count, self._tag, dtype=np.int64)
        return self._record.asked(self._bins.points(inputs), rng, asked)

    def _thompson(self, q: int, rng: np.random.Generator) -> Float:
        """Return q inputs [q, d], each the best candidate of a draw."""
        model, _, _ = self._model()
        self._surrogate.commit()
        row, _ = self._centre()
        centre = self._bins.inputs(self._record.data.candidates[row][None])[0]
        lengthscales = model.covar_module.base_kernel.lengthscale.detach().numpy()[0]
        corners = trust_region.box(centre, lengthscales, self._box.length, -1.0, 1.0)
        size = self._config.candidates or min(5000, max(2000, 200 * self._bins.count))
        pool = trust_region.candidates(centre, corners, max(size, 2 * q), rng)
        chosen: list[int] = []
        for draw in posterior_draws(model, pool, q, rng):
            draw[chosen] = -np.inf
            chosen.append(int(np.argmax(draw)))
        return np.asarray(pool[chosen])

    def _widen(self, rng: np.random.Generator) -> None:
        """Split the bins, or where each has one dimension, begin with others."""
        if self._bins.count < self._record.dimension:
            self._bins = self._bins.split(rng)
        else:
            self._ended = np.concatenate([self._ended, [self._centre()]])
            self._bins = first_bins(self._record.dimension, rng)
            self._tag, self._judged = self._tag + 1, 0
        self._surrogate.forget()
        self._box = TrustRegion()

    def _judge(self) -> None:
        """Count all that was told since the last time as one batch."""
        count, known = len(self._rows()), self._judged
        if count == known:
            return
        self._judged = count
        if known < self._initial:
            return
        rows, values = self._values()
        fresh = rows >= self._rows()[known]
        gained = gains(float(values[fresh].max()), float(values[~fresh].max()))
        most = tolerance(self._bins.count, self._record.dimension, self._config.evaluations)
        self._box.judge(gained, count - known, most)

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; points never asked for are seen through the embedding of now."""
        self._record.told(candidates, returns, stderrs)
        self._record.tags[self._record.tags == FOREIGN] = self._tag

    def best(self) -> Float:
        """Return the evaluated point of highest posterior mean, of all embeddings."""
        if not len(self._record):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        live = [self._centre()] if len(self._rows()) else []
        row, _ = max([*live, *map(tuple, self._ended)], key=lambda centre: centre[1])
        return np.array(self._record.data.candidates[int(row)])

    def explain(self) -> dict[str, float]:
        """Return the number of bins and the side of the trust region."""
        return {"bins": float(self._bins.count), "trust_region_length": self._box.length}

    def _rows(self) -> Index:
        """Return which told evaluations belong to the embedding of now, in order."""
        return np.flatnonzero(self._record.tags == self._tag)

    def _model(self) -> tuple[SingleTaskGP, Index, Float]:
        """Return the process, the rows [K] that it sees, and their inputs [K, d]."""
        data, rows = self._record.data, self._rows()
        inputs = self._bins.inputs(data.candidates[rows])
        model, seen = self._surrogate.model(inputs, data.returns[rows], data.stderrs[rows])
        return model, rows[seen], inputs[seen]

    def _values(self) -> tuple[Index, Float]:
        """Return rows [K] of the points and their posterior means, in the unit of the task."""
        model, rows, inputs = self._model()
        returns = self._record.data.returns[rows]
        return rows, to_returns(posterior_mean(model, inputs), returns, self._config.levelling)

    def _centre(self) -> tuple[int, float]:
        """Return the row of the best point, and its worth."""
        rows, values = self._values()
        best = int(np.argmax(values))
        return int(rows[best]), float(values[best])

    def state_dict(self) -> dict[str, Any]:
        """Return points, embedding, trust region and hyperparameters."""
        return {
            "record": self._record.state_dict(),
            "surrogate": self._surrogate.state_dict(),
            "box": self._box.state_dict(),
            "owners": self._bins.owners.copy(),
            "signs": self._bins.signs.copy(),
            "counts": [self._tag, self._judged],
            "ended": self._ended.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._record.load_state_dict(state["record"])
        self._surrogate.load_state_dict(state["surrogate"])
        self._box = TrustRegion.from_state(state["box"])
        owners = np.array(state["owners"], dtype=np.int64)
        self._bins = Bins(owners, np.array(state["signs"], dtype=np.float64))
        self._tag, self._judged = map(int, state["counts"])
        self._ended = np.array(state["ended"], dtype=np.float64).reshape(-1, 2)
