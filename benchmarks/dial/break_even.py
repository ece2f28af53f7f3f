"""The cost of a simulator's step from which a learner needs less wall time than a search.

A method that reaches a return in n env steps and s seconds of this machine, its simulator
included, takes s + n c seconds where each step costs c more. Two lines in c meet at most once.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rolecast.benchmarks.dial.dials import TEAM_DIAL
from rolecast.benchmarks.kept_rows import of_one_budget
from rolecast.benchmarks.result_table import Row, markdown_table
from rolecast.platform.tuning.rewards import DENSE_REWARD

TARGET_RETURNS: Final = (100.0, 150.0, 175.0)
"""Held-out returns to reach; a scripted chase has 135."""

BREAK_EVEN_PAIRS: Final = (
    ("told to both", TEAM_DIAL.told, "facmac_symmetries"),
    ("found by the search", TEAM_DIAL.untold, "facmac"),
    ("none", TEAM_DIAL.plain, "facmac"),
)
"""Who knows the task's symmetries; a search; a learner. Both of the dial."""

TIMED_SEARCH: Final = "dss_gp_ucb"
"""Contestant of the main table whose seconds a step stand for all searches."""

TIMED_LEARNER: Final = "facmac"
"""Contestant of the ledger whose seconds a step stand for both learners."""

BREAK_EVEN_HEAD: Final = (
    "return",
    "symmetries",
    "search",
    "env steps",
    "s",
    "learner",
    "env steps",
    "s",
    "break-even",
)

NOT_REACHED: Final = "not within the budget"

BREAK_EVEN_NOTE: Final = """\
Dense reward. Env steps are those at which the median seed first has the return at one of the ten
points of its trial, so that both are late by up to a tenth of the budget. Seconds are these steps
at the fastest pace in [main.json](main.json) (`{search}`, {search_us} µs a step) and in
[baselines.json](baselines.json) (`{learner}`, {learner_us} µs a step), one core, with the compiled
simulator in them. The two tables were made at different times, and random play by which a search
finds symmetries is counted as its other steps are. The cost is that of a further simulator,
beyond the compiled one. "None": one is ahead whatever a step costs. A method that is cut off needs
more than its budget; what that leaves open is not known."""


@dataclass(frozen=True, kw_only=True)
class Reached:
    """What a method spent to reach a return."""

    env_steps: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Seconds of one core for an env step, simulator included."""

    search: float
    learner: float


def pace_of(searches: Sequence[Row], learners: Sequence[Row], task: str) -> Pace | None:
    """Return the fastest pace in the rows of two tables; None where one has no row.

    Rows were made beside other work, which the fastest met least.
    """
    searched = [
        row["search_seconds"] / row["env_steps"]
        for row in searches
        if row["arena"] == task and row["contestant"] == TIMED_SEARCH
    ]
    learned = [
        row["curve"][-1]["seconds"] / row["curve"][-1]["env_steps"]
        for row in learners
        if row["task"] == task and row["contestant"] == TIMED_LEARNER
    ]
    if not searched or not learned:
        return None
    return Pace(search=min(searched), learner=min(learned))


def median_steps(rows: Sequence[Row], method: str, target: float) -> int | None:
    """Return the env steps at which the median seed of a method first has a return.

    Args:
        rows: of the dial; those with dense reward count.
        method: its label.
        target: held-out return.
    Returns:
        None where the method has no row, or half of its seeds or more never have the return.
    """
    first = [
        min((steps for steps, value in curve if value >= target), default=math.inf)
        for curve in _dense_curves(rows, method)
    ]
    middle = statistics.median(first) if first else math.inf
    return None if math.isinf(middle) else round(middle)


def _dense_curves(rows: Sequence[Row], method: str) -> list[list[tuple[int, float]]]:
    """Return env steps and return along the trials of a method with dense reward."""
    return [
        row["curve"] for row in rows if (row["method"], row["reward"]) == (method, DENSE_REWARD)
    ]


def break_even_us(search: Reached, learner: Reached) -> float | None:
    """Return the further microseconds a step at which both take as long; None if at none.

    Above them the one that needs fewer env steps is ahead.
    """
    more_steps = search.env_steps - learner.env_steps
    if more_steps == 0:
        return None
    cost = 1e6 * (learner.seconds - search.seconds) / more_steps
    return cost if cost > 0.0 else None


def break_even_section(
    rows: Sequence[Row], searches: Sequence[Row], learners: Sequence[Row], task: str
) -> str:
    """Return the part of a page: a table of targets, searches and learners, and its note.

    Args:
        rows: of the dial.
        searches: of the main table, with seconds.
        learners: of the ledger, with seconds.
        task: of all three.
    """
    pace = pace_of(searches, learners, task)
    if pace is None:
        return ""
    lines = [
        line
        for target in TARGET_RETURNS
        for pair in BREAK_EVEN_PAIRS
        for line in _lines(of_one_budget(rows), target, pair, pace)
    ]
    if not lines:
        return ""
    rule = ("---:", "---", "---", "---:", "---:", "---", "---:", "---:", "---")
    table = markdown_table(BREAK_EVEN_HEAD, lines, rule)
    note = BREAK_EVEN_NOTE.format(
        search=TIMED_SEARCH,
        search_us=f"{1e6 * pace.search:.1f}",
        learner=TIMED_LEARNER,
        learner_us=f"{1e6 * pace.learner:,.0f}",
    )
    return f"## Which costs less wall time, by the cost of a step\n\n{table}\n\n{note}\n"


def _lines(
    rows: Sequence[Row], target: float, pair: tuple[str, str, str], pace: Pace
) -> list[tuple[str, ...]]:
    """Return the line of a pair; none where one has no row, or neither reaches the return."""
    known, ours, theirs = pair
    ends = [[curve[-1][0] for curve in _dense_curves(rows, each)] for each in (ours, theirs)]
    if not all(ends):
        return []
    steps = [median_steps(rows, each, target) for each in (ours, theirs)]
    if steps == [None, None]:
        return []
    paces = (pace.search, pace.learner)
    spent = [
        _spent(max(end) if needed is None else needed, each)
        for needed, end, each in zip(steps, ends, paces, strict=True)
    ]
    if None not in steps:
        verdict = _verdict(*spent)
    elif steps[0] is None:
        verdict = _verdict_of_one("learner", spent[1], beyond=spent[0])
    else:
        verdict = _verdict_of_one("search", spent[0], beyond=spent[1])
    sides = [
        _side(name, None if needed is None else each)
        for name, needed, each in zip((ours, theirs), steps, spent, strict=True)
    ]
    return [(f"{target:.0f}", known, *sides[0], *sides[1], verdict)]


def _spent(env_steps: int, seconds_a_step: float) -> Reached:
    return Reached(env_steps=env_steps, seconds=env_steps * seconds_a_step)


def _side(name: str, found: Reached | None) -> tuple[str, str, str]:
    if found is None:
        return f"`{name}`", NOT_REACHED, "-"
    return f"`{name}`", f"{found.env_steps:,}", f"{found.seconds:,.1f}"


def _verdict(search: Reached, learner: Reached) -> str:
    even = break_even_us(search, learner)
    if even is None:
        ahead = search.seconds <= learner.seconds
        return f"none: the {'search' if ahead else 'learner'} is ahead"
    name = "learner" if search.env_steps > learner.env_steps else "search"
    return f"the {name} is ahead above {even:,.0f} µs a step"


def _verdict_of_one(name: str, found: Reached, *, beyond: Reached) -> str:
    """Return when a method that has the return is surely ahead of one that was cut off.

    Args:
        name: of the one that has it.
        found: what it spent.
        beyond: what the other spent in vain; it needs more of both.
    """
    if found.seconds <= beyond.seconds and found.env_steps <= beyond.env_steps:
        return f"none: the {name} is ahead"
    even = break_even_us(found, beyond)
    if even is None or found.env_steps >= beyond.env_steps:
        return "not known"
    return f"the {name} is ahead above {even:,.0f} µs a step; below, not known"
