"""A cluster in memory, whose actors die, answer late, and vanish with their node for a while.

As Ray does it: an actor computes its calls in order, one that dies starts again and repeats what it
owes, and what a lost node owed, or had answered but nobody had fetched, may be gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import ray

from rolecast.benchmarks.faults.parts import computed
from rolecast.benchmarks.faults.schedule import Fault, FaultKind
from rolecast.benchmarks.faults.world import World
from rolecast.platform.actors.assignment import Reply, packed, unpacked
from rolecast.platform.actors.ray_evaluator import RayEvaluator

NODE_COUNT: Final = 2
"""Nodes of a cluster."""

ACTOR_COUNT: Final = 3
"""Actors, which the nodes have in turn."""

START_S: Final = 1.5
"""Time in which an actor starts."""

LONGEST_CALL_S: Final = 3.0
"""Of a chunk, where nothing goes wrong; log-uniform from a thousandth of it."""

LONGEST_ABSENCE_S: Final = 120.0
"""Of a lost node."""

LONGEST_DELAY_S: Final = 3600.0
"""Of a late answer."""

NEVER_S: Final = float("inf")


@dataclass(eq=False)
class _Call:
    """A call of an actor."""

    actor: "_Actor"
    value: Any
    """What it answers."""

    duration: float
    done_s: float = NEVER_S
    """When the answer is there."""

    lost: bool = False
    """Whether the answer is gone with its node."""


@dataclass(eq=False)
class _Actor:
    """An actor: a process on a node."""

    cluster: "SimulatedCluster"
    node: int
    pid: int
    ready_s: float = 0.0
    """When it has done all that it was given."""

    calls: list[_Call] = field(default_factory=list)

    @property
    def place(self) -> "_Method":
        """The method that tells where it is."""
        return _Method(self, lambda: ({f"node{self.node}": 1}, self.pid))

    @property
    def evaluate(self) -> "_Method":
        """The method that computes chunks."""
        return _Method(self, _reply)

    def start(self, at_s: float) -> None:
        """Start at a time, and repeat what is owed."""
        self.ready_s = at_s + START_S
        for call in self.owed():
            self.ready_s += call.duration
            call.done_s = self.ready_s

    def owed(self) -> list[_Call]:
        """Return the calls without an answer."""
        now = self.cluster.world.now
        self.calls = [call for call in self.calls if call.done_s > now]
        return self.calls


@dataclass(frozen=True)
class _Method:
    """A method of an actor, as Ray's handles have it."""

    actor: _Actor
    function: Any

    def remote(self, *arguments: Any) -> _Call:
        """Call it; return the reference of its answer."""
        return self.actor.cluster.called(self.actor, self.function(*arguments))


def _reply(chunks: bytes) -> bytes:
    """Return what a rollout actor answers."""
    return packed(Reply(results=[computed(chunk) for chunk in unpacked(chunks)]))


class SimulatedCluster:
    """`Messages` of a cluster in simulated time."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.on_cluster = self.strike
        self._late_s = 0.0
        self._actors = [
            _Actor(self, index % NODE_COUNT, pid=100 + index) for index in range(ACTOR_COUNT)
        ]
        for actor in self._actors:
            actor.start(world.now)

    @property
    def actors(self) -> Sequence[Any]:
        """Handles of its actors."""
        return self._actors

    def called(self, actor: _Actor, value: Any) -> _Call:
        """Take a call."""
        self.world.reach("actors: call")
        duration = LONGEST_CALL_S * 1e-3 ** float(self.world.rng.random()) + self._late_s
        self._late_s = 0.0
        call = _Call(actor, value, duration)
        actor.ready_s = max(actor.ready_s, self.world.now) + duration
        call.done_s = actor.ready_s
        actor.calls.append(call)
        return call

    def clock(self) -> float:
        """Return the time."""
        return self.world.now

    def wait(self, references: Sequence[Any], *, count: int, timeout: float) -> list[Any]:
        """Let time pass until so many answers are there, or until the timeout."""
        self.world.reach("actors: wait")
        ends = sorted(call.done_s for call in references)
        until = min(ends[count - 1], self.world.now + timeout)
        self.world.spend(max(0.0, until - self.world.now))
        return [call for call in references if call.done_s <= self.world.now]

    def answer(self, reference: Any) -> Any:
        """Return an answer."""
        self.world.reach("actors: answer")
        if reference.lost:
            raise ray.exceptions.ObjectLostError("00", None, "")
        return reference.value

    def end(self, handle: Any) -> None:
        """End an actor."""
        self._actors.remove(handle)

    def strike(self, fault: Fault) -> None:
        """Let something go wrong."""
        if not self._actors:
            return  # its driver has ended, and the next has not begun
        rng, now = np.random.default_rng(fault.draw), self.world.now
        absence = LONGEST_ABSENCE_S * 1e-2 ** float(rng.random())
        hit = self._actors[int(rng.integers(0, len(self._actors)))]
        if fault.kind is FaultKind.LATE:
            self._late_s = LONGEST_DELAY_S * 1e-2 ** float(rng.random())
        elif fault.kind is FaultKind.ACTOR:
            hit.start(now)
        else:
            for actor in self._actors:
                if actor.node == hit.node:
                    for call in actor.calls:
                        call.lost = call.done_s <= now and bool(rng.random() < 0.5)
                    actor.start(now + absence)


class SharedEvaluator(RayEvaluator):
    """The real evaluator of a search on Ray, on a simulated cluster."""

    def __init__(self, world: World, note: Any) -> None:
        cluster = SimulatedCluster(world)
        super().__init__(cluster.actors, note=note, messages=cluster)
