"""The timing engine: ways to do the same work, measured in turn and compared by one clock.

Processor time of this process, which neighbours on the machine do not change, where one core does
all the work; wall time where threads, other processes or a device take part. Both are taken of each
measurement. Sides take turns round after round, so that a comparison meets the same disturbances.
"""

import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from rolecast.core.threads import available_cores

Found = TypeVar("Found")

RSS_PER_MIB: Final = 2**20 if sys.platform == "darwin" else 2**10
"""Units of `ru_maxrss` in a MiB."""

CLOCK_NAMES: Final = ("processor", "wall")
"""Fields of `Speed`."""

KEPT_DIGITS: Final = 4
"""Digits of a speed or time that a results file keeps."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One way to do some work."""

    name: str
    """Unique in all that is measured."""

    run: Callable[[], int]
    """Does a part of the work, warmed up before; returns how many pieces it did."""

    cores: int = 1
    """Cores that it may use."""

    clock: str = "processor"
    """The one of CLOCK_NAMES that says how fast it is."""


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
    """Pieces of work per second, by both clocks."""

    processor: float
    wall: float


Timed = Mapping[str, Sequence[Speed]]
"""Side to its speed in each round."""


def measure(work: Callable[[], int], seconds: float) -> Speed:
    """Return the speed of some work.

    Args:
        work: does a part of it, warmed up before; returns how many pieces it did.
        seconds: least wall time over which it is repeated.
    """
    pieces, wall, processor = 0, time.perf_counter(), time.process_time()
    while not pieces or time.perf_counter() - wall < seconds:
        pieces += work()
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    return Speed(processor=pieces / processor, wall=pieces / wall)


def in_turn(
    sides: Mapping[str, Callable[[], Found]],
    rounds: int,
    note: Callable[[int, str, Found], None] = lambda *_: None,
) -> dict[str, list[Found]]:
    """Measure each side once a round, every other round in the reverse order.

    Args:
        sides: name to one measurement.
        rounds: measurements of each side.
        note: told the number of the round from 1, the side, and what was found.
    """
    found: dict[str, list[Found]] = {name: [] for name in sides}
    for index in range(rounds):
        for name in [*sides] if index % 2 == 0 else reversed([*sides]):
            found[name].append(sides[name]())
            note(index + 1, name, found[name][-1])
    return found


def time_in_turn(
    sides: Mapping[str, Callable[[], int]],
    *,
    rounds: int,
    seconds: float,
    unit: str,
    note: Callable[[str], None],
) -> Timed:
    """Return the speeds of all sides.

    Args:
        sides: name to work, as `measure` takes it.
        rounds: measurements of each.
        seconds: least wall time of one measurement.
        unit: what a piece of the work is, in the plural.
        note: told of each measurement.
    """

    def told(place: int, name: str, speed: Speed) -> None:
        speeds = f"{speed.processor:,.1f} {unit} a second of processor time, {speed.wall:,.1f} wall"
        note(f"round {place}, {name}: {speeds}")

    def measured(work: Callable[[], int]) -> Callable[[], Speed]:
        return lambda: measure(work, seconds)

    return in_turn({name: measured(work) for name, work in sides.items()}, rounds, told)


def by_clock(speeds: Sequence[Speed], clock: str) -> list[float]:
    """Return speeds by one of CLOCK_NAMES."""
    return [getattr(speed, clock) for speed in speeds]


def ratios(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return how many times as great one measure is as another, round by round."""
    return [first / second for first, second in zip(one, other, strict=True)]


def spread_of(values: Sequence[float]) -> dict[str, Any]:
    """Return JSON values: the median of some rounds, and each of them."""
    return {
        "median": digits(statistics.median(values)),
        "rounds": [digits(value) for value in values],
    }


def digits(value: float) -> float:
    """Return a number with the digits that a results file keeps."""
    return float(f"{value:.{KEPT_DIGITS}g}")


def returns_by_seed(returns: Sequence[float]) -> dict[str, Any]:
    """Return JSON values of held-out returns: mean, standard error over seeds (None of one), each.

    Args:
        returns: one a seed.
    """
    count = len(returns)
    stderr = statistics.stdev(returns) / count**0.5 if count > 1 else None
    return {
        "return_mean": digits(statistics.fmean(returns)),
        "return_stderr": None if stderr is None else digits(stderr),
        "returns": [digits(each) for each in returns],
    }


def peak_mib() -> float:
    """Return the greatest resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / RSS_PER_MIB


def machine(packages: Mapping[str, str]) -> dict[str, Any]:
    """Return JSON values that identify the machine: processor, cores, Python, versions.

    Args:
        packages: module to the distribution whose version is told, if the module is there.
    """
    described = Path("/proc/cpuinfo")  # Linux alone has it
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": available_cores(),
        "python": platform.python_version(),
        "versions": {name: version(name) for module, name in packages.items() if find_spec(module)},
    }


def number(value: float) -> str:
    """Return a number with as many digits as one reads: 0.43, 7.1, 1,234."""
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def spread(values: Sequence[float]) -> str:
    """Return the least and the greatest of some numbers."""
    return f"{number(min(values))} to {number(max(values))}"


def machine_line(machine: Mapping[str, Any]) -> str:
    """Return what `machine` found, as a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cores, python = machine["cores"], machine["python"]
    return f"{machine['processor']}, {cores} cores; Python {python}, {versions}."
