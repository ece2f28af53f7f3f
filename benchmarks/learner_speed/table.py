"""The speed of the learners for readers: rows of two tables, and Markdown."""

from collections.abc import Mapping
from typing import Any, Final

from rolecast.benchmarks.table_text import machine_line, number, spread, table

TABLE_HEAD: Final = ("side", "a processor second", "rounds", "a second of wall time", "rounds")
RATIO_HEAD: Final = ("side", "to", "by processor time", "rounds", "by wall time", "goal", "met")


def rows(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row of `TABLE_HEAD` for each side of what `measure_all` returned."""
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
            table([RATIO_HEAD, ("---",) * len(RATIO_HEAD), *ratio_rows(results)]),
            "\n## Updates a second\n",
            table([TABLE_HEAD, ("---",) * len(TABLE_HEAD), *rows(results)]),
            "",
        ]
    )


def _spread(values: Mapping[str, Any]) -> tuple[str, str]:
    return number(values["median"]), spread(values["rounds"])
