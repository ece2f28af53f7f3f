"""The cost of a simulator's step from which a learner needs less wall time than a search.

A method that reaches a return in n env steps and s seconds of this machine, its simulator
included, takes s + n c seconds where each step costs c more. Two lines in c meet at most once.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rolecast.benchmarks.result_table import Row, markdown_table

TARGET_RETURNS: Final = (100.0, 150.0, 175.0)
"""Held-out returns to reach; a scripted chase has 135."""

BREAK_EVEN_SEARCHES: Final = ("dss_gp_ucb", "cmaes separable")
"""Of the main table: with the task's symmetries, and without."""

BREAK_EVEN_LEARNERS: Final = ("facmac", "maddpg", "comix")
"""Of the ledger; none knows symmetries."""

BREAK_EVEN_HEAD: Final = (
    "return",
    "search",
    "env steps",
    "s",
    "learner",
    "env steps",
    "s",
    "break-even",
)

BREAK_EVEN_NOTE: Final = """\
Seconds are of [main.json](main.json) and [baselines.json](baselines.json), one core each, with the
compiled simulator in them. A search counts with the smallest budget of the main table whose median
reaches the return, a learner with the point at which its first seed reached it: both are late by up
to a step of their table, and seeds of a learner that never reached it are not counted. The cost is
that of a further simulator, beyond the compiled one. "None": one is ahead whatever a step costs."""


@dataclass(frozen=True, kw_only=True)
class Reached:
    """What a method spent to reach a return."""

    env_steps: int
    seconds: float


def search_reaches(rows: Sequence[Row], task: str, name: str, target: float) -> Reached | None:
    """Return the smallest budget of a search whose median over seeds is at least a return."""
    budgets: dict[int, list[Row]] = {}
    for row in rows:
        if row["arena"] == task and row["contestant"] == name:
            budgets.setdefault(row["env_steps"], []).append(row)
    for budget, mine in sorted(budgets.items()):
        if statistics.median(row["episode_return_mean"] for row in mine) >= target:
            seconds = statistics.median(row["search_seconds"] for row in mine)
            return Reached(env_steps=budget, seconds=seconds)
    return None


def learner_reaches(rows: Sequence[Row], task: str, name: str, target: float) -> Reached | None:
    """Return what the seed that was first, in env steps, had spent at a return."""
    found = [
        Reached(env_steps=point["env_steps"], seconds=point["seconds"])
        for row in rows
        if row["task"] == task and row["contestant"] == name
        for point in _first(row["curve"], target)
    ]
    return min(found, key=lambda each: each.env_steps) if found else None


def _first(curve: Sequence[Mapping[str, Any]], target: float) -> Sequence[Mapping[str, Any]]:
    return [point for point in curve if point["test_return"] >= target][:1]


def break_even_us(search: Reached, learner: Reached) -> float | None:
    """Return the further microseconds a step at which both take as long; None if at none.

    Above them the one that needs fewer env steps is ahead.
    """
    more_steps = search.env_steps - learner.env_steps
    if more_steps == 0:
        return None
    cost = 1e6 * (learner.seconds - search.seconds) / more_steps
    return cost if cost > 0.0 else None


def break_even_section(searches: Sequence[Row], learners: Sequence[Row], task: str) -> str:
    """Return the part of a page: a table of targets, searches and learners, and its note."""
    lines = []
    for target in TARGET_RETURNS:
        for ours in BREAK_EVEN_SEARCHES:
            for theirs in BREAK_EVEN_LEARNERS:
                search = search_reaches(searches, task, ours, target)
                learner = learner_reaches(learners, task, theirs, target)
                if search is not None and learner is not None:
                    lines.append(_line(target, ours, search, theirs, learner))
    if not lines:
        return ""
    rule = ("---:", "---", "---:", "---:", "---", "---:", "---:", "---")
    table = markdown_table(BREAK_EVEN_HEAD, lines, rule)
    return f"## Which costs less wall time, by the cost of a step\n\n{table}\n\n{BREAK_EVEN_NOTE}\n"


def _line(
    target: float, ours: str, search: Reached, theirs: str, learner: Reached
) -> tuple[str, ...]:
    return (
        f"{target:.0f}",
        ours,
        f"{search.env_steps:,}",
        f"{search.seconds:,.1f}",
        theirs,
        f"{learner.env_steps:,}",
        f"{learner.seconds:,.1f}",
        _verdict(search, learner),
    )


def _verdict(search: Reached, learner: Reached) -> str:
    even = break_even_us(search, learner)
    if even is None:
        ahead = search.seconds <= learner.seconds
        return f"none: the {'search' if ahead else 'learner'} is ahead"
    name = "learner" if search.env_steps > learner.env_steps else "search"
    return f"the {name} is ahead above {even:,.0f} µs a step"
