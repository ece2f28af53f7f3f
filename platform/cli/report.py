"""`rolecast report`: the report of a run or of a comparison, one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.errors import RequestError
from rolecast.platform.cli.output import Json, print_json, say
from rolecast.platform.cli.trust import Trust


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the run or of the comparison.")
    ],
    *,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD:METHOD",
            help="Is the first better? [default: each search, each learner]; many.",
        ),
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write report.html into the folder of a run or of a comparison, finished or not.

    That of a run holds the learning curve, the structure found, an episode and all settings; that
    of a comparison all methods side by side, and its figures and pictures lie beside it as
    report/*.csv and report/*.png. It needs no other file and no network.
    """
    from rolecast.platform.reports.bandit import write_bandit_report
    from rolecast.platform.reports.comparison.page import write_comparison_report
    from rolecast.platform.reports.run import write_report
    from rolecast.platform.search.bandit.folder import BanditFolder
    from rolecast.platform.search.records.measurements import complete_run
    from rolecast.platform.tuning.comparison_folder import ComparisonFolder
    from rolecast.platform.tuning.yardsticks import complete_comparison

    if ComparisonFolder(folder).known:
        complete_comparison(folder, trust=trust)
        written = write_comparison_report(folder, pairs=pair or ())
    elif pair:
        raise RequestError(f"--pair is for the folder of a comparison; {folder} is none")
    elif BanditFolder(folder).known:
        written = write_bandit_report(folder)
    else:
        complete_run(folder, trust=trust)
        written = write_report(folder, trust=trust)
    if json:
        print_json({"report": str(written)})
    else:
        say(f"open {written}")
