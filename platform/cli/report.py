"""`rolecast report`: the report of a run or of a comparison, one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.core.errors import RequestError
from rolecast.platform.cli.output import MARL_EVAL, Format, Json, check_format, print_json, say
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
    beside: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="JSON of marl-eval or BenchMARL to show with it; many."),
    ] = None,
    format_: Format = "html",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write report.html into the folder of a run or of a comparison, finished or not.

    That of a run holds the learning curve, the structure found, an episode and all settings; that
    of a comparison all methods side by side, and its figures and pictures lie beside it as
    report/*.csv and report/*.png. It needs no other file and no network. With `--format marl-eval`
    a comparison writes marl-eval.json instead, for marl-eval's and BenchMARL's own pages.
    """
    check_format(format_)
    from rolecast.platform.reports.bandit import write_bandit_report
    from rolecast.platform.reports.comparison.page import (
        write_comparison_report,
        write_exchange_file,
    )
    from rolecast.platform.reports.run import write_report
    from rolecast.platform.search.bandit.folder import BanditFolder
    from rolecast.platform.search.records.measurements import complete_run
    from rolecast.platform.tuning.comparison_folder import ComparisonFolder
    from rolecast.platform.tuning.yardsticks import complete_comparison

    if ComparisonFolder(folder).known:
        complete_comparison(folder, trust=trust)
        if format_ == MARL_EVAL:
            written = write_exchange_file(folder)
        else:
            written = write_comparison_report(folder, pairs=pair or (), beside=beside or ())
    elif pair or beside or format_ == MARL_EVAL:
        name = "--pair" if pair else "--beside" if beside else f"--format {MARL_EVAL}"
        raise RequestError(f"{name} is for the folder of a comparison; {folder} is none")
    elif BanditFolder(folder).known:
        written = write_bandit_report(folder)
    else:
        complete_run(folder, trust=trust)
        written = write_report(folder, trust=trust)
    if json:
        print_json({"report": str(written)})
    else:
        say(f"open {written}")
