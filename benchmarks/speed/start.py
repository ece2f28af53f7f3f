"""Time from the command of a search to its first line, and to its first batch."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, PIPE
from typing import IO, Any, Final, cast

from rolecast.benchmarks.result_table import keyed_table
from rolecast.benchmarks.timing import digits
from rolecast.core.errors import RunError
from rolecast.core.threads import available_cores

START_COLUMNS: Final = (
    ("workers", "workers"),
    ("first line", "first_line_s"),
    ("first batch", "first_batch_s"),
    ("slowest first batch", "slowest_batch_s"),
)
"""Names and keys of the page's columns."""

START_RUNS: Final = 5
"""Commands of each way, of which the median counts; one before them fills the caches."""

BATCH_WORDS: Final = " evaluations  "
"""What the line of a batch has, and no other."""


def measure_start(runs: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return seconds to the first line and to the first batch, without Ray and with workers.

    Args:
        runs: commands of each way; of one alone, caches are not filled before it.
        note: told of each way.
    """
    found = []
    for workers in (0, available_cores()):
        if runs > 1:
            _start(workers)
        times = [_start(workers) for _ in range(runs)]
        line_s, batch_s = (median(each) for each in zip(*times, strict=True))
        slowest = max(batch for _, batch in times)
        found.append(
            {
                "workers": workers,
                "runs": runs,
                "first_line_s": digits(line_s),
                "first_batch_s": digits(batch_s),
                "slowest_batch_s": digits(slowest),
            }
        )
        note(f"{workers} workers: first line {line_s:.2f} s, first batch {batch_s:.2f} s")
    return found


def _start(workers: int) -> tuple[float, float]:
    """Return seconds from a command to its first line, and to the line of its first batch.

    Raises:
        RunError: it failed; says what it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = ["--env-steps", "5000", "--workers", str(workers)]
        out = ["--out", str(Path(folder) / "run")]
        program = [sys.executable, "-m", "rolecast", "search", "pred_prey_3"]
        begun = time.monotonic()
        times, said = list[float](), ""
        with subprocess.Popen([*program, *options, *out], stderr=PIPE, stdout=DEVNULL) as search:
            for line in cast("IO[bytes]", search.stderr):
                if BATCH_WORDS in said:
                    continue
                times.append(time.monotonic() - begun)
                said += line.decode()
                if BATCH_WORDS in said:
                    search.terminate()  # neither the rest nor the report is timed
    if BATCH_WORDS not in said:
        raise RunError(f"a search with {workers} workers failed: {said.strip()[-300:]}")
    return times[0], times[-1]


def markdown(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the part of the page that shows `measure_start`."""
    return [
        "Start: seconds from the command `rolecast search pred_prey_3` to its first line and to",
        f"its first batch, with kernels compiled before; medians of {found[0]['runs']} commands.",
        "",
        keyed_table(START_COLUMNS, found),
        "",
    ]
