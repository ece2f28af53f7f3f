"""Whole searches by the way in which they play: one thread, threads, Ray workers, side by side.

Each search is a command in a process of its own. The ways take turns, so that all of them meet the
same moods of a machine, and are compared with one thread round by round.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.result_table import markdown_table
from rolecast.benchmarks.timing import digits, in_turn, ratios
from rolecast.core.threads import THREADS_VARIABLE, available_cores
from rolecast.platform.deployment.compiler import run_program
from rolecast.platform.search.records.frames import read_history

SEARCH_SEED: Final = 9
"""Root of all randomness of the searches."""

SEARCH_ROUNDS: Final = 3
"""Turns of each way, of which the medians are told."""

TIME_KEYS: Final = ("search_s", "later_s", "whole_s")

LAST_KEYS: Final = ("workers", "batches", "test_return", "time_shares")
"""What is told of the last round."""

ONE_THREAD_WAY: Final = "one thread"
"""The way with which the others are compared."""

DEFAULT_WAY: Final = "by default"
"""The way of who says nothing of threads and workers."""

WORKERS_WORD: Final = " workers"
"""End of the name of the way with a Ray worker per core."""


@dataclass(frozen=True, kw_only=True)
class SearchRow:
    """One search that is timed."""

    name: str
    task: str
    options: tuple[str, ...]
    """Of `rolecast search`."""

    quick: tuple[str, ...]
    """Of a search of seconds."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to play a search."""

    options: tuple[str, ...] = ()
    """Of `rolecast search`."""

    single: bool = False
    """With one thread in the simulator too, which has its own."""

    at_once: int = 1
    """Searches side by side: they share memory and heat, and nothing else."""


SEARCH_ROWS: Final = (
    SearchRow(
        name="pred_prey_3, local_gp",
        task="pred_prey_3",
        options=("--optimizer", "local_gp", "--env-steps", "800000"),
        quick=("--optimizer", "local_gp", "--env-steps", "20000"),
    ),
    SearchRow(
        name="pred_prey_3, dss_gp_ucb",
        task="pred_prey_3",
        options=("--env-steps", "800000"),
        quick=("--env-steps", "20000"),
    ),
    SearchRow(
        name="drone_delivery_3, 256 episodes",
        task="drone_delivery_3",
        options=("--evaluations", "1500", "--episodes", "256"),
        quick=("--evaluations", "60", "--episodes", "64"),
    ),
)
"""Searches of compiled tasks."""

ROBOT_ROWS: Final = (
    SearchRow(
        name="ant, mlp, 2 episodes",
        task="ant",
        options=("--policy", "mlp", "--evaluations", "60", "--episodes", "2"),
        quick=("--policy", "mlp", "--evaluations", "4", "--episodes", "1"),
    ),
    SearchRow(
        name="hopper, dss_gp_ucb",
        task="hopper",
        options=("--optimizer", "dss_gp_ucb", "--env-steps", "100000"),
        quick=("--optimizer", "dss_gp_ucb", "--env-steps", "2000"),
    ),
)
"""Searches of MuJoCo robots."""

SPEED_UP_GOALS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "drone_delivery_3, 256 episodes": 1.8,
        "ant, mlp, 2 episodes": 1.8,
        "hopper, dss_gp_ucb": 1.6,
    }
)
"""Row to how many times as fast as one thread it is to be by default, on two cores."""

LEAST_SPEED_UP: Final = 0.95
"""What no other search may fall below that lasts `GOAL_SECONDS` on one thread."""

GOAL_SECONDS: Final = 10.0

MOST_WAITING: Final = 0.1
"""Share of the time in which no episode runs, at most, where batches take `HEAVY_SECONDS`."""

HEAVY_SECONDS: Final = 0.5


def measure_searches(
    searches: Sequence[SearchRow], *, quick: bool, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return a row for each search and way, JSON values.

    Args:
        searches: to be timed.
        quick: small searches, once.
        note: told of each round.
    """
    rounds = 1 if quick else SEARCH_ROUNDS
    return [
        timed
        for row in searches
        for timed in compare_ways(row, row.quick if quick else row.options, rounds, note)
    ]


def compare_ways(
    row: SearchRow, options: Sequence[str], rounds: int, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Time one search in all ways; return a row for each, times and ratios as medians."""
    ways = ways_here(available_cores())
    found = in_turn(
        {name: partial(_played, row.task, options, way) for name, way in ways.items()},
        rounds,
        lambda index, name, run: note(f"{row.name}, round {index}, {name}: {run['search_s']} s"),
    )
    rows = []
    for name, runs in found.items():
        times = {key: [run[key] for run in runs] for key in TIME_KEYS}
        alone = {key: [run[key] for run in found[ONE_THREAD_WAY]] for key in TIME_KEYS}
        done = ways[name].at_once
        faster = {
            key: [done * ratio for ratio in ratios(alone[key], times[key])] for key in TIME_KEYS
        }
        rows.append(
            {
                "search": row.name,
                "way": name,
                "speed_up": digits(median(faster["search_s"])),
                "later_speed_up": digits(median(faster["later_s"])),
                "speed_ups": [digits(each) for each in faster["search_s"]],
                **{key: digits(median(values)) for key, values in times.items()},
                **{key: runs[-1][key] for key in LAST_KEYS},
            }
        )
    return rows


def ways_here(cores: int) -> dict[str, Way]:
    """Return name to way, on a machine of so many cores."""
    one_thread = ("--workers", "0", "--threads", "1")
    ways = {
        ONE_THREAD_WAY: Way(options=one_thread, single=True),
        "threads": Way(options=("--workers", "0")),
        DEFAULT_WAY: Way(),
        workers_way(cores): Way(options=("--workers", str(cores))),
    }
    if cores > 1:
        ways[f"{cores} at once"] = Way(options=one_thread, single=True, at_once=cores)
    return ways


def workers_way(cores: int) -> str:
    """Return the name of the way with a Ray worker per core."""
    return f"{cores}{WORKERS_WORD}"


def rolecast_json(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what a command prints as JSON.

    Raises:
        RunError: it failed; says what it said.
    """
    command = [sys.executable, "-m", "rolecast", *words]
    found: dict[str, Any] = json.loads(run_program(command, Path.cwd(), environment))
    return found


def _played(task: str, options: Sequence[str], way: Way) -> dict[str, Any]:
    """Run a search as often at once as a way says; return one answer with the mean times."""
    run = partial(_search, task, (*options, *way.options), single=way.single)
    with ThreadPoolExecutor(way.at_once) as pool:
        runs = [each.result() for each in [pool.submit(run) for _ in range(way.at_once)]]
    return {**runs[0], **{key: digits(fmean(each[key] for each in runs)) for key in TIME_KEYS}}


def _search(task: str, options: Sequence[str], *, single: bool) -> dict[str, Any]:
    """Run one search in a process of its own; return its times."""
    environment = dict(os.environ)
    if single:
        environment[THREADS_VARIABLE] = "1"
    with tempfile.TemporaryDirectory() as folder:
        out = ["--seed", str(SEARCH_SEED), "--out", str(Path(folder) / "run"), "--json"]
        begun = time.monotonic()
        answer = rolecast_json(["search", task, *options, *out], environment)
        whole = time.monotonic() - begun
        history = read_history(Path(folder) / "run")
    reached = history["wall_time_s"].to_numpy()
    return {
        "search_s": digits(answer["wall_time_s"]),
        "later_s": digits(reached[-1] - reached[len(reached) // 2]),
        "whole_s": digits(whole),
        "workers": answer["workers"],
        "batches": history["batch"].nunique(),
        "test_return": digits(answer["test_return"]),
        "time_shares": {name: digits(share) for name, share in answer["time_shares"].items()},
    }


def markdown(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of the page."""
    shares = ("workers_wait", "optimizer")
    table = markdown_table(
        (
            *("search", "way", "search, s", "whole, s", "times one thread", "in rounds", "later"),
            *("waiting", "optimiser"),
        ),
        (
            (
                *(row[key] for key in ("search", "way", "search_s", "whole_s")),
                f"{row['speed_up']:.2f}",
                f"{min(row['speed_ups']):.2f} to {max(row['speed_ups']):.2f}",
                f"{row['later_speed_up']:.2f}",
                *(f"{row['time_shares'][key]:.0%}" for key in shares),
            )
            for row in rows
        ),
    )
    rounds = max(len(row["speed_ups"]) for row in rows)
    return [
        f"Searches: medians of rounds ({rounds}) in which the ways take turns; `in rounds` has the",
        "least and the greatest ratio. `search` is the time of searching, `whole` that of the",
        "command with its start and its held-out test. `later` compares the second half of the",
        "evaluations alone, when every worker has started. `waiting` is the share of searching in",
        "which no episode ran. `at once` are searches of one thread each, side by side: what the",
        "cores allow.",
        "",
        table,
        "",
        *_goals(rows),
        *_waiting(rows),
    ]


def _goals(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines that hold each search against its goal."""
    alone = {row["search"]: row["search_s"] for row in rows if row["way"] == ONE_THREAD_WAY}
    lines: list[tuple[object, ...]] = []
    for row in rows:
        if row["way"] == DEFAULT_WAY:
            name, speed_up = row["search"], row["speed_up"]
            short = name not in SPEED_UP_GOALS and alone[name] < GOAL_SECONDS
            goal = SPEED_UP_GOALS.get(name, LEAST_SPEED_UP)
            said = "met" if speed_up >= goal else "missed"
            lines.append(
                (name, "-" if short else goal, f"{speed_up:.2f}", "no goal" if short else said)
            )
    if not lines:
        return []
    return [
        "Goals on two cores, of the time of searching by default. No search of",
        f"{GOAL_SECONDS:.0f} seconds on one thread or more is to be below {LEAST_SPEED_UP}; "
        "shorter ones have no goal.",
        "",
        markdown_table(("search", "goal", "times one thread", ""), lines),
        "",
    ]


def _waiting(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines that hold the share of waiting against its goal, where batches are heavy."""
    lines = []
    for row in rows:
        waiting = row["time_shares"]["workers_wait"]
        batch_s = row["search_s"] * (1.0 - waiting) / row["batches"]
        asked = row["way"] == DEFAULT_WAY or row["way"].endswith(WORKERS_WORD)
        if asked and batch_s >= HEAVY_SECONDS:
            said = "met" if waiting < MOST_WAITING else "missed"
            lines.append((row["search"], row["way"], digits(batch_s), f"{waiting:.0%}", said))
    if not lines:
        return []
    return [
        f"Goal of waiting: below {MOST_WAITING * 100:.0f} % where the episodes of a batch take "
        f"{HEAVY_SECONDS} s or more.",
        "With workers, the time in which they start is part of it.",
        "",
        markdown_table(("search", "way", "batch, s", "waiting", ""), lines),
        "",
    ]
