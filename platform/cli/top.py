"""`rolecast top`: how a running search is doing, from another terminal."""

import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.platform.cli.output import Json, print_json, say

REFRESH_S: Final = 1.0
"""Time between two looks at the folder."""


def top(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the run.")],
    *,
    once: Annotated[bool, typer.Option("--once", help="Show it once and end.")] = False,
    json: Json = False,
) -> None:
    """Follow a running search: what is spent, its speed, how long workers wait, and where they are.

    Ends with the search, or by Ctrl-C, which does not touch the search.

    Example: rolecast top runs/hunt
    """
    from rich.console import Console
    from rich.live import Live

    from rolecast.platform.search.progress import ProgressSnapshot, table

    status, finished = _read(folder)
    if json:
        print_json({**status, "finished": finished})
        return

    def drawn(values: dict[str, Any]) -> Any:
        return table(ProgressSnapshot(**{k: v for k, v in values.items() if k != "time"}))

    console = Console(highlight=False, markup=False)
    if once or finished:
        console.print(drawn(status))
    else:
        try:
            with Live(drawn(status), console=console) as view:
                while not finished:
                    time.sleep(REFRESH_S)
                    status, finished = _read(folder)
                    view.update(drawn(status))
        except KeyboardInterrupt:
            return
    age = time.time() - status["time"]
    say("the search has finished" if finished else f"as of {age:.0f} s ago")


def _read(folder: Path) -> tuple[dict[str, Any], bool]:
    """Return the status that a search wrote last, and whether the search has finished after it.

    Raises:
        RequestError: no search has written one there.
    """
    from dataclasses import fields

    from rolecast.core.files import is_file, read_json
    from rolecast.platform.search.progress import ProgressSnapshot
    from rolecast.platform.search.records.run_folder import RunFolder

    run = RunFolder(folder)
    if not is_file(run.status_file):
        raise RequestError(
            f"no search has told where it stands in {str(folder)!r}; expected the folder of a "
            "search after its first batch"
        )
    status: dict[str, Any] = read_json(run.status_file)
    known = {each.name for each in fields(ProgressSnapshot)} | {"time"}
    if set(status) != known or not isinstance(status["time"], int | float):
        raise RequestError(f"{run.status_file} is damaged: its fields are not those of a search")
    summary = run.read_summary()
    done = summary is not None and summary.get("policy_evaluations") == status["evaluations"]
    return status, done
