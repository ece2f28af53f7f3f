"""Server of DUETS (Algorithm 2), as a state machine: choose inducing points, aggregate, trim.

Differs: line 10 of Algorithm 2 has the features of one agent's points; equation 8 has all agents'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.agent import require_message, trimmed_region
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.messages import (
    Aggregate,
    InducingSet,
    Projection,
)
from rolecast.platform.optimizers.duets.posterior import (
    RELATIVE_JITTER,
    aggregate_projections,
    gram_factor,
    inducing_factor,
    largest_variance,
    sparse_variance,
)
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.region import Region

INDUCING_ATTEMPTS: Final = 3
"""Times that an empty inducing set is drawn; then it is one point of the epoch."""

CHECKED_CANDIDATES: Final = 1024
"""About how many candidates tell whether the inducing points describe the posterior."""


@dataclass(frozen=True, kw_only=True)
class EpochRecord:
    """What happened in one epoch that ended with an exchange."""

    epoch: int
    length: int
    """T_j."""

    largest_deviation: float
    """s_max."""

    probability: float
    """p_j."""

    inducing: int
    """|S_j|."""

    variance_ratio: float
    """Largest variance that these points leave, over s_max^2; the theorem presumes at most 3."""

    empty_draws: int
    """Inducing sets that were drawn and empty."""

    supremum: float
    """Largest sparse mean of the region."""

    threshold: float
    """Least sparse mean of what is kept."""

    share: float
    """Share of the box around it that the trimmed region fills, of candidates."""

    box_share: float
    """Share of the domain's bounding box that this box fills."""

    uplink: int
    """Real numbers that each agent sent."""

    downlink: int
    """Real numbers that were broadcast."""


class Server:
    """The server: knows the coins of all agents, and no value but what they send."""

    def __init__(
        self,
        protocol: DuetsProtocol,
        *,
        epoch: int = 1,
        region: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin with the whole domain, or go on in an epoch with a region's `state_dict()`."""
        self.protocol = protocol
        self.epoch = epoch
        whole = Region.whole(protocol.domain, protocol.kernel)
        self.region = whole if region is None else whole.restored(region)
        self.records: list[EpochRecord] = []
        self._points: Float | None = None
        self._chosen: tuple[InducingSet, float, float, int] | None = None

    def points(self) -> Float:
        """Return the points of all agents in this epoch, [N, T_j, d], from their coins."""
        if self._points is None:
            agents = self.protocol.agents
            coins = Coins(self.protocol.seed, self.epoch, np.arange(agents))
            length = self.protocol.epochs[self.epoch - 1]
            self._points = self.region.draw(coins, agents, 0, length)
        return self._points

    def inducing_set(self) -> InducingSet:
        """Return the inducing points of this epoch, to be broadcast.

        Differs: an empty set is drawn again, at most twice; then it is one point. The paper does
        not say what follows from an empty set.

        Raises:
            ConfigError: the exact posterior does not fit in memory.
        """
        if self._chosen is None:
            points = self.points()
            flat = points.reshape(-1, points.shape[-1])
            variance = largest_variance(
                self.protocol.kernel, self.protocol.noise_variance, flat, self.region.candidates
            )
            probability = min(1.0, self.protocol.inducing_factor * variance)
            kept, empty = self._kept(probability, points.shape[:2])
            message = InducingSet(self.protocol.run, self.epoch, flat[kept])
            self._chosen = message, float(np.sqrt(variance)), probability, empty
        return self._chosen[0]

    def _kept(
        self, probability: float, shape: tuple[int, ...]
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]:
        """Return the rows of the inducing points, and how often none was drawn.

        The server's own coin is that of an agent beyond the last.
        """
        coins = Coins(self.protocol.seed, self.epoch, np.array([self.protocol.agents]))
        places = np.arange(shape[0] * shape[1])
        for attempt in range(INDUCING_ATTEMPTS):
            thrown = coins.uniforms(np.zeros_like(places), places, np.array([attempt]), 1)
            kept = np.flatnonzero(thrown[:, 0, 0] < probability)
            if len(kept):
                return kept, attempt
        return np.array([int(thrown[:, 0, 0].argmin())]), INDUCING_ATTEMPTS

    def aggregate(self, projections: Sequence[Projection]) -> Aggregate:
        """Return the aggregate of what the agents sent, to be broadcast; begin the next epoch.

        Args:
            projections: one of each agent, in any order.
        Raises:
            RequestError: one is of another run or epoch, comes twice, is missing or not finite.
        """
        inducing = self.inducing_set()
        assert self._chosen is not None
        _, deviation, probability, empty = self._chosen
        total = self._total(projections, len(inducing.points))
        kernel, points = self.protocol.kernel, self.points()
        factor = inducing_factor(kernel, inducing.points)
        flat = points.reshape(-1, points.shape[-1])
        noise = self.protocol.noise_variance
        outer = gram_factor(kernel, factor, inducing.points, flat, noise)
        coefficients = aggregate_projections(outer, total)
        some = self.region.candidates[:: -(-len(self.region.candidates) // CHECKED_CANDIDATES)]
        left = sparse_variance(kernel, factor, outer, inducing.points, noise, some)
        message = Aggregate(self.protocol.run, self.epoch, coefficients, deviation)
        self.region = trimmed_region(self.protocol, self.region, inducing, message)
        test = self.region.tests[-1]
        low, high = self.protocol.domain.bounds
        box = float(np.prod((self.region.high - self.region.low) / (high - low)))
        record = EpochRecord(
            epoch=self.epoch,
            length=points.shape[1],
            largest_deviation=deviation,
            probability=probability,
            inducing=len(inducing.points),
            variance_ratio=float(left.max()) / max(deviation**2, RELATIVE_JITTER),
            empty_draws=empty,
            supremum=test.supremum,
            threshold=test.threshold,
            share=self.region.share,
            box_share=box,
            uplink=projections[0].reals,
            downlink=inducing.reals + message.reals,
        )
        self.records.append(record)
        self.epoch, self._points, self._chosen = self.epoch + 1, None, None
        return message

    def _total(self, projections: Sequence[Projection], size: int) -> Float:
        """Return sum_n v^(n) [S], added in the order of the agents."""
        by_agent: dict[int, Float] = {}
        for each in projections:
            require_message(self.protocol, self.epoch, each)
            if each.agent in by_agent:
                raise RequestError(f"agent {each.agent} sent two projections; expected one")
            if each.values.shape != (size,) or not np.isfinite(each.values).all():
                raise RequestError(f"agent {each.agent} sent no {size} finite numbers")
            by_agent[each.agent] = each.values
        missing = set(range(self.protocol.agents)) ^ set(by_agent)
        if missing:
            raise RequestError(f"projections of agents {sorted(missing)} are missing or unknown")
        return np.asarray(np.sum([by_agent[agent] for agent in sorted(by_agent)], axis=0))
