"""Schedules of faults: one seed is one schedule, and a schedule that fails is made smaller."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

SCHEDULE_FAMILY: Final = 0x6661756C
"""Keeps the seeds of schedules apart from those of searches."""

MOST_FAULTS: Final = 6
"""Faults of one schedule."""

CLOSE_SHARE: Final = 0.4
"""Share of faults that follow soon after the one before, so that recoveries meet them too."""

CLOSE_POINTS: Final = 40
"""How soon, in points."""


class FaultKind(StrEnum):
    """What goes wrong."""

    KILL = "kill"
    """The driver's process ends; what it wrote is there."""

    POWER = "power cut"
    """The machine stops: what was not made durable is lost, torn, or there in another order."""

    FULL = "full disk"
    """Writes fail, in the middle, until the driver has ended or some have failed."""

    TERM = "SIGTERM"
    """The driver is asked to end."""

    JUMP = "clock jump"
    """The driver is stopped, as by Ctrl-Z, for up to a month; its actors go on."""

    LOST = "lost optimiser"
    """The optimiser's process ends, before or after it has answered."""

    ACTOR = "actor death"
    """A rollout actor ends, and starts again; only with actors, as those that follow."""

    NODE = "node loss"
    """A node of the cluster is lost, with its actors, and comes back."""

    LATE = "late answer"
    """A call takes up to an hour longer."""

    READ = "reader"
    """Another process reads the run."""


@dataclass(frozen=True, order=True)
class Fault:
    """A fault at a point of the run: before a write, in the middle of one, or before a call."""

    point: int
    """Number of the point, counted over all lives of the driver."""

    kind: FaultKind

    draw: int
    """Seed of what the kind leaves open, such as what a power cut takes."""

    def __str__(self) -> str:
        return f"{self.kind} at point {self.point}"


def faults_of(seed: int, points: int) -> list[Fault]:
    """Return the faults of a schedule, in order.

    Args:
        seed: of the schedule.
        points: of the search without faults.
    """
    rng = np.random.default_rng([SCHEDULE_FAMILY, seed])
    kinds = list(FaultKind)
    faults: list[Fault] = []
    point = 0
    for _ in range(int(rng.integers(1, MOST_FAULTS + 1))):
        if faults and rng.random() < CLOSE_SHARE:
            point += int(rng.integers(0, CLOSE_POINTS))
        else:
            point = int(rng.integers(0, points))
        kind = kinds[int(rng.integers(0, len(kinds)))]
        faults.append(Fault(point, kind, int(rng.integers(0, 2**62))))
    return sorted(faults)


def shrunk(faults: Iterable[Fault], fails: Callable[[list[Fault]], bool]) -> list[Fault]:
    """Return the faults of a failing schedule without those that are not needed for it to fail."""
    needed = list(faults)
    for fault in list(needed):
        fewer = [other for other in needed if other is not fault]
        if fails(fewer):
            needed = fewer
    return needed
