"""DUETS on Ray: an actor for the server, and actors that have an agent or several each.

The driver forwards messages, as a switch does, and keeps the journal. What it receives beside them
(points, values, records) is for regret and report, and no party is told of it. Only an actor that
was started anew is given the broadcasts so far and, from the journal, its agents' own values.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import Any, Final, cast

import numpy as np
import ray

from rolecast.core.errors import RunError
from rolecast.core.threads import OneThread, available_cores
from rolecast.core.types import Float
from rolecast.platform.actors.cluster import CALL_RETRIES, Cluster, node_cpus, require_picklable
from rolecast.platform.actors.messages import ACTOR_DEATHS, answer
from rolecast.platform.optimizers.duets.agent import require_values
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.server import EpochRecord
from rolecast.platform.search.bandit.duets import ledger_of, middle_of
from rolecast.platform.search.bandit.engine import (
    Indices,
    QueryBlock,
    noisy_query,
    require_finite,
)
from rolecast.platform.search.bandit.functions import BanditFunction
from rolecast.platform.search.bandit.ledger import Ledger
from rolecast.platform.search.bandit.method import BanditProblem
from rolecast.platform.search.bandit.parties import (
    AgentsParty,
    QueryParty,
    ServerParty,
    ServerReply,
)

CATCH_UPS: Final = 10
"""Times that a party may begin anew within one call."""

START_PATIENCE_S: Final = 10.0
"""Seconds after which the user is told that parties have not started."""

MakeFunction = Callable[[], BanditFunction]


@ray.remote(max_restarts=-1, max_task_retries=CALL_RETRIES)
class PartyActor:
    """Keeps a party in one process; computes nothing itself."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._threads, self._make = OneThread(), make
        self._party: Any = None

    def call(self, name: str, *given: Any) -> Any:
        """Return what the party answers; it computes with one thread, as all parties do.

        It is made by the first call, so that what is wrong with a function is that call's answer.
        """
        with self._threads():
            self._party = self._party or self._make()
            return getattr(self._party, name)(*given)

    def pid(self) -> int:
        """Return the process id."""
        return os.getpid()


class RemoteParty:
    """The driver's side of a party's actor."""

    def __init__(self, label: str, cpus: float, make: Callable[[], Any]) -> None:
        self.label = label
        self.actor = cast("Any", PartyActor).options(num_cpus=cpus).remote(make)
        self.started = self.actor.pid.remote()
        """Reference to an answer that comes once the process runs."""
        self._pending: Any = None

    def start(self, name: str, *given: Any) -> None:
        """Begin a call."""
        self._pending = name, given, self.actor.call.remote(name, *given)

    def finish(self, broadcasts: Sequence[tuple[bytes, bytes]] = (), *again: Any) -> Any:
        """Return the answer of the call that was begun.

        Args:
            broadcasts: so far, for a party that began anew.
            again: further arguments of the call that is repeated then.
        Raises:
            RequestError: the party refuses.
            RunError: its process dies again and again.
        """
        name, given, reference = self._pending
        reply = self._answer(reference)
        for _ in range(CATCH_UPS):
            if reply is not None:
                return reply
            self._answer(self.actor.call.remote("catch_up", list(broadcasts)))
            reply = self._answer(self.actor.call.remote(name, *given, *again))
        raise RunError(f"{self.label} began anew {CATCH_UPS} times in one exchange")

    def _answer(self, reference: Any) -> Any:
        try:
            return answer(reference)
        except ACTOR_DEATHS as error:
            raise RunError(
                f"{self.label}: the process died {CALL_RETRIES + 1} times in one call; does the "
                "function end its process?"
            ) from error


class RayEngine:
    """Connection to a cluster, the agents' actors, and the query that they answer."""

    def __init__(
        self,
        problem: BanditProblem,
        make: MakeFunction,
        noise: float,
        *,
        protocol: DuetsProtocol | None,
        workers: int,
        address: str | None,
        note: Callable[[str], None],
    ) -> None:
        """Start the actors, without waiting for them.

        Args:
            problem: of the run.
            make: builds the function, in every actor.
            noise: standard deviation of the noise.
            protocol: of DUETS; None for a method whose parties stay in this process.
            workers: actors for the agents, an equal part of them each.
            address: of the cluster; None starts one on this machine where there is none.
            note: told of the cluster.
        Raises:
            RequestError: the function cannot be pickled, or the cluster cannot be reached.
        """
        require_picklable("function", make)
        workers = min(workers, problem.agents)
        self._cluster, self._note = Cluster(address, workers, note=note), note
        with ExitStack() as failed:
            failed.callback(self._cluster.close)
            parts = np.array_split(np.arange(problem.agents), workers)
            self._owners = np.repeat(np.arange(workers), [len(part) for part in parts])
            nodes = node_cpus()
            cpus = cpus_each(workers, nodes)
            self._tell_of_shared_cpus(workers, nodes)
            self._parties: list[RemoteParty] = []
            for part in map(np.ndarray.tolist, parts):
                party: Callable[[], Any] = partial(QueryParty, make)
                if protocol is not None:
                    party = partial(AgentsParty, protocol, part, make)
                self._parties.append(RemoteParty(f"agents {part[0]} to {part[-1]}", cpus, party))
            self.method = None if protocol is None else RayDuets(protocol, tuple(self._parties))
            if self.method is None:
                self.query = noisy_query(self._values, noise, problem)
            else:
                self.query = self.method.query
                self._parties.append(self.method.server)
            failed.pop_all()

    def _tell_of_shared_cpus(self, workers: int, nodes: Sequence[float]) -> None:
        """Say how many CPUs the workers share, where each has less than one."""
        cpus = available_cores() if self._cluster.own else sum(nodes)
        if workers > cpus:
            self._note(f"{workers} workers share {cpus:g} CPUs; more than {cpus:g} are slower")

    def wait_for_parties(self) -> None:
        """Wait some seconds until all processes run; then say which do not."""
        waiting = [party.started for party in self._parties]
        _, late = ray.wait(waiting, num_returns=len(waiting), timeout=START_PATIENCE_S)
        if late:
            names = ", ".join(each.label for each in self._parties if each.started in late)
            self._note(
                f"after {START_PATIENCE_S:g} s {names} have not started; the run goes on when all "
                "have: does other work hold the cluster's CPUs?"
            )

    def _values(self, points: Float, agents: Indices) -> Float:
        """Let each actor evaluate the queries of its agents."""
        owners, exact = self._owners[agents], np.empty(len(points))
        busy = np.unique(owners)
        for owner in busy:
            self._parties[owner].start("values", points[owners == owner])
        for owner in busy:
            exact[owners == owner] = self._parties[owner].finish()
        return exact

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        if not self._cluster.own:
            for party in self._parties:
                ray.kill(party.actor)
        self._cluster.close()


def cpus_each(workers: int, nodes: Sequence[float]) -> float:
    """Return the CPUs that an actor asks for: 1, or the largest part of which all get one.

    An exchange needs all parties, so none may wait for the CPU of another. No part is of two nodes.

    Args:
        workers: actors.
        nodes: CPUs of each node; where none has any, one is presumed, that may be started yet.
    """
    thousandths = [int(1000 * cpus) for cpus in nodes if cpus] or [1000]
    fitting = (
        part for part in range(1000, 0, -1) if sum(cpus // part for cpus in thousandths) >= workers
    )
    return next(fitting, 0) / 1000


class RayDuets:
    """DUETS as a method of a bandit run, its parties in processes of their own."""

    def __init__(self, protocol: DuetsProtocol, agents: Sequence[RemoteParty]) -> None:
        """Start the server's actor."""
        self._protocol, self._agents = protocol, agents
        self.server = RemoteParty("the server", 0, partial(ServerParty, protocol))
        self._broadcasts: list[tuple[bytes, bytes]] = []
        self._records: list[EpochRecord] = []
        self.incumbent = middle_of(protocol.domain)
        self._queried = False

    @property
    def _epoch(self) -> int:
        return len(self._records) + 1

    @property
    def _last(self) -> bool:
        return self._epoch == len(self._protocol.epochs)

    def ask(self) -> Float:
        """Return the points of an epoch, [N, T_j, d]; the server begins its part meanwhile."""
        self._queried = False
        if not self._last:
            self.server.start("inducing_set", self._epoch)
        return np.concatenate(self._of_all("draw", self._epoch))

    def query(self, points: Float, first: int) -> QueryBlock:
        """Let all agents query their points."""
        answers = self._of_all("query", self._epoch)
        exact, observed = (np.concatenate(each).T.ravel() for each in zip(*answers, strict=True))
        require_finite(observed, first, self._protocol.agents)
        self._queried = True
        return QueryBlock(points, exact, observed)

    def tell(self, values: Float) -> None:
        """Exchange and trim; the last epoch ends without.

        Args:
            values: [N, T_j], by which agents that did not query go on: those of a run that is
                resumed, and of actors that were started anew.
        Raises:
            RequestError: a value is not finite.
        """
        shape = (self._protocol.agents, self._protocol.epochs[self._epoch - 1])
        require_values(range(self._protocol.agents), values, shape)
        if self._last:
            return
        epoch, history = self._epoch, self._broadcasts
        inducing = self.server.finish(history)
        sizes = np.array_split(np.ascontiguousarray(values), len(self._agents))
        for party, own in zip(self._agents, sizes, strict=True):
            party.start("project", epoch, inducing, *([] if self._queried else [own]))
        sent = [
            party.finish(history, *([own] if self._queried else []))
            for party, own in zip(self._agents, sizes, strict=True)
        ]
        self.server.start("aggregate", epoch, [each for part in sent for each in part])
        reply: ServerReply = self.server.finish(history)
        self._broadcasts.append((inducing, reply.message))
        self._of_all("trim", epoch, reply.message)
        self._records.append(reply.record)
        self.incumbent = reply.incumbent

    def _of_all(self, name: str, *given: Any) -> list[Any]:
        for party in self._agents:
            party.start(name, *given)
        return [party.finish(self._broadcasts) for party in self._agents]

    @property
    def ledger(self) -> Ledger:
        """What was sent so far."""
        return ledger_of(self._records)

    def records(self) -> list[dict[str, Any]]:
        """Return the epochs that ended with an exchange."""
        return [asdict(record) for record in self._records]
