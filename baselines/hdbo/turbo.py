"""TuRBO: Thompson sampling in trust regions, one or several, that start again where they end.

Source: Eriksson et al. (2019), Scalable global optimization via local Bayesian optimization;
written from the paper.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import qmc

from rolecast.baselines.hdbo import trust_region
from rolecast.baselines.hdbo.record import FOREIGN_TAG, Index, Record
from rolecast.baselines.hdbo.region import Region, best_centre, best_of_draws
from rolecast.baselines.hdbo.surrogate import Surrogate, SurrogateConfig
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, check, one_of, or_none
from rolecast.platform.optimizers.observations import require_batch

CENTRE_RULES: Final = ("mean", "observed")


@dataclass(frozen=True, kw_only=True)
class TurboConfig(SurrogateConfig):
    """TuRBO: trust regions that start again; lengths and tolerances are the authors'."""

    trust_regions: int = 1
    """m; each has its own points and process, and all share each batch."""

    candidates: int | None = None
    """Points of a region among which draws of its process choose; None: min(100 D, 5000)."""

    centre: str = "mean"
    """Best point of a region: the highest posterior "mean", or the highest "observed" return. The
    authors' code, for exact returns, has "observed"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = {"trust_regions": POSITIVE_INTEGER, "candidates": or_none(POSITIVE_INTEGER)}
        check("TurboConfig", vars(self), {**counts, "centre": one_of(*CENTRE_RULES)})

    def build(self, *, dimension: int, seed: int) -> "Turbo":
        """Return a fresh optimiser."""
        return Turbo(self, dimension=dimension, seed=seed)


class Turbo:
    """Trust regions whose points carry their tag; a region that starts again gets a new one."""

    def __init__(self, config: TurboConfig, *, dimension: int, seed: int) -> None:
        self._config = config
        self._record = Record(dimension, seed)
        self._initial = config.initial or 2 * dimension
        self._tags = 0
        self._regions = [self._fresh() for _ in range(config.trust_regions)]
        # Of the regions that ended: row of the centre, and its posterior mean.
        self._ended = np.empty((0, 2))

    def _fresh(self) -> Region:
        dimension, observed = self._record.dimension, self._config.centre == "observed"
        # A mean that is never sure of a value by more than 0.02 deviations finds no better centre.
        least = 5e-4 if observed else 1e-6
        surrogate = Surrogate(
            self._config,
            lambda: trust_region.kernel(dimension),
            lambda: trust_region.noise(least),
        )
        self._tags += 1
        tag, outcome_transform = self._tags - 1, self._config.outcome_transform
        return Region(
            self._record, tag, surrogate, outcome_transform=outcome_transform, observed=observed
        )

    def ask(self, q: int) -> Float:
        """Return q points [q, D]: of the designs of new regions first, then of draws."""
        count, rng = require_batch(q), self._record.generator()
        for place, region in enumerate(self._regions):
            region.judge(self._initial, max(4, self._record.dimension))
            if region.box.too_small:
                self._ended = np.concatenate([self._ended, [region.centre()]])
                self._regions[place] = self._fresh()
        tags = self._design_tags(count)
        sampler = qmc.LatinHypercube(self._record.dimension, rng=rng)
        points = sampler.random(len(tags)) if len(tags) else np.empty((0, self._record.dimension))
        if len(tags) < count:
            drawn, drawn_tags = self._thompson(count - len(tags), rng)
            points, tags = np.concatenate([points, drawn]), np.concatenate([tags, drawn_tags])
        return self._record.asked(points, rng, tags)

    def _design_tags(self, q: int) -> Index:
        """Return the regions of a batch's first points, those that still lack a design."""
        tags: list[int] = []
        asked = np.concatenate([self._record.tags, self._record.pending_tags])
        for region in self._regions:
            lacking = self._initial - int((asked == region.tag).sum())
            tags += [region.tag] * min(max(lacking, 0), q - len(tags))
        if not any(len(region.rows()) for region in self._regions):
            tags += [self._regions[0].tag] * (q - len(tags))
        return np.array(tags, dtype=np.int64)

    def _thompson(self, q: int, rng: np.random.Generator) -> tuple[Float, Index]:
        """Return q points [q, D], each the best of a joint draw of all regions, and whose it is."""
        size = self._config.candidates or min(100 * self._record.dimension, 5000)
        pools, draws, tags = [], [], []
        for region in self._regions:
            if not len(region.rows()):
                continue
            pool, drawn = region.draws(q, size, rng)
            _, rows, _ = region.model()
            draws.append(region.in_returns(drawn, rows))
            pools.append(pool)
            tags += [region.tag] * len(pool)
        chosen = best_of_draws(np.concatenate(draws, axis=1))
        return np.concatenate(pools)[chosen], np.array(tags, dtype=np.int64)[chosen]

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._record.forget_pending()

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; points never asked for go to the region that has fewest."""
        self._record.told(candidates, returns, stderrs)
        for row in np.flatnonzero(self._record.tags == FOREIGN_TAG):
            counts = [int((self._record.tags == region.tag).sum()) for region in self._regions]
            self._record.tags[row] = self._regions[int(np.argmin(counts))].tag

    def best(self) -> Float:
        """Return the best centre, of the regions and of those that ended, by posterior mean."""
        return best_centre(self._record, self._regions, self._ended)

    def explain(self) -> dict[str, float]:
        """Return the longest side of a region, and how many ended."""
        longest = max(region.box.length for region in self._regions)
        return {"trust_region_length": longest, "trust_regions_ended": float(len(self._ended))}

    def state_dict(self) -> dict[str, Any]:
        """Return points, regions and what is left of those that ended."""
        regions = enumerate(self._regions)
        return {
            "record": self._record.state_dict(),
            "regions": {str(place): region.state_dict() for place, region in regions},
            "tags": self._tags,
            "ended": self._ended.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._record.load_state_dict(state["record"])
        for place, region in enumerate(self._regions):
            region.load_state_dict(state["regions"][str(place)])
        self._tags = int(state["tags"])
        self._ended = np.array(state["ended"], dtype=np.float64).reshape(-1, 2)
