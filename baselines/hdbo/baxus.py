"""BAxUS: a trust region in few bins of dimensions, which are split when it has shrunk.

Source: Papenmeier, Nardi and Poloczek (2022), Increasing the scope as you learn: adaptive Bayesian
optimization in nested subspaces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gpytorch.constraints import Interval
from gpytorch.kernels import Kernel, MaternKernel, ScaleKernel
from scipy.stats import qmc

from rolecast.baselines.hdbo import trust_region
from rolecast.baselines.hdbo.nested_bins import Bins, first_bins, tolerance
from rolecast.baselines.hdbo.record import FOREIGN_TAG, Record
from rolecast.baselines.hdbo.region import Region, best_centre, best_of_draws
from rolecast.baselines.hdbo.surrogate import Surrogate, SurrogateConfig
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, check, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.observations import require_batch
from rolecast.platform.optimizers.protocol import Proposal

INITIAL_POINTS: Final = 10
"""Points of the first design; the authors'."""


LEAST_NOISE: Final = 1e-6
"""Next to nothing, for centres are chosen by posterior mean."""


@dataclass(frozen=True, kw_only=True)
class BaxusConfig(SurrogateConfig):
    """BAxUS: a trust region in nested embeddings."""

    evaluations: int = 1000
    """m_D, evaluations after which there should be as many bins as dimensions."""

    candidates: int | None = None
    """Points among which draws of the process choose; None: min(5000, max(2000, 200 d))."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check(
            "BaxusConfig",
            vars(self),
            {"evaluations": POSITIVE_INTEGER, "candidates": or_none(POSITIVE_INTEGER)},
        )

    def build(self, *, dimension: int, seed: int) -> "Baxus":
        """Return a fresh optimiser."""
        return Baxus(self, dimension=dimension, seed=seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose few candidates of many episodes: few bins need few."""
        return default_batch_plan(budget_episodes, episodes=32, batch_size=15)


class Baxus:
    """Points carry the number of their embedding; splits keep it, a new start has a new one."""

    def __init__(self, config: BaxusConfig, *, dimension: int, seed: int) -> None:
        self._config = config
        self._record = Record(dimension, seed)
        self._initial = config.initial or INITIAL_POINTS
        self._bins = first_bins(dimension, np.random.default_rng((seed, dimension)))
        self._region = self._fresh(0)
        # Of the embeddings that ended: row of the centre, and its posterior mean.
        self._ended = np.empty((0, 2))

    def _fresh(self, tag: int) -> Region:
        surrogate = Surrogate(self._config, self._kernel, lambda: trust_region.noise(LEAST_NOISE))
        return Region(
            self._record,
            tag,
            surrogate,
            outcome_transform=self._config.outcome_transform,
            inputs=lambda points: self._bins.inputs(points),
        )

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
        bins, dimension = self._bins.count, self._record.dimension
        failures = tolerance(bins, dimension, self._config.evaluations)
        self._region.judge(self._initial, failures, singly=True)
        if self._region.box.too_small:
            self._widen(rng)
        tags = np.concatenate([self._record.tags, self._record.pending_tags])
        tag, rows = self._region.tag, self._region.rows()
        if int((tags == tag).sum()) < self._initial or not len(rows):
            inputs = 2.0 * qmc.LatinHypercube(self._bins.count, rng=rng).random(count) - 1.0
        else:
            inputs = self._thompson(count, rng)
        asked = np.full(count, tag, dtype=np.int64)
        return self._record.asked(self._bins.points(inputs), rng, asked)

    def _thompson(self, q: int, rng: np.random.Generator) -> Float:
        """Return q inputs [q, d], each the best candidate of a draw."""
        size = self._config.candidates or min(5000, max(2000, 200 * self._bins.count))
        pool, draws = self._region.draws(q, size, rng, low=-1.0, high=1.0)
        return np.asarray(pool[best_of_draws(draws)])

    def _widen(self, rng: np.random.Generator) -> None:
        """Split the bins, or where each has one dimension, begin with others."""
        if self._bins.count < self._record.dimension:
            self._bins = self._bins.split(rng)
            self._region.begin()
        else:
            self._ended = np.concatenate([self._ended, [self._region.centre()]])
            self._bins = first_bins(self._record.dimension, rng)
            self._region = self._fresh(self._region.tag + 1)

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._record.forget_pending()

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; points never asked for are seen through the embedding of now."""
        self._record.told(candidates, returns, stderrs)
        self._record.tags[self._record.tags == FOREIGN_TAG] = self._region.tag

    def best(self) -> Float:
        """Return the evaluated point of highest posterior mean, of all embeddings."""
        return best_centre(self._record, [self._region], self._ended)

    def explain(self) -> dict[str, float]:
        """Return the number of bins and the side of the trust region."""
        return {"bins": float(self._bins.count), "trust_region_length": self._region.box.length}

    def state_dict(self) -> dict[str, Any]:
        """Return points, embedding, trust region and hyperparameters."""
        region = self._region.state_dict()
        return {
            "record": self._record.state_dict(),
            "surrogate": region["surrogate"],
            "box": region["box"],
            "owners": self._bins.owners.copy(),
            "signs": self._bins.signs.copy(),
            "counts": [region["tag"], region["judged"]],
            "ended": self._ended.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._record.load_state_dict(state["record"])
        owners = np.array(state["owners"], dtype=np.int64)
        self._bins = Bins(owners, np.array(state["signs"], dtype=np.float64))
        tag, judged = state["counts"]
        self._region.load_state_dict({**state, "tag": tag, "judged": judged})
        self._ended = np.array(state["ended"], dtype=np.float64).reshape(-1, 2)
