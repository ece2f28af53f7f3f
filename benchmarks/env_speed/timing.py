"""Times ways to do the same thing in turn, and compares each with one of them.

Processor time of this process, which neighbours on the machine do not change, where all the work is
done by one core of it; wall time where threads, other processes or a device take part. Both are
taken of each side, so that what is compared was measured by the same clock.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

TIMING_REPEATS: Final = 3


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the ways."""

    name: str
    """Unique in all that is measured."""

    run: Callable[[], int]
    """Does a piece of the work, warmed up before; returns the number of env steps done."""

    cores: int = 1
    """Cores that it may use."""

    wall: bool = False
    """Wall time says how fast it is, not processor time."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Sides that are compared."""

    title: str
    """For people."""

    sides: Sequence[Side]

    base: str | None = None
    """Side that the others are compared with, if it is among them; None compares nothing."""

    ratio: str = ""
    """Key of the ratios in the result."""

    missing: Mapping[str, str] = field(default_factory=dict)
    """Side that could not be had: what would install its package."""


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Env steps per second, by both clocks."""

    processor: float
    wall: float


def measure(side: Side, seconds: float) -> Speed:
    """Return how fast a side is, over at least so many seconds of wall time."""
    steps, wall, processor = 0, time.perf_counter(), time.process_time()
    while not steps or time.perf_counter() - wall < seconds:
        steps += side.run()
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    return Speed(processor=steps / processor, wall=steps / wall)


def measure_group(group: Group, seconds: float, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure all sides of a group in turn, TIMING_REPEATS times.

    Args:
        group: what to measure.
        seconds: least time of one measurement.
        note: told of each.
    Returns:
        JSON values: `sides`, each with the repeats by its clock and their median; `ratios` of the
        medians to that of the base, by the same clock; what the group says of itself.
    """
    repeats: dict[str, list[Speed]] = {side.name: [] for side in group.sides}
    for repeat in range(TIMING_REPEATS):
        for side in group.sides:
            speed = measure(side, seconds)
            repeats[side.name].append(speed)
            note(f"repeat {repeat + 1}, {side.name}: {_of(speed, side):,.0f} env-steps/s")
    base = repeats.get(group.base or "")
    sides, ratios = {}, {}
    for side in group.sides:
        speeds = [_of(speed, side) for speed in repeats[side.name]]
        sides[side.name] = {
            "median": round(statistics.median(speeds), 1),
            "repeats": [round(speed, 1) for speed in speeds],
            "clock": "wall time" if side.wall else "processor time",
            "cores": side.cores,
        }
        if base and side.name != group.base:
            against = statistics.median(_of(speed, side) for speed in base)
            ratios[side.name] = round(statistics.median(speeds) / against, 2)
    return {
        "title": group.title,
        "base": group.base,
        "ratio": group.ratio,
        "missing": dict(group.missing),
        "sides": sides,
        "ratios": ratios,
    }


def _of(speed: Speed, side: Side) -> float:
    """Return the speed by the clock of a side."""
    return speed.wall if side.wall else speed.processor
