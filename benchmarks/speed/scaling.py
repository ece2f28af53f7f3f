"""Speed of searches by workers, the cost of a driver by workers, and the error of the forecast.

Eight parts. Start: how soon a search begins. Searches, and those of robots: whole ones, in turn;
see searches.py. Driver: the real evaluator deals chunks to W stand-ins that do no work, held by a
few processes, as this machine has no memory for 1,000. Overhead: what Ray costs calls of the usual
length. Forecast: `rolecast plan` beside what the searches took. Unequal: asynchronous searches
beside synchronous ones, where time is simulated. Batches: what larger batches earn. Where there is
a GPU and it is asked for: episodes played on it.
"""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rolecast.benchmarks.commits import source_commit
from rolecast.benchmarks.result_table import keyed_table, markdown_table
from rolecast.benchmarks.speed import (
    asynchronous,
    batches,
    cuda_rollouts,
    driver,
    overhead,
    searches,
    start,
)
from rolecast.benchmarks.speed.searches import (
    ROBOT_ROWS,
    SEARCH_ROWS,
    SEARCH_SEED,
    SearchRow,
    rolecast_json,
)
from rolecast.benchmarks.timing import digits, machine
from rolecast.core.errors import require_known
from rolecast.core.files import write_json
from rolecast.core.threads import available_cores

SCALING_PARTS: Final = (
    *("start", "searches", "robots", "driver", "overhead", "forecast", "unequal", "batches"),
)
"""Parts of the result."""

CUDA_PART: Final = "cuda_rollouts"
"""Part that is measured where it is named alone, as it needs a GPU."""

FORECAST_COLUMNS: Final = (
    ("search", "search"),
    ("way", "way"),
    ("expected, s", "expected_s"),
    ("at full length, s", "full_length_s"),
    ("measured, s", "measured_s"),
    ("off by", "off_by"),
)
"""Names and keys of the columns of the forecast."""


def measure_all(
    parts: Sequence[str],
    results: dict[str, Any],
    file: Path,
    *,
    quick: bool,
    note: Callable[[str], None],
) -> None:
    """Add the results of some parts to others, as JSON values, and keep each as it ends.

    Args:
        parts: of `SCALING_PARTS`, or `CUDA_PART`.
        results: to which they are added.
        file: in which all are kept.
        quick: seconds instead of minutes.
        note: told of each measurement.
    Raises:
        RequestError: a part is unknown, or needs a GPU that is not there.
    """
    require_known("--part", parts, (*SCALING_PARTS, CUDA_PART))
    if CUDA_PART in parts:
        cuda_rollouts.require_numba_cuda()
    measured: Mapping[str, Callable[[], Any]] = {
        "start": lambda: start.measure_start(1 if quick else start.START_RUNS, note),
        "searches": lambda: searches.measure_searches(SEARCH_ROWS, quick=quick, note=note),
        "robots": lambda: searches.measure_searches(ROBOT_ROWS, quick=quick, note=note),
        "driver": lambda: driver.measure_driver(
            driver.DRIVER_WORKERS[:2] if quick else driver.DRIVER_WORKERS,
            200 if quick else driver.DRIVER_CHUNKS,
            note,
            direct=() if quick else driver.DIRECT_COUNTS,
        ),
        "overhead": lambda: overhead.measure_overhead(
            8 if quick else overhead.OVERHEAD_CHUNKS, note
        ),
        "forecast": lambda: [
            expected
            for row in (*SEARCH_ROWS, *ROBOT_ROWS)
            for expected in _forecasts(row, row.quick if quick else row.options, note)
        ],
        "unequal": lambda: asynchronous.compare_modes(quick=quick, note=note),
        "batches": lambda: batches.compare_batches(_searched, quick=quick, note=note),
        CUDA_PART: lambda: cuda_rollouts.measure_rollouts(quick=quick, note=note),
    }
    here = machine({"ray": "ray", "numpy": "numpy", "numba": "numba", "mujoco": "mujoco"})
    for name in parts:
        load, commit = digits(os.getloadavg()[0]), source_commit()
        results[name] = measured[name]()
        results[f"{name}_on"] = {**here, "load": load, "commit": commit}
        write_json(file, results)


def _searched(task: str, options: Sequence[str]) -> Mapping[str, Any]:
    """Run one search in this process's way of playing; return its answer."""
    with tempfile.TemporaryDirectory() as folder:
        place = ["--workers", "0", "--out", str(Path(folder) / "run"), "--json"]
        return rolecast_json(["search", task, *options, *place], os.environ)


def _forecasts(
    row: SearchRow, options: Sequence[str], note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return the forecasts of one search: one thread, a worker per core, and the default way.

    By default a search has threads, or a worker per core where they pay: the same forecast.
    """
    cores = available_cores()
    workers = [word for count in (0, cores) for word in ("--workers", str(count))]
    found = rolecast_json(["plan", row.task, *options, *workers, "--json"], os.environ)
    alone, shared = found["forecasts"]
    note(f"{row.name}: {alone['total_s']:.1f} s and {shared['total_s']:.1f} s are expected")
    ways = {
        searches.ONE_THREAD_WAY: alone,
        searches.DEFAULT_WAY: shared,
        searches.workers_way(cores): shared,
    }
    return [
        {
            "search": row.name,
            "way": way,
            "expected_s": digits(expected["total_s"]),
            "full_length_s": digits(expected["full_length_s"]),
        }
        for way, expected in ways.items()
    ]


def markdown(found: Mapping[str, Any]) -> str:
    """Return the page."""
    lines = [
        "# Searches by workers",
        "",
        f"`rolecast bench scaling`. Seed {SEARCH_SEED}. Where nothing is said of rounds it is one",
        "run of each, and differences of less than a fifth say nothing. Load is the mean number of",
        "processes that wanted a core in the minute before: well under 1 on a machine that does",
        "nothing else.",
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
    if whole := [*found.get("searches", []), *found.get("robots", [])]:
        lines += searches.markdown(whole)
    if "driver" in found:
        lines += driver.markdown(found["driver"])
    if "overhead" in found:
        lines += overhead.markdown(found["overhead"])
    if "forecast" in found:
        lines += _forecast_lines(found)
    if "unequal" in found:
        lines += asynchronous.markdown(found["unequal"])
    if "batches" in found:
        lines += batches.markdown(found["batches"])
    if CUDA_PART in found:
        lines += cuda_rollouts.markdown(found[CUDA_PART])
    return "\n".join(lines)


def _forecast_lines(found: Mapping[str, Any]) -> list[str]:
    """Return the lines that hold each forecast against the search, if of the same processor."""
    here = found["forecast_on"]["processor"]
    took = {
        (row["search"], row["way"]): row["search_s"]
        for part in ("searches", "robots")
        if found.get(f"{part}_on", {}).get("processor") == here
        for row in found[part]
    }
    rows = []
    for row in found["forecast"]:
        seconds = took.get((row["search"], row["way"]))
        if seconds is None:
            rows.append({**row, "measured_s": "-", "off_by": "-"})
            continue
        low, high = sorted((row["expected_s"], row["full_length_s"]))
        off = max(low - seconds, seconds - high, 0.0) / seconds
        rows.append({**row, "measured_s": seconds, "off_by": f"{off:.0%}"})
    return [
        "Forecast: seconds of searching that `rolecast plan` expects, with episodes as long as",
        "those of the first batch, and with episodes of full length: a robot that learns to stay",
        "up goes from the one to the other. `measured` is the search above, if on the same",
        "processor; with workers, their start is part of it. `off by` is its distance from the",
        "nearer forecast, none between the two.",
        "",
        keyed_table(FORECAST_COLUMNS, rows),
        "",
    ]
