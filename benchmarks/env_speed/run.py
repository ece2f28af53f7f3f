"""Environment steps a second of the project's tasks beside those of others, all in one run."""

import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rolecast.benchmarks.env_speed.cores import all_cores
from rolecast.benchmarks.env_speed.mujoco_bodies import (
    DIVIDED_BODIES,
    WHOLE_BODIES,
    divided_body,
    whole_body,
)
from rolecast.benchmarks.env_speed.plane_tasks import drone_delivery, predator_prey
from rolecast.benchmarks.env_speed.timing import Group, measure_group
from rolecast.core.threads import OneThread, available_cores

LEAST_SECONDS: Final = 1.0
"""Least time of one measurement."""

QUICK_SECONDS: Final = 0.05

VERSIONED_PACKAGES: Final = {
    "rolecast": "rolecast",
    "numpy": "numpy",
    "numba": "numba",
    "torch": "torch",
    "mujoco": "mujoco",
    "gymnasium": "gymnasium",
    "mpe2": "mpe2",
    "gymnasium_robotics": "gymnasium-robotics",
}
"""Module to the distribution whose version goes into the result."""


def measure_all(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure all groups of sides, one after the other.

    Args:
        quick: hardly measure; shows that everything runs.
        note: told of each measurement.
    Returns:
        JSON values: `sides`, each with its repeats and their median; `groups`, whose sides are
        compared; the ratios of a group under its own name, `ratio_to_mpe2` and others; `missing`,
        what to install for sides that could not be had; the machine and the versions.
    """
    seconds = QUICK_SECONDS if quick else LEAST_SECONDS
    results: dict[str, Any] = {
        "unit": "env steps per second of processor time on one core, or of wall time where said",
        "machine": machine(),
        "groups": [],
        "sides": {},
        "missing": {},
        "ratio_to_mpe2": {},
        "ratio_to_one_core": {},
        "ratio_to_gymnasium": {},
        "ratio_to_gymnasium_robotics": {},
    }
    with OneThread()():
        for group in groups(quick=quick):
            measured = measure_group(group, seconds, note)
            results["groups"].append(
                {
                    "title": measured["title"],
                    "base": measured["base"],
                    "ratio": measured["ratio"],
                    "sides": list(measured["sides"]),
                }
            )
            results["sides"] |= measured["sides"]
            results["missing"] |= measured["missing"]
            if measured["ratio"]:
                results[measured["ratio"]] |= measured["ratios"]
    return results


def groups(*, quick: bool) -> Iterator[Group]:
    """Yield the groups; what a group holds is closed when the next is asked for."""
    yield predator_prey(quick=quick)
    yield drone_delivery(quick=quick)
    with ExitStack() as stack:
        yield all_cores(stack, quick=quick)
    for task_id in WHOLE_BODIES:
        with ExitStack() as stack:
            yield whole_body(task_id, stack, quick=quick)
    for task_id in DIVIDED_BODIES:
        with ExitStack() as stack:
            yield divided_body(task_id, stack, quick=quick)


def machine() -> Mapping[str, Any]:
    """Return what a reader must know of the machine: processor, cores, Python, versions."""
    described = Path("/proc/cpuinfo")  # Linux alone has it
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": available_cores(),
        "python": platform.python_version(),
        "versions": {
            name: version(name) for module, name in VERSIONED_PACKAGES.items() if find_spec(module)
        },
    }
