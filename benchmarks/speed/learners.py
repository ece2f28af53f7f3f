"""Updates a second of the learners, beside RLlib's own SAC and beside a bare loop of torch.

All sides are timed in turn, round after round, by one thread each, and compared within a round:
what neighbours on the machine do then meets both sides of a comparison alike.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from rolecast.benchmarks.result_table import markdown_table
from rolecast.benchmarks.speed.learning_loops import (
    ALONE,
    BARE_LOOP,
    LOOP,
    STOCK,
    TEAM_TASK,
    TIMED_TASK,
    TRAIN_BATCH,
    WARM_UP,
    LearningLoop,
    Ours,
    Stock,
    bare,
)
from rolecast.benchmarks.timing import (
    CLOCK_NAMES,
    Speed,
    Timed,
    by_clock,
    digits,
    machine,
    machine_line,
    number,
    ratios,
    spread,
    spread_of,
    time_in_turn,
)
from rolecast.core.threads import OneThread

TIMING_ROUNDS: Final = 7
LEAST_SECONDS: Final = 3.0
"""Least time of one measurement."""

QUICK_ROUNDS: Final = 2
QUICK_SECONDS: Final = 0.05
NET_SIZES: Final = ((256, 256), (64, 64))
SINGLE_LEARNERS: Final = ("sac", "td3", "ddpg")
TEAM_LEARNERS: Final = ("maddpg", "facmac")
RATIO_GOALS: Final = {STOCK: 10.0, BARE_LOOP: 0.8}
"""Least ratio hoped for, by what is compared with: of SAC to RLlib's, of all to bare torch."""

VERSIONED_PACKAGES: Final = ("rolecast", "torch", "ray", "gymnasium", "numpy")
"""Modules and distributions whose versions go into the result."""

TABLE_HEAD: Final = ("side", "a processor second", "rounds", "a second of wall time", "rounds")
RATIO_HEAD: Final = ("side", "to", "by processor time", "rounds", "by wall time", "goal", "met")


def measure_all(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """Time all sides, round by round.

    Args:
        quick: small nets, two short rounds; shows that everything runs.
        note: told of each measurement.
    Returns:
        JSON values: `sides`, each with its rounds by both clocks and their median; `ratios` within
        rounds, to RLlib's SAC and to bare torch; the machine, its load at begin and end (processes
        that want a core, this one among them), and the versions.
    """
    from rolecast.platform.actors.cluster import Cluster

    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if quick else (TIMING_ROUNDS, LEAST_SECONDS)
    cluster = Cluster(None, cpus=1)
    loads = [os.getloadavg()[0]]
    try:
        with OneThread()(), all_sides(quick=quick) as sides:
            work = {side.name: side.take for side in sides}
            timed = time_in_turn(work, rounds=rounds, seconds=seconds, unit="updates", note=note)
    finally:
        cluster.close()
    loads.append(os.getloadavg()[0])
    return {
        "unit": "updates a second, one thread; of a team's whole loop: env steps a second",
        "task": TIMED_TASK,
        "team_task": TEAM_TASK,
        "batch": TRAIN_BATCH,
        "rounds": rounds,
        "seconds": seconds,
        "machine": machine({name: name for name in VERSIONED_PACKAGES}),
        "loads": [digits(load) for load in loads],
        "sides": {side.name: described_side(side, timed[side.name]) for side in sides},
        "ratios": list(compared_loops(sides, timed)),
    }


@contextmanager
def all_sides(*, quick: bool) -> Iterator[list[LearningLoop]]:
    """Build all sides; they end with the context."""
    with ExitStack() as stack:
        sides: list[LearningLoop] = []
        for hidden in ((8, 8),) if quick else NET_SIZES:
            stock = Stock(hidden)
            stack.callback(stock.close)
            sides.append(LearningLoop(algorithm="sac", hidden=hidden, what=STOCK, take=stock.whole))
            for name in SINGLE_LEARNERS[:1] if quick else SINGLE_LEARNERS:
                ours = Ours(name, f"gym:{TIMED_TASK}", _settings(hidden))
                stack.callback(ours.close)
                sides += _both(name, hidden, ours)
                sides.append(bare(name, hidden))
        for name in TEAM_LEARNERS[:1] if quick else TEAM_LEARNERS:
            team = Ours(name, TEAM_TASK, {"num_steps_sampled_before_learning_starts": WARM_UP})
            stack.callback(team.close)
            sides += _both(name, (), team)
        yield sides


def _settings(hidden: tuple[int, ...]) -> dict[str, Any]:
    """Return what makes one of our algorithms comparable: an update an env step, nets, batch."""
    return {
        "hidden": hidden,
        "critic_hidden": hidden,
        "train_batch_size_per_learner": TRAIN_BATCH,
        "random_steps": WARM_UP,
        "num_steps_sampled_before_learning_starts": WARM_UP,
        "updates_per_step": 1.0,
    }


def _both(name: str, hidden: tuple[int, ...], ours: Ours) -> list[LearningLoop]:
    ways = ((LOOP, ours.whole), (ALONE, ours.alone))
    return [
        LearningLoop(algorithm=name, hidden=hidden, what=what, take=take) for what, take in ways
    ]


def described_side(side: LearningLoop, speeds: Sequence[Speed]) -> dict[str, Any]:
    """Return what a side is, and its rounds."""
    return {
        "algorithm": side.algorithm,
        "hidden": list(side.hidden),
        "what": side.what,
        **{clock: spread_of(by_clock(speeds, clock)) for clock in CLOCK_NAMES},
    }


def compared_loops(sides: Iterable[LearningLoop], timed: Timed) -> Iterator[dict[str, Any]]:
    """Yield how many times as fast our sides are as the others of the same nets."""
    known = {(side.algorithm, side.hidden, side.what): side for side in sides}
    for (name, hidden, what), side in known.items():
        if what not in (LOOP, ALONE):
            continue
        for key in (("sac", hidden, STOCK), (name, hidden, BARE_LOOP)):
            other = known.get(key)
            if other is None:
                continue
            to = key[2]
            judged = what == LOOP and (to == BARE_LOOP or name == "sac")
            yield {
                "side": side.name,
                "to": other.name,
                "goal": RATIO_GOALS[to] if judged else None,
                **{
                    clock: spread_of(
                        ratios(*(by_clock(timed[each.name], clock) for each in (side, other)))
                    )
                    for clock in CLOCK_NAMES
                },
            }


def rows(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row of `TABLE_HEAD` for each side of the results."""
    return [
        (name, *_spread(side["processor"]), *_spread(side["wall"]))
        for name, side in results["sides"].items()
    ]


def ratio_rows(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row of `RATIO_HEAD` for each comparison; those with a goal first."""
    found: list[tuple[str, ...]] = []
    for ratio in sorted(results["ratios"], key=lambda each: each["goal"] is None):
        goal, median = ratio["goal"], ratio["processor"]["median"]
        found.append(
            (
                ratio["side"],
                ratio["to"],
                *_spread(ratio["processor"]),
                number(ratio["wall"]["median"]),
                "" if goal is None else f"{goal:g}",
                "" if goal is None else "yes" if median >= goal else "no",
            )
        )
    return found


def markdown(results: Mapping[str, Any]) -> str:
    """Return the whole result as Markdown."""
    return "\n".join(
        [
            "# Speed of the learners\n",
            f"Updates a second, one thread, batch {results['batch']}: the median of "
            f"{results['rounds']} rounds and their range. Written by `rolecast bench learners`; "
            "every round is in learners.json. A whole loop takes one step in "
            f"{results['task']} for each update, a learner alone draws from its replay and "
            "learns; bare torch draws and learns in a loop of its own, without a task. RLlib's "
            "SAC has its own replay and settings, and takes one step for each update too. The "
            f"team's learners are on {results['team_task']} with their own settings, for "
            "information; their whole loop is in env steps, one update for eight. Processor time "
            "does not count what others do on the machine, but they slow it down.\n",
            f"{machine_line(results['machine'])} Processes that wanted a core, this one among "
            f"them: {' at begin, '.join(number(load) for load in results['loads'])} at end.\n",
            "## How many times as fast\n",
            "Medians of the ratios within each round, and their range.\n",
            markdown_table(RATIO_HEAD, ratio_rows(results)),
            "\n## Updates a second\n",
            markdown_table(TABLE_HEAD, rows(results)),
            "",
        ]
    )


def _spread(values: Mapping[str, Any]) -> tuple[str, str]:
    return number(values["median"]), spread(values["rounds"])
