"""`rolecast top`: how a running search is doing, from another terminal."""

import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.platform.cli.output import Json, print_json, say, warn

REFRESH_S: Final = 1.0
"""Time between two looks at the folder."""


def top(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the run.")],
    *,
    once: Annotated[bool, typer.Option("--once", help="Show it once and end.")] = False,
    json: Json = False,
) -> None:
    """Follow a running search: what is spent, its speed, how long workers wait, and where they are.

    Ends with the search, also where that was killed, or by Ctrl-C, which does not touch it.

    Example: rolecast top runs/hunt
    """
    from rich.console import Console
    from rich.live import Live

    from rolecast.core.locks import is_locked
    from rolecast.platform.search.progress import ProgressSnapshot, table

    def drawn(values: dict[str, Any]) -> Any:
        return table(ProgressSnapshot(**{k: v for k, v in values.items() if k != "time"}))

    console = Console(highlight=False, markup=False)
    try:
        _await_first(folder)
        status, finished = _read(folder)
        if json:
            print_json({**status, "finished": finished})
            return
        if once or finished or not is_locked(folder):
            console.print(drawn(status))
        else:
            with Live(drawn(status), console=console) as view:
                while not finished and is_locked(folder):
                    time.sleep(REFRESH_S)
                    status, finished = _read(folder)
                    view.update(drawn(status))
    except KeyboardInterrupt:
        return
    if finished:
        say("the search has finished")
    elif is_locked(folder):
        say(f"as of {time.time() - status['time']:.0f} s ago")
    else:
        say(f"no search runs any more; next: rolecast resume {in_shell(folder)}")


def _await_first(folder: Path) -> None:
    """Wait for the first batch of a search that runs."""
    from rolecast.core.files import is_file
    from rolecast.core.locks import is_locked
    from rolecast.platform.search.records.run_folder import RunFolder

    status_file, told = RunFolder(folder).status_file, False
    while not is_file(status_file) and is_locked(folder):
        if not told:
            warn("the search has not finished its first batch; waiting for it")
        told = True
        time.sleep(REFRESH_S)


def _read(folder: Path) -> tuple[dict[str, Any], bool]:
    """Return the status that a search wrote last, and whether the search has finished after it.

    Raises:
        RequestError: no search has written one there.
    """
    from rolecast.core.files import is_file
    from rolecast.platform.search.progress import read_progress
    from rolecast.platform.search.records.run_folder import RunFolder

    run = RunFolder(folder)
    if not is_file(run.status_file):
        raise RequestError(
            f"no search has told where it stands in {str(folder)!r}; expected the folder of a "
            "search after its first batch"
        )
    return read_progress(run.status_file), run.read_summary() is not None
