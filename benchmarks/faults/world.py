"""Where a simulated search runs: its clock, the points that it passes, and what strikes there."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from rolecast.benchmarks.faults.schedule import Fault, FaultKind
from rolecast.core.signals import Terminated

POINT_LIMIT: Final = 40
"""Times the points of the undisturbed search after which a schedule counts as hanging."""

LONGEST_JUMP_S: Final = 30 * 24 * 3600.0
"""Of the clock."""

CLUSTER_FAULTS: Final = frozenset({FaultKind.ACTOR, FaultKind.NODE, FaultKind.LATE})
"""Faults that need actors."""

FULL_POINTS: Final = 200
"""Points after which there is room on a full disk again, if the driver has not ended before."""


class Killed(BaseException):
    """The process of the driver is gone; nothing that it still tries has an effect."""


class ProcessLost(Exception):  # noqa: N818 - as Ray's own, it tells of a loss
    """The process of an actor is gone."""


class Hang(BaseException):
    """A search does not end."""


class World:
    """Clock and faults of one schedule; the disk hangs on it."""

    def __init__(self, faults: Sequence[Fault], *, seed: int, limit: int | None = None) -> None:
        """Begin at time 0.

        Args:
            faults: in order of their points.
            seed: of durations.
            limit: points after which the search counts as hanging; None: never.
        """
        self.now = 0.0
        self.simulated_s = 0.0
        """Time without jumps of the clock."""
        self.journal_s = 0.0
        """When the last batch was written; the clock may jump before it is told of."""
        self.points = 0
        self.rng = np.random.default_rng([seed, 1])
        self.struck: list[Fault] = []
        """Faults that came; those of a cluster only where there is one."""
        self.passed: list[str] = []
        """What each point was, for whoever replays a schedule."""
        self.dead = False
        self.on_power_cut: Callable[[Fault], None] = lambda _: None
        self.on_cluster: Callable[[Fault], None] | None = None
        self.on_read: Callable[[], None] = lambda: None
        self._due = list(reversed(faults))
        self._limit = limit
        self.terminated = False
        """Whether SIGTERM has come."""
        self.guest = False
        """Whether another process or thread runs than the one that gets the driver's signals."""
        self._full_until = -1

    def clock(self) -> float:
        """Return the seconds of the driver's clock."""
        return self.now

    @property
    def full(self) -> bool:
        """Whether the disk is full."""
        return self.points < self._full_until

    def begin_life(self) -> None:
        """Start the driver, on a disk with room."""
        self.dead = self.terminated = self.guest = False
        self._full_until = -1
        self.struck = []

    def calm(self) -> None:
        """Drop the faults that have not struck."""
        self._due.clear()
        self._full_until = -1

    def spend(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.simulated_s += seconds

    def reach(self, what: str) -> None:
        """Pass a point.

        Raises:
            Killed: the driver's process ends here, or has ended before.
            Terminated: SIGTERM comes here.
            ProcessLost: the optimiser's process ends here; only where `what` is of an optimiser.
        """
        if self.dead:
            raise Killed
        self.points += 1
        self.passed.append(what)
        if self._limit is not None and self.points > self._limit:
            self.dead = True
            raise Hang
        while self._due and self._due[-1].point < self.points:
            if self._due[-1].kind is FaultKind.LOST and not what.startswith("optimiser"):
                return  # it comes with the next call of the optimiser
            self._strike(self._due.pop())

    def _strike(self, fault: Fault) -> None:
        self.passed.append(f"-- {fault}")
        if fault.kind in CLUSTER_FAULTS:
            if self.on_cluster is not None:
                self.struck.append(fault)
                self.on_cluster(fault)
            return
        self.struck.append(fault)
        match fault.kind:
            case FaultKind.KILL | FaultKind.POWER:
                self.dead = True
                if fault.kind is FaultKind.POWER:
                    self.on_power_cut(fault)
                raise Killed
            case FaultKind.FULL:
                self._full_until = self.points + FULL_POINTS
            case FaultKind.TERM:
                first, self.terminated = not self.terminated, True
                if first and not self.guest:  # a second one is ignored
                    raise Terminated
            case FaultKind.JUMP:
                self.now += LONGEST_JUMP_S ** float(np.random.default_rng(fault.draw).random())
            case FaultKind.LOST:
                raise ProcessLost
            case FaultKind.READ:
                self.on_read()
