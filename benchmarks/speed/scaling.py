"""Speed of searches by workers, the cost of a driver by workers, and the error of the forecast.

Six parts. Start: how soon a search begins. Searches: whole searches with one thread, with threads,
and with Ray workers, in processes of their own. Driver: the real evaluator deals chunks to W
stand-ins that do no work, held by a few processes, as this machine has no memory for 1,000.
Forecast: `rolecast plan` beside what the searches took. Unequal: asynchronous searches beside
synchronous ones, where time is simulated. Batches: what larger batches earn. Where there is a GPU
and it is asked for: episodes played on it.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from rolecast.benchmarks.result_table import keyed_table, markdown_table
from rolecast.benchmarks.speed import asynchronous, batches, cuda_rollouts, driver, start
from rolecast.benchmarks.timing import digits, machine
from rolecast.core.errors import require_known
from rolecast.core.threads import THREADS_VARIABLE, available_cores
from rolecast.platform.deployment.compiler import run_program
from rolecast.platform.search.records.frames import read_history

SCALING_PARTS: Final = ("start", "searches", "driver", "forecast", "unequal", "batches")
"""Parts of the result."""

CUDA_PART: Final = "cuda_rollouts"
"""Part that is measured where it is named alone, as it needs a GPU."""

FORECAST_COLUMNS: Final = (
    ("search", "search"),
    ("one thread", "one_thread_s"),
    ("a worker per core", "workers_s"),
)
"""Names and keys of the columns of the forecast."""

SEARCH_SEED: Final = 9
"""Root of all randomness of the searches."""


@dataclass(frozen=True, kw_only=True)
class SearchRow:
    """One search that is timed."""

    name: str
    task: str
    options: tuple[str, ...]
    """Of `rolecast search`."""

    quick: tuple[str, ...]
    """Of a search of seconds."""


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
    SearchRow(
        name="ant, mlp, 2 episodes",
        task="ant",
        options=("--policy", "mlp", "--evaluations", "60", "--episodes", "2"),
        quick=("--policy", "mlp", "--evaluations", "4", "--episodes", "1"),
    ),
)


def measure_all(
    parts: Sequence[str], *, quick: bool, note: Callable[[str], None]
) -> dict[str, Any]:
    """Return the results of some parts, as JSON values.

    Args:
        parts: of `SCALING_PARTS`, or `CUDA_PART`.
        quick: seconds instead of minutes.
        note: told of each measurement.
    Raises:
        RequestError: a part is unknown.
    """
    require_known("--part", parts, (*SCALING_PARTS, CUDA_PART))
    measured: Mapping[str, Callable[[], Any]] = {
        "start": lambda: start.measure_start(1 if quick else start.START_RUNS, note),
        "searches": lambda: [
            timed
            for row in SEARCH_ROWS
            for timed in _ways(row, row.quick if quick else row.options, note)
        ],
        "driver": lambda: driver.measure_driver(
            driver.DRIVER_WORKERS[:2] if quick else driver.DRIVER_WORKERS,
            200 if quick else driver.DRIVER_CHUNKS,
            note,
        ),
        "forecast": lambda: [
            _forecast(row, row.quick if quick else row.options, note) for row in SEARCH_ROWS
        ],
        "unequal": lambda: asynchronous.compare_modes(quick=quick, note=note),
        "batches": lambda: batches.compare_batches(_searched, quick=quick, note=note),
        CUDA_PART: lambda: cuda_rollouts.measure_rollouts(quick=quick, note=note),
    }
    here = machine({"ray": "ray", "numpy": "numpy", "numba": "numba", "mujoco": "mujoco"})
    found: dict[str, Any] = {}
    for name in parts:
        load = digits(os.getloadavg()[0])
        found[name] = measured[name]()
        found[f"{name}_on"] = {**here, "load": load}
    return found


def _ways(
    row: SearchRow, options: Sequence[str], note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Time one search with one thread, with all threads, by default, and with a worker per core.

    As many searches at once as there are cores, of one thread each, show what the cores allow: they
    share memory and heat, and nothing else.
    """
    cores = available_cores()
    ways: Mapping[str, tuple[Sequence[str], bool]] = {
        "one thread": (("--workers", "0", "--threads", "1"), True),
        "threads": (("--workers", "0"), False),
        "by default": ((), False),
        f"{cores} workers": (("--workers", str(cores)), False),
    }
    found: list[dict[str, Any]] = []
    for name, (given, single) in ways.items():
        timed = _search(row, (*options, *given), single=single)
        alone = found[0] if found else timed
        speed_up = alone["search_s"] / timed["search_s"]
        ratios = {
            "speed_up": digits(speed_up),
            "later_speed_up": digits(alone["later_s"] / timed["later_s"]),
        }
        found.append({"search": row.name, "way": name, **ratios, **timed})
        note(f"{row.name}, {name}: {timed['search_s']:.1f} s, {speed_up:.2f} times one thread")
    if cores > 1:
        found.append(_at_once(row, (*options, *ways["one thread"][0]), found[0], cores))
        note(f"{row.name}, {cores} at once: {found[-1]['speed_up']} times one thread")
    return found


def _at_once(
    row: SearchRow, options: Sequence[str], alone: Mapping[str, Any], count: int
) -> dict[str, Any]:
    """Run a search several times at once; return the mean times, and what all do in them.

    Args:
        row: the search.
        options: of `rolecast search`, with one thread.
        alone: times of one search.
        count: searches at once.
    """
    with ThreadPoolExecutor(count) as pool:
        runs = list(pool.map(lambda _: _search(row, options, single=True), range(count)))
    keys = ("search_s", "later_s", "whole_s")
    means = {key: digits(fmean(run[key] for run in runs)) for key in keys}
    return {
        **runs[0],
        **means,
        "search": row.name,
        "way": f"{count} at once",
        "speed_up": digits(count * alone["search_s"] / means["search_s"]),
        "later_speed_up": digits(count * alone["later_s"] / means["later_s"]),
    }


def _search(row: SearchRow, options: Sequence[str], *, single: bool) -> dict[str, Any]:
    """Run one search in a process of its own; return its times.

    Args:
        row: the search.
        options: of `rolecast search`.
        single: with one thread in the simulator too, which has its own.
    """
    environment = dict(os.environ)
    if single:
        environment[THREADS_VARIABLE] = "1"
    with tempfile.TemporaryDirectory() as folder:
        out = ["--seed", str(SEARCH_SEED), "--out", str(Path(folder) / "run"), "--json"]
        begun = time.monotonic()
        answer = _rolecast(["search", row.task, *options, *out], environment)
        whole = time.monotonic() - begun
        reached = read_history(Path(folder) / "run")["wall_time_s"].to_numpy()
    return {
        "search_s": digits(answer["wall_time_s"]),
        "later_s": digits(reached[-1] - reached[len(reached) // 2]),
        "whole_s": digits(whole),
        "workers": answer["workers"],
        "test_return": digits(answer["test_return"]),
        "time_shares": {name: digits(share) for name, share in answer["time_shares"].items()},
    }


def _searched(task: str, options: Sequence[str]) -> Mapping[str, Any]:
    """Run one search in this process's way of playing; return its answer."""
    with tempfile.TemporaryDirectory() as folder:
        place = ["--workers", "0", "--out", str(Path(folder) / "run"), "--json"]
        return _rolecast(["search", task, *options, *place], os.environ)


def _rolecast(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what a command prints as JSON.

    Raises:
        RunError: it failed; says what it said.
    """
    command = [sys.executable, "-m", "rolecast.platform.cli.app", *words]
    found: dict[str, Any] = json.loads(run_program(command, Path.cwd(), environment))
    return found


def _forecast(
    row: SearchRow, options: Sequence[str], note: Callable[[str], None]
) -> dict[str, Any]:
    """Return the forecast of one search for one thread and for a worker per core."""
    workers = [word for count in (0, available_cores()) for word in ("--workers", str(count))]
    answer = _rolecast(["plan", row.task, *options, *workers, "--json"], os.environ)
    alone, shared = answer["forecasts"]
    note(f"{row.name}: {alone['total_s']:.1f} s and {shared['total_s']:.1f} s are expected")
    return {
        "search": row.name,
        "one_thread_s": digits(alone["total_s"]),
        "workers_s": digits(shared["total_s"]),
    }


def markdown(found: Mapping[str, Any]) -> str:
    """Return the page."""
    lines = [
        "# Searches by workers",
        "",
        f"`rolecast bench scaling`. Seed {SEARCH_SEED}; one run of each, so differences of less",
        "than a fifth say nothing. Load is the mean number of processes that wanted a core in the",
        "minute before: well under 1 on a machine that does nothing else.",
        "",
        markdown_table(
            ("part", "measured on", "cores", "load before"),
            (
                (name, on["processor"], on["cores"], on.get("load", "not noted"))
                for name in (*SCALING_PARTS, CUDA_PART)
                if (on := found.get(f"{name}_on"))
            ),
        ),
        "",
    ]
    if "start" in found:
        lines += start.markdown(found["start"])
    if "searches" in found:
        lines += [
            "`search` is the time of searching, `whole` that of the command with its start and its",
            "held-out test. `later` compares the second half of the evaluations alone, when every",
            "worker has started. `waiting` is the share of searching in which no episode ran. `at",
            "once` are searches of one thread each, side by side: what the cores allow.",
            "",
            _searches_table(found["searches"]),
            "",
        ]
    if "driver" in found:
        lines += driver.markdown(found["driver"])
    if "forecast" in found:
        lines += [
            "Forecast: seconds of searching that `rolecast plan` expects. It times episodes of the",
            "first batch: where later ones last longer, as on hopper, so does the search.",
            "",
            keyed_table(FORECAST_COLUMNS, found["forecast"]),
            "",
        ]
    if "unequal" in found:
        lines += asynchronous.markdown(found["unequal"])
    if "batches" in found:
        lines += batches.markdown(found["batches"])
    if CUDA_PART in found:
        lines += cuda_rollouts.markdown(found[CUDA_PART])
    return "\n".join(lines)


def _searches_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of whole searches."""
    keys = ("search", "way", "search_s", "whole_s", "speed_up", "later_speed_up")
    shares = ("workers_wait", "optimizer")
    return markdown_table(
        (
            *("search", "way", "search, s", "whole, s", "times one thread", "later", "waiting"),
            "optimiser",
        ),
        (
            (*(row[key] for key in keys), *(f"{row['time_shares'][key]:.0%}" for key in shares))
            for row in rows
        ),
    )
