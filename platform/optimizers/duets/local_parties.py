"""Server and all agents in one process: what both would compute alike is computed once."""

from collections.abc import Mapping
from typing import Any

from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.agent import AgentGroup
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.server import Server


class LocalParties:
    """The parties of Algorithms 1 and 2, which share a region and the points of an epoch."""

    def __init__(
        self,
        protocol: DuetsProtocol,
        *,
        epoch: int = 1,
        region: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin with the whole domain, or go on in an epoch with a region's `state_dict()`."""
        self.protocol = protocol
        self.server = Server(protocol, epoch=epoch, region=region)
        self.agents = AgentGroup(protocol, range(protocol.agents))
        self._share()

    def _share(self) -> None:
        """Let the agents begin the server's epoch with its region and its points."""
        over = self.server.epoch > len(self.protocol.epochs)
        points = None if over else self.server.points()
        self.agents.begin(self.server.epoch, self.server.region, points)

    def exchange(self, values: Float) -> None:
        """Send the messages of an epoch, trim, and begin the next.

        Args:
            values: of the epoch's points, [N, T_j].
        Raises:
            RequestError: a value is not finite.
        """
        inducing = self.server.inducing_set()
        self.server.aggregate(self.agents.project(inducing, values))
        self._share()
