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
from rolecast.baselines.hdbo.record import FOREIGN, Index, Record
from rolecast.baselines.hdbo.surrogate import (
    Surrogate,
    SurrogateConfig,
    posterior_draws,
    posterior_mean,
)
from rolecast.baselines.hdbo.trust_region import TrustRegion, gains
from rolecast.envs.errors import ConfigError, RequestError, unknown_name
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.observations import require_batch
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.surrogate.levelling import to_returns

CENTRES: Final = ("mean", "observed")


@dataclass(frozen=True, kw_only=True)
class TurboConfig(SurrogateConfig):
    """Trust regions; lengths and tolerances are the authors' (`trust_region`)."""

    trust_regions: int = 1
    """m; each has its own points and process, and all share each batch."""

    candidates: int | None = None
    """Points of a region among which draws of its process choose; None: min(100 D, 5000)."""

    centre: str = "mean"
    """Which point of a region is its best: that of highest posterior "mean", or, as in the authors'
    code, which is for exact returns, the highest "observed" one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("trust_regions", "candidates"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"TurboConfig.{name}", value, "an integer >= 1")
        if self.trust_regions is None:
            raise ConfigError("TurboConfig.trust_regions", None, "an integer >= 1")
        if self.centre not in CENTRES:
            raise unknown_name("centre", self.centre, CENTRES)

    def build(self, *, dimension: int, seed: int) -> "Turbo":
        """Return a fresh optimiser."""
        return Turbo(self, dimension=dimension, seed=seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return many_cheap(budget_episodes)


@dataclass
class _Region:
    """One trust region: its box, its process, and how many of its points it has judged."""

    tag: int
    box: TrustRegion
    surrogate: Surrogate
    judged: int = 0


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

    def _fresh(self) -> _Region:
        dimension = self._record.dimension
        # A mean that is never sure of a value by more than 0.02 deviations finds no better centre.
        least = 5e-4 if self._config.centre == "observed" else 1e-6
        surrogate = Surrogate(
            self._config,
            lambda: trust_region.kernel(dimension),
            lambda: trust_region.noise(least),
        )
        self._tags += 1
        return _Region(self._tags - 1, TrustRegion(), surrogate)

    def ask(self, q: int) -> Float:
        """Return q points [q, D]: of the designs of new regions first, then of draws."""
        count, rng = require_batch(q), self._record.generator()
        for place, region in enumerate(self._regions):
            self._judge(region)
            if region.box.spent:
                row, value = self._centre(region)
                self._ended = np.concatenate([self._ended, [[row, value]]])
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
        if not any(len(self._rows(region)) for region in self._regions):
            tags += [self._regions[0].tag] * (q - len(tags))
        return np.array(tags, dtype=np.int64)

    def _thompson(self, q: int, rng: np.random.Generator) -> tuple[Float, Index]:
        """Return q points [q, D], each the best of a joint draw of all regions, and whose it is."""
        dimension = self._record.dimension
        size = max(self._config.candidates or min(100 * dimension, 5000), 2 * q)
        pools, draws, tags = [], [], []
        for region in self._regions:
            rows = self._rows(region)
            if not len(rows):
                continue
            model, seen = self._model(region, rows)
            region.surrogate.commit()
            row, _ = self._centre(region)
            lengthscales = model.covar_module.base_kernel.lengthscale.detach().numpy()[0]
            centre = self._record.data.candidates[row]
            corners = trust_region.box(centre, lengthscales, region.box.length)
            pool = trust_region.candidates(centre, corners, size, rng)
            drawn = posterior_draws(model, pool, q, rng)
            returns = self._record.data.returns[rows[seen]]
            draws.append(to_returns(drawn, returns, self._config.levelling))
            pools.append(pool)
            tags += [region.tag] * size
        values, pool = np.concatenate(draws, axis=1), np.concatenate(pools)
        chosen: list[int] = []
        for draw in values:
            draw[chosen] = -np.inf
            chosen.append(int(np.argmax(draw)))
        return pool[chosen], np.array(tags, dtype=np.int64)[chosen]

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; points never asked for go to the region that has fewest."""
        self._record.told(candidates, returns, stderrs)
        for row in np.flatnonzero(self._record.tags == FOREIGN):
            counts = [int((self._record.tags == region.tag).sum()) for region in self._regions]
            self._record.tags[row] = self._regions[int(np.argmin(counts))].tag

    def best(self) -> Float:
        """Return the best centre, of the regions and of those that ended, by posterior mean."""
        if not len(self._record):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        live = [self._centre(region) for region in self._regions if len(self._rows(region))]
        row, _ = max([*live, *map(tuple, self._ended)], key=lambda centre: centre[1])
        return np.array(self._record.data.candidates[int(row)])

    def explain(self) -> dict[str, float]:
        """Return the longest side of a region, and how many ended."""
        longest = max(region.box.length for region in self._regions)
        return {"trust_region_length": longest, "trust_regions_ended": float(len(self._ended))}

    def _rows(self, region: _Region) -> Index:
        """Return which told evaluations are a region's, in order."""
        return np.flatnonzero(self._record.tags == region.tag)

    def _model(self, region: _Region, rows: Index) -> tuple[Any, Index]:
        data = self._record.data
        return region.surrogate.model(data.candidates[rows], data.returns[rows], data.stderrs[rows])

    def _values(self, region: _Region) -> tuple[Index, Float]:
        """Return rows [K] of a region's points and their worth, in the unit of the task."""
        rows, data = self._rows(region), self._record.data
        if self._config.centre == "observed":
            return rows, data.returns[rows]
        model, seen = self._model(region, rows)
        means = posterior_mean(model, data.candidates[rows[seen]])
        return rows[seen], to_returns(means, data.returns[rows[seen]], self._config.levelling)

    def _centre(self, region: _Region) -> tuple[int, float]:
        """Return the row of a region's best point, and its worth."""
        rows, values = self._values(region)
        best = int(np.argmax(values))
        return int(rows[best]), float(values[best])

    def _judge(self, region: _Region) -> None:
        """Count all that a region was told since the last time as one batch."""
        count, known = len(self._rows(region)), region.judged
        if count == known:
            return
        region.judged = count
        if known < self._initial:
            return
        rows, values = self._values(region)
        fresh = rows >= self._rows(region)[known]
        gained = gains(float(values[fresh].max()), float(values[~fresh].max()))
        region.box.judge(gained, count - known, max(4, self._record.dimension))

    def state_dict(self) -> dict[str, Any]:
        """Return points, regions and what is left of those that ended."""
        regions = {
            str(place): {
                "tag": region.tag,
                "judged": region.judged,
                "box": region.box.state_dict(),
                "surrogate": region.surrogate.state_dict(),
            }
            for place, region in enumerate(self._regions)
        }
        return {
            "record": self._record.state_dict(),
            "regions": regions,
            "tags": self._tags,
            "ended": self._ended.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._record.load_state_dict(state["record"])
        for place, region in enumerate(self._regions):
            saved = state["regions"][str(place)]
            region.tag, region.judged = int(saved["tag"]), int(saved["judged"])
            region.box = TrustRegion.from_state(saved["box"])
            region.surrogate.load_state_dict(saved["surrogate"])
        self._tags = int(state["tags"])
        self._ended = np.array(state["ended"], dtype=np.float64).reshape(-1, 2)
