"""`rolecast watch`: the report of a running search in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.errors import ConfigError
from rolecast.core.files import in_shell
from rolecast.platform.cli.output import say
from rolecast.platform.cli.trust import Trust


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the run.")],
    *,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", help="Least time between two pages.")
    ] = 5.0,
    trust: Trust = False,
) -> None:
    """Write watch.html into the folder of a running search, again and again; a browser reloads it.

    The page is the report without its film, in one file that loads nothing. Ends with the search,
    or by Ctrl-C, which does not touch the search.

    Example: rolecast watch runs/hunt
    """
    if not 0.0 < every < 1e6:
        raise ConfigError("--every", every, "seconds above 0")
    from rolecast.platform.reports.watch import leave_page, watch_pages
    from rolecast.platform.search.records.run_folder import RunFolder

    try:
        for number, page in enumerate(watch_pages(folder, every_s=every, trust=trust)):
            if number == 0:
                say(f"open {in_shell(page)}")
    except KeyboardInterrupt:
        leave_page(folder, trust=trust)
        return
    finished = RunFolder.open(folder).read_summary() is not None
    ended = "the search has finished" if finished else "no search runs any more"
    say(f"{ended}; next: rolecast {'report' if finished else 'resume'} {in_shell(folder)}")
