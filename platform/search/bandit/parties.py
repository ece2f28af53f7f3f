"""Parties of DUETS that live in processes of their own and exchange its messages alone, as bytes.

Each repeats what it did when it is asked again. One that was started anew answers `None` until it
has caught up by the broadcasts so far, from which region and draws follow to the last bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.agent import AgentGroup
from rolecast.platform.optimizers.duets.messages import Aggregate, InducingSet, Projection
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.server import EpochRecord, Server
from rolecast.platform.optimizers.duets.wire import Message, decode, encode
from rolecast.platform.search.bandit.engine import standard_noise
from rolecast.platform.search.bandit.functions import BanditFunction

Broadcasts = Sequence[tuple[bytes, bytes]]
"""Inducing set and aggregate of each epoch so far."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ServerReply:
    """The aggregate, and for the report alone what the server found."""

    message: bytes
    record: EpochRecord
    incumbent: Float
    """Maximiser [d] of the sparse mean."""


class AgentsParty:
    """Some agents: they hold the function, and their values leave them only projected."""

    def __init__(
        self, protocol: DuetsProtocol, agents: Sequence[int], make: Callable[[], BanditFunction]
    ) -> None:
        """Build the function, and begin with the whole domain."""
        self._protocol, self._agents, self._function = protocol, tuple(agents), make()
        self.catch_up([])

    def catch_up(self, broadcasts: Broadcasts) -> None:
        """Begin the epoch that follows these broadcasts."""
        self._group = caught_up(self._protocol, self._agents, broadcasts)
        self._inducing: InducingSet | None = None
        self._values: Float | None = None

    def draw(self, epoch: int) -> Float | None:
        """Return this epoch's points [A, T_j, d], for the report alone."""
        return self._group.draw() if epoch == self._group.epoch else None

    def query(self, epoch: int) -> tuple[Float, Float] | None:
        """Query this epoch's points; return exact and observed values [A, T_j], for the report."""
        points = self.draw(epoch)
        if points is None:
            return None
        exact = self._function.values(points.reshape(-1, points.shape[-1]))
        exact = exact.reshape(points.shape[:2])
        first = sum(self._protocol.epochs[: epoch - 1])
        rounds = np.tile(first + np.arange(points.shape[1]), len(points))
        agents = np.repeat(np.array(self._agents), points.shape[1])
        noise = standard_noise(self._protocol.seed, agents, rounds)
        self._values = exact + self._function.noise * noise.reshape(exact.shape)
        return exact, self._values

    def project(
        self, epoch: int, inducing: bytes, values: Float | None = None
    ) -> list[bytes] | None:
        """Return each agent's projection of this epoch's values.

        Args:
            epoch: of the exchange.
            inducing: broadcast.
            values: of an earlier process of these agents [A, T_j], which kept them in the run's
                journal; None: those that were queried here.
        """
        self._values = self._values if values is None else values
        if epoch != self._group.epoch or self._values is None:
            return None
        self._inducing = expected(decode(inducing), InducingSet)
        return [encode(each) for each in self._group.project(self._inducing, self._values)]

    def trim(self, epoch: int, aggregate: bytes) -> bool | None:
        """Trim the region and begin the next epoch."""
        if epoch + 1 == self._group.epoch:
            return True
        if epoch != self._group.epoch or self._inducing is None:
            return None
        self._group.trim(self._inducing, expected(decode(aggregate), Aggregate))
        self._inducing = self._values = None
        return True


class ServerParty:
    """The server of Algorithm 2."""

    def __init__(self, protocol: DuetsProtocol) -> None:
        self._protocol = protocol
        self._server = Server(protocol)

    def catch_up(self, broadcasts: Broadcasts) -> None:
        """Begin the epoch that follows these broadcasts."""
        group = caught_up(self._protocol, [], broadcasts)
        region = group.region.state_dict()
        self._server = Server(self._protocol, epoch=group.epoch, region=region)

    def inducing_set(self, epoch: int) -> bytes | None:
        """Return this epoch's inducing points."""
        return encode(self._server.inducing_set()) if epoch == self._server.epoch else None

    def aggregate(self, epoch: int, projections: Sequence[bytes]) -> ServerReply | None:
        """Return the aggregate of this epoch's projections, and begin the next epoch."""
        if epoch != self._server.epoch:
            return None
        sent = [expected(decode(each), Projection) for each in projections]
        message = encode(self._server.aggregate(sent))
        incumbent = self._server.region.tests[-1].maximiser
        return ServerReply(message=message, record=self._server.records[-1], incumbent=incumbent)


class QueryParty:
    """A function, for a method whose parties stay together and choose all queries."""

    def __init__(self, make: Callable[[], BanditFunction]) -> None:
        self._function = make()

    def values(self, points: Float) -> Float:
        """Return values without noise [P] at points [P, d]."""
        return self._function.values(points)


def caught_up(protocol: DuetsProtocol, agents: Sequence[int], broadcasts: Broadcasts) -> AgentGroup:
    """Return agents in the epoch that follows these broadcasts."""
    group = AgentGroup(protocol, agents)
    for inducing, aggregate in broadcasts:
        group.trim(expected(decode(inducing), InducingSet), expected(decode(aggregate), Aggregate))
    return group


def expected(message: Message, kind: type[Any]) -> Any:
    """Return a message of a kind.

    Raises:
        RequestError: it is of another.
    """
    if not isinstance(message, kind):
        raise RequestError(f"a message is {type(message).__name__}; expected {kind.__name__}")
    return message
