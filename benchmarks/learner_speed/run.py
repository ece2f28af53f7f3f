"""Updates a second of the learners, beside RLlib's own SAC and beside a bare loop of torch.

All sides are timed in turn, round after round, by one thread each, and compared within a round:
what neighbours on the machine do then meets both sides of a comparison alike.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any, Final

from rolecast.benchmarks.env_speed.run import machine
from rolecast.benchmarks.learner_speed.sides import (
    ALONE,
    BARE_LOOP,
    LOOP,
    STOCK,
    TEAM_TASK,
    TIMED_TASK,
    TRAIN_BATCH,
    WARM_UP,
    Ours,
    Side,
    Stock,
    bare,
)
from rolecast.core.threads import OneThread

TIMING_ROUNDS: Final = 7
LEAST_SECONDS: Final = 3.0
"""Least processor time of one measurement."""

QUICK_ROUNDS: Final = 2
QUICK_SECONDS: Final = 0.05
NET_SIZES: Final = ((256, 256), (64, 64))
SINGLE_LEARNERS: Final = ("sac", "td3", "ddpg")
TEAM_LEARNERS: Final = ("maddpg", "facmac")
CLOCK_NAMES: Final = ("processor", "wall")
RATIO_GOALS: Final = {STOCK: 10.0, BARE_LOOP: 0.8}
"""Least ratio hoped for, by what is compared with: of SAC to RLlib's, of all to bare torch."""


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
            timed = run_rounds(sides, rounds=rounds, seconds=seconds, note=note)
    finally:
        cluster.close()
    loads.append(os.getloadavg()[0])
    told = machine()
    used = {name: version(name) for name in ("rolecast", "torch", "ray", "gymnasium", "numpy")}
    return {
        "unit": "updates a second, one thread; of a team's whole loop: env steps a second",
        "task": TIMED_TASK,
        "team_task": TEAM_TASK,
        "batch": TRAIN_BATCH,
        "rounds": rounds,
        "seconds": seconds,
        "machine": {**told, "versions": used},
        "loads": [_digits(load) for load in loads],
        "sides": {side.name: described_side(side, timed[side.name]) for side in sides},
        "ratios": list(ratios(sides, timed)),
    }


@contextmanager
def all_sides(*, quick: bool) -> Iterator[list[Side]]:
    """Build all sides; they end with the context."""
    with ExitStack() as stack:
        sides: list[Side] = []
        for hidden in ((8, 8),) if quick else NET_SIZES:
            stock = Stock(hidden)
            stack.callback(stock.close)
            sides.append(Side(algorithm="sac", hidden=hidden, what=STOCK, take=stock.whole))
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


def _both(name: str, hidden: tuple[int, ...], ours: Ours) -> list[Side]:
    ways = ((LOOP, ours.whole), (ALONE, ours.alone))
    return [Side(algorithm=name, hidden=hidden, what=what, take=take) for what, take in ways]


Timed = dict[str, dict[str, list[float]]]
"""Side to clock to updates a second of each round."""


def run_rounds(
    sides: Sequence[Side], *, rounds: int, seconds: float, note: Callable[[str], None]
) -> Timed:
    """Time each side once a round, every other round in the reverse order."""
    timed: Timed = {side.name: {clock: [] for clock in CLOCK_NAMES} for side in sides}
    for index in range(rounds):
        for side in sides if index % 2 == 0 else reversed(sides):
            updates, wall, processor = 0, time.perf_counter(), time.process_time()
            while not updates or time.process_time() - processor < seconds:
                updates += side.take()
            spent = time.process_time() - processor, time.perf_counter() - wall
            for clock, used in zip(CLOCK_NAMES, spent, strict=True):
                timed[side.name][clock].append(updates / used)
            note(f"round {index + 1}, {side.name}: {updates / spent[0]:,.1f} a processor second")
    return timed


def described_side(side: Side, timed: dict[str, list[float]]) -> dict[str, Any]:
    """Return what a side is, and its rounds."""
    return {
        "algorithm": side.algorithm,
        "hidden": list(side.hidden),
        "what": side.what,
        **{clock: spread(timed[clock]) for clock in CLOCK_NAMES},
    }


def ratios(sides: Iterable[Side], timed: Timed) -> Iterator[dict[str, Any]]:
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
                    clock: spread(
                        [
                            one / two
                            for one, two in zip(
                                timed[side.name][clock], timed[other.name][clock], strict=True
                            )
                        ]
                    )
                    for clock in CLOCK_NAMES
                },
            }


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Return values of rounds with three digits, and their median."""
    return {
        "median": _digits(statistics.median(values)),
        "rounds": [_digits(value) for value in values],
    }


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
