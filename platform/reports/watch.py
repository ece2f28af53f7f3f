"""The report of a running search, written again and again; a browser that shows it reloads it."""

import time
from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path
from typing import Final

from rolecast.core.errors import RequestError
from rolecast.core.files import is_file
from rolecast.core.locks import is_locked
from rolecast.core.terminal import clock_time
from rolecast.platform.reports.run import Live, write_report
from rolecast.platform.search.progress import read_progress
from rolecast.platform.search.records.run_folder import RunFolder

WATCH_FILE: Final = "watch.html"
"""Page in the folder of a run; its `report.html` is the search's own to write."""

LARGEST_SHARE: Final = 0.25
"""Of the time that drawing may take: a long history is drawn less often than asked for."""


def watch_pages(
    folder: Path,
    *,
    every_s: float,
    trust: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Path]:
    """Write the page of a run until no search runs in its folder any more; yield it each time.

    Args:
        folder: of the run.
        every_s: least seconds between two pages.
        trust: make the run's task, though its id may run any code (`envs.trust`).
        sleep: waits.
    Raises:
        RequestError: no run is there, it has no evaluation and no search runs, or its task is not
            trusted.
    """
    run = RunFolder.open(folder)
    target = run.path / WATCH_FILE
    running = True
    while running:
        running = is_locked(run.path)
        taken = 0.0
        if not running or run.read_batches(candidates=False):
            begun = time.monotonic()
            live = Live(target=target, said=_standing(run), reload_s=ceil(every_s))
            yield write_report(folder, trust=trust, live=live if running else Live(target=target))
            taken = time.monotonic() - begun
        if running:
            sleep(max(every_s, taken / LARGEST_SHARE))


def leave_page(folder: Path, *, trust: bool = False) -> None:
    """Write the page of a search that is watched no more: no browser reads it again.

    Args:
        folder: of the run; without a page or an evaluation nothing is written.
        trust: as of `watch_pages`.
    Raises:
        RequestError: no run is there, or its task is not trusted.
    """
    run = RunFolder.open(folder)
    target = run.path / WATCH_FILE
    if is_file(target) and run.read_batches(candidates=False):
        said = f"{_standing(run)} Nobody has watched since." if is_locked(run.path) else None
        write_report(folder, trust=trust, live=Live(target=target, said=said))


def _standing(run: RunFolder) -> str:
    """Say when a search was running, in local time, and how far it was."""
    begun = time.strftime("Running at %H:%M:%S on %Y-%m-%d")
    try:
        status = read_progress(run.status_file)
    except RequestError:  # it is not there before the first batch, or a power cut took it
        return f"{begun}."
    left = status["time_left_s"]
    ends = "" if left is None else f", {clock_time(left)} left"
    return f"{begun}: {status['spent']:.0%} of the budget is spent{ends}."
