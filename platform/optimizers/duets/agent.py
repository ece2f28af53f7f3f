"""Agents of DUETS (Algorithm 1), as a state machine: draw, project, trim.

Differs: line 6 of Algorithm 1 samples from X_{j-1}; text and analysis say X_j.
"""

from collections.abc import Sequence

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.messages import Aggregate, InducingSet, Projection
from rolecast.platform.optimizers.duets.posterior import (
    agent_projection,
    inducing_factor,
    mean_weights,
)
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.region import Region


class AgentGroup:
    """Agents of one process: they hold the same region, which is trimmed once for all of them."""

    def __init__(self, protocol: DuetsProtocol, agents: Sequence[int]) -> None:
        """Begin with the whole domain.

        Raises:
            RequestError: two agents have one number, or a number is not below N.
        """
        if len(set(agents)) < len(agents):
            raise RequestError(f"agents {list(agents)} have a number twice; expected each once")
        if not all(0 <= agent < protocol.agents for agent in agents):
            raise RequestError(f"agents {list(agents)}; expected numbers below {protocol.agents}")
        self.protocol, self.agents = protocol, tuple(agents)
        self.begin(1, Region.whole(protocol.domain, protocol.kernel))

    def begin(self, epoch: int, region: Region, points: Float | None = None) -> None:
        """Begin an epoch with its region.

        Args:
            epoch: from 1.
            region: X_j.
            points: what `draw` returns, where the process has drawn it already.
        """
        self.epoch, self.region, self._points = epoch, region, points

    def draw(self) -> Float:
        """Return the points [A, T_j, d] that the agents query in this epoch, in their order."""
        if self._points is None:
            coins = Coins(self.protocol.seed, self.epoch, np.array(self.agents))
            length = self.protocol.epochs[self.epoch - 1]
            self._points = self.region.draw(coins, len(self.agents), 0, length)
        return self._points

    def project(self, message: InducingSet, values: Float) -> list[Projection]:
        """Return what each agent sends: its values [A, T_j] projected on the inducing points.

        Raises:
            RequestError: the message is of another run or epoch, or a value is not finite.
        """
        require_message(self.protocol, self.epoch, message)
        points = self.draw()
        require_values(self.agents, values, points.shape[:2])
        factor = inducing_factor(self.protocol.kernel, message.points)
        sent = [
            agent_projection(self.protocol.kernel, factor, message.points, *own)
            for own in zip(points, np.ascontiguousarray(values), strict=True)
        ]
        return [
            Projection(self.protocol.run, self.epoch, agent, each)
            for agent, each in zip(self.agents, sent, strict=True)
        ]

    def trim(self, inducing: InducingSet, message: Aggregate) -> None:
        """Trim the region and begin the next epoch.

        Raises:
            RequestError: a message is of another run or epoch.
        """
        for each in (inducing, message):
            require_message(self.protocol, self.epoch, each)
        region = trimmed_region(self.protocol, self.region, inducing, message)
        self.begin(self.epoch + 1, region)


def trimmed_region(
    protocol: DuetsProtocol, region: Region, inducing: InducingSet, message: Aggregate
) -> Region:
    """Return X_{j+1} from what was broadcast, as every party computes it."""
    factor = inducing_factor(protocol.kernel, inducing.points)
    weights = mean_weights(factor, message.coefficients)
    return region.trimmed(inducing.points, weights, 2.0 * protocol.beta * message.largest_deviation)


def require_message(
    protocol: DuetsProtocol, epoch: int, message: InducingSet | Projection | Aggregate
) -> None:
    """Refuse a message that is not of this run and epoch.

    Raises:
        RequestError: it is of another.
    """
    kind = type(message).__name__
    if message.run != protocol.run:
        raise RequestError(f"{kind} is of run {message.run}; expected run {protocol.run}")
    if message.epoch != epoch:
        raise RequestError(f"{kind} is of epoch {message.epoch}; expected epoch {epoch}")


def require_values(agents: Sequence[int], values: Float, shape: tuple[int, ...]) -> None:
    """Refuse values of another shape, or that are not finite.

    Raises:
        RequestError: names the agent and the draw.
    """
    if values.shape != shape:
        raise RequestError(f"values have shape {values.shape}; expected {shape}")
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        place, draw = (int(each) for each in wrong[0])
        raise RequestError(
            f"agent {agents[place]} answered {values[place, draw]} at draw {draw} of the epoch; "
            "expected a finite number"
        )
