"""`rolecast report`: the report of a run, one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.platform.cli.output import Json, print_json, say


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the run.")],
    *,
    json: Json = False,
) -> None:
    """Write report.html into the folder of a run, finished or not.

    It holds the learning curve, the structure found, an episode and all settings, and needs no
    other file and no network.
    """
    from rolecast.platform.reports.report import write_report

    written = write_report(folder)
    if json:
        print_json({"report": str(written)})
    else:
        say(f"open {written}")
