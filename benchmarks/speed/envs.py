"""Environment steps a second of the project's tasks beside those of others, all in one run."""

import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, Final

from rolecast.benchmarks.result_table import markdown_table
from rolecast.benchmarks.speed.closed_loops import LINEAR_POLICY, policy_loop_steps, whole_steps
from rolecast.benchmarks.speed.env_sides import (
    SEARCH_BATCH,
    TEAM_TASK,
    all_cores,
    loop_steps,
    numpy_steps,
    own_sides,
    policy_steps,
    robotics_steps,
    simple_tag_steps,
    vector_steps,
)
from rolecast.benchmarks.timing import (
    Group,
    Side,
    by_clock,
    machine,
    machine_line,
    number,
    spread,
    time_in_turn,
)
from rolecast.core.threads import OneThread, available_cores

TIMING_ROUNDS: Final = 3
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

RATIO_NAMES: Final = (
    "ratio_to_mpe2",
    "ratio_to_one_core",
    "ratio_to_gymnasium",
    "ratio_to_gymnasium_robotics",
)
"""Keys of the ratios in the result; a group names its own."""

CLOCK_TEXTS: Final = {"processor": "processor time", "wall": "wall time"}
TABLE_HEAD: Final = ("side", "env-steps/s", "of three", "measured", "ratio")

DRONE_TASK: Final = "drone_delivery_3"

TIMED_POLICIES: Final = ("hom", "mlp")

BASE_SIDE: Final = "mpe2 simple_tag_v3 without a policy"

EPISODE_BATCHES: Final = (1, 32, 1024, 8192)
"""Episodes side by side, of one policy."""

QUICK_BATCHES: Final = (1, 32, 1024)

VECTOR_SIZE: Final = 8
"""Environments in a vector of Gymnasium."""

QUICK_VECTOR: Final = 2

WHOLE_BODIES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "hopper": ("Hopper-v5", {}),
    "ant": ("Ant-v5", {"include_cfrc_ext_in_observation": False}),
}
"""Task to the environment of Gymnasium, with settings that make it show the same."""

DIVIDED_BODIES: Final = {"ma_hopper_3x1": ("Hopper", "3x1"), "ma_ant_4x2": ("Ant", "4x2")}
"""Task to scenario and division of gymnasium-robotics."""


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
        "machine": machine(VERSIONED_PACKAGES),
        "groups": [],
        "sides": {},
        "missing": {},
        **{name: {} for name in RATIO_NAMES},
    }
    with OneThread()():
        for group in groups(quick=quick):
            sides, ratios = measure_group(group, seconds, note)
            results["groups"].append(
                {
                    "title": group.title,
                    "base": group.base,
                    "ratio": group.ratio,
                    "sides": list(sides),
                }
            )
            results["sides"] |= sides
            results["missing"] |= group.missing
            if group.ratio:
                results[group.ratio] |= ratios
    return results


def groups(*, quick: bool) -> Iterator[Group]:
    """Yield the groups; what a group holds is closed when the next is asked for."""
    yield predator_prey(quick=quick)
    yield drone_delivery()
    with ExitStack() as stack:
        yield all_cores(stack, quick=quick)
    for task_id in WHOLE_BODIES:
        with ExitStack() as stack:
            yield whole_body(task_id, stack, quick=quick)
    for task_id in WHOLE_BODIES:
        with ExitStack() as stack:
            yield whole_body_with_policy(task_id, stack)
    for task_id in DIVIDED_BODIES:
        with ExitStack() as stack:
            yield divided_body(task_id, stack, quick=quick)


def predator_prey(*, quick: bool) -> Group:
    """Return the sides of predator-prey; one core each.

    Args:
        quick: leave out the largest batch.
    """
    batches = QUICK_BATCHES if quick else EPISODE_BATCHES
    sides = [
        Side(name=f"{TEAM_TASK} with {name}", run=policy_steps(TEAM_TASK, name, *SEARCH_BATCH))
        for name in TIMED_POLICIES
    ]
    sides += [
        Side(
            name=f"{TEAM_TASK} with {name}, batch {batch}",
            run=policy_steps(TEAM_TASK, name, 1, batch),
        )
        for name in TIMED_POLICIES
        for batch in batches
    ]
    sides += [
        Side(name=f"{TEAM_TASK} in numpy without a policy, batch {batch}", run=numpy_steps(batch))
        for batch in batches
    ]
    missing = {}
    if find_spec("mpe2"):
        sides.append(Side(name=BASE_SIDE, run=simple_tag_steps(1)))
    else:
        missing[BASE_SIDE] = "pip install mpe2"
    return Group(
        title="Predator-prey", sides=sides, base=BASE_SIDE, ratio="ratio_to_mpe2", missing=missing
    )


def drone_delivery() -> Group:
    """Return the sides of drone delivery, for which there is nothing to compare with."""
    sides = [
        Side(name=f"{DRONE_TASK} with {name}", run=policy_steps(DRONE_TASK, name, *SEARCH_BATCH))
        for name in TIMED_POLICIES
    ]
    return Group(title="Drone delivery", sides=sides)


def whole_body(task_id: str, stack: ExitStack, *, quick: bool) -> Group:
    """Return a task of one agent beside a loop, a vector and a vector of processes of Gymnasium.

    Args:
        task_id: one of `WHOLE_BODIES`.
        stack: closes what the sides hold, processes among it.
        quick: few episodes side by side.
    """
    env_id, settings = WHOLE_BODIES[task_id]
    base, count = f"Gymnasium {env_id} in a loop", QUICK_VECTOR if quick else VECTOR_SIZE
    sides = [
        *own_sides(task_id, stack, quick=quick),
        Side(name=base, run=loop_steps(env_id, settings, stack)),
        Side(
            name=f"Gymnasium {env_id}, SyncVectorEnv of {count}",
            run=vector_steps(env_id, settings, count, stack),
        ),
        Side(
            name=f"Gymnasium {env_id}, AsyncVectorEnv of {count}",
            run=vector_steps(env_id, settings, count, stack, processes=True),
            cores=available_cores(),
            clock="wall",
        ),
    ]
    return Group(title=f"MuJoCo: {task_id}", sides=sides, base=base, ratio="ratio_to_gymnasium")


def whole_body_with_policy(task_id: str, stack: ExitStack) -> Group:
    """Return random linear policies in a task of one agent beside the same in Gymnasium's loop.

    Args:
        task_id: one of `WHOLE_BODIES`.
        stack: closes what the sides hold.
    """
    env_id, settings = WHOLE_BODIES[task_id]
    base = f"Gymnasium {env_id} in a loop with {LINEAR_POLICY}"
    name, threads = f"{task_id} with {LINEAR_POLICY}", available_cores()
    sides = [
        Side(name=base, run=policy_loop_steps(task_id, env_id, settings, stack)),
        Side(name=name, run=whole_steps(task_id, 1, stack)),
    ]
    if threads > 1:
        run = whole_steps(task_id, threads, stack)
        sides.append(Side(name=f"{name}, {threads} threads", run=run, cores=threads, clock="wall"))
    title = f"MuJoCo: {task_id} with a policy"
    return Group(title=title, sides=sides, base=base, ratio="ratio_to_gymnasium")


def divided_body(task_id: str, stack: ExitStack, *, quick: bool) -> Group:
    """Return a task of many agents beside gymnasium-robotics, if that is installed.

    Args:
        task_id: one of `DIVIDED_BODIES`.
        stack: closes what the sides hold.
        quick: few episodes side by side.
    """
    scenario, division = DIVIDED_BODIES[task_id]
    base = f"gymnasium-robotics mamujoco_v1 {scenario} {division}"
    sides, missing = own_sides(task_id, stack, quick=quick), {}
    if find_spec("gymnasium_robotics"):
        sides.append(Side(name=base, run=robotics_steps(scenario, division, stack)))
    else:
        missing[base] = "pip install gymnasium-robotics"
    return Group(
        title=f"MuJoCo: {task_id}",
        sides=sides,
        base=base,
        ratio="ratio_to_gymnasium_robotics",
        missing=missing,
    )


def measure_group(
    group: Group, seconds: float, note: Callable[[str], None]
) -> tuple[dict[str, Any], dict[str, float]]:
    """Measure all sides of a group in turn, TIMING_ROUNDS times.

    Args:
        group: what to measure.
        seconds: least time of one measurement.
        note: told of each.
    Returns:
        JSON values of each side, and the ratios of medians to that of the base, by the same clock.
    """
    work = {side.name: side.run for side in group.sides}
    timed = time_in_turn(work, rounds=TIMING_ROUNDS, seconds=seconds, unit="env steps", note=note)
    base = timed.get(group.base or "")
    sides, ratios = {}, {}
    for side in group.sides:
        speeds = by_clock(timed[side.name], side.clock)
        sides[side.name] = {
            "median": round(statistics.median(speeds), 1),
            "repeats": [round(speed, 1) for speed in speeds],
            "clock": CLOCK_TEXTS[side.clock],
            "cores": side.cores,
        }
        if base and side.name != group.base:
            against = statistics.median(by_clock(base, side.clock))
            ratios[side.name] = round(statistics.median(speeds) / against, 2)
    return sides, ratios


def rows(results: Mapping[str, Any], group: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row of `TABLE_HEAD` for each side of a group, that compared with last.

    Args:
        results: of `measure_all`.
        group: one of its groups.
    """
    ratios = results[group["ratio"]] if group["ratio"] else {}
    names = sorted(group["sides"], key=lambda name: name == group["base"])
    found: list[tuple[str, ...]] = []
    for name in names:
        side = results["sides"][name]
        cores = "one core" if side["cores"] == 1 else f"{side['cores']} cores"
        ratio = "1" if name == group["base"] else number(ratios[name]) if name in ratios else "-"
        speeds = number(side["median"]), spread(side["repeats"])
        found.append((name, *speeds, f"{side['clock']}, {cores}", ratio))
    return found


def compared(results: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    """Return what the ratios of a group are to, or what to install for them; empty for neither."""
    if group["base"] in results["missing"]:
        return f"{group['base']} is not installed: {results['missing'][group['base']]}"
    return f"Ratio to {group['base']}." if group["base"] else ""


def markdown(results: Mapping[str, Any]) -> str:
    """Return the whole result as Markdown."""
    parts = [
        "# Speed of the environments\n",
        "Median of three measurements in turn, and their range. Written by `rolecast bench envs`; "
        "every repeat is in envs.json. Processor time is that of one core and does not count what "
        "others do on the machine; wall time does. A ratio compares medians by the same clock.\n",
        f"{machine_line(results['machine'])} CUDA was not timed unless a side says so.\n",
    ]
    for group in results["groups"]:
        lines = markdown_table(
            TABLE_HEAD, rows(results, group), ("---", "---:", "---:", "---", "---:")
        )
        said = compared(results, group)
        parts.append(f"## {group['title']}\n\n{lines}\n" + (f"\n{said}\n" if said else ""))
    return "\n".join(parts)
