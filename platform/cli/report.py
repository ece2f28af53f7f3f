"""`rolecast report`: the report of a run or of a comparison, one HTML file."""

from pathlib import Path
from typing import Annotated, Final

import typer

from rolecast.core.errors import RequestError
from rolecast.core.files import in_shell
from rolecast.platform.cli.documented import option_text
from rolecast.platform.cli.multirun import searches_in
from rolecast.platform.cli.output import (
    MARL_EVAL,
    Format,
    Json,
    check_format,
    print_json,
    say,
    warn,
)
from rolecast.platform.cli.trust import Trust

MOST_TRIAL_REPORTS: Final = 20
"""Reports of searches that are written with that of their comparison, if not asked otherwise."""


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folder of a run or a comparison, or several runs."),
    ],
    *,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD:METHOD",
            help=option_text(
                "Show the probability that the first method beats the second; repeatable. "
                "Default: each search against each learner."
            ),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help=option_text("Page of several runs. Default: report.html.")
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="JSON of marl-eval or BenchMARL to show with it; repeatable."
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=option_text(
                "Reports of finished searches to write with that of their comparison, at most; "
                "those that have one keep it.",
                MOST_TRIAL_REPORTS,
            ),
        ),
    ] = None,
    format_: Format = "html",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Write report.html into the folder of a run or of a comparison, finished or not.

    That of a run holds the learning curve, single episodes, diagnostics, the structure found, a
    film and all settings; that of a comparison all methods side by side, with links to the reports
    of its searches, which are written too. Its figures and pictures lie beside it as report/*.csv
    and report/*.png. Several runs of one task become one page, and so do those of a folder of
    `search --multirun`. It needs no other file and no network. With `--format marl-eval` a
    comparison writes marl-eval.json instead, for marl-eval's and BenchMARL's own pages.

    Example: rolecast report runs/a runs/b runs/c --out abc.html
    """
    check_format(format_)
    if trials is not None and trials < 0:
        raise RequestError(f"--trials is {trials}; expected an integer >= 0")
    asked = {
        "--pair": pair,
        "--beside": beside,
        "--trials": trials is not None,
        f"--format {MARL_EVAL}": format_ == MARL_EVAL,
    }
    shown = [name for name in ("--pair", "--beside", "--trials") if asked[name]]
    if shown and format_ == MARL_EVAL:
        raise RequestError(f"{shown[0]} is for the page; expected none with --format {MARL_EVAL}")
    if len(folders) == 1 and (together := searches_in(folders[0])):
        begun = _with_evaluations(folders[0], together)
        page = folders[0] / "report.html" if len(begun) > 1 else None
        folders, out = begun, out or page
    for_comparisons = next((name for name, given in asked.items() if given), "")
    if len(folders) > 1:
        if for_comparisons:
            raise RequestError(f"{for_comparisons} is for one comparison; expected one folder")
        written = _several(folders, out, trust=trust)
    elif out is not None:
        raise RequestError(f"--out is for several runs; the report of {folders[0]} lies in it")
    elif _is_comparison(folders[0]):
        most = MOST_TRIAL_REPORTS if trials is None else trials
        written = (
            _exchange(folders[0])
            if format_ == MARL_EVAL
            else _comparison(folders[0], pair or [], beside or [], most, trust=trust)
        )
    elif for_comparisons:
        raise RequestError(
            f"{for_comparisons} is for the folder of a comparison; {folders[0]} is none"
        )
    else:
        written = _one(folders[0], trust=trust)
    if json:
        print_json({"report": str(written)})
    else:
        say(f"open {in_shell(written)}")


def _with_evaluations(folder: Path, searches: list[Path]) -> list[Path]:
    """Return the searches of a --multirun folder that have evaluated something.

    Raises:
        RequestError: none has.
    """
    from rolecast.platform.search.records.run_folder import RunFolder

    runs = [RunFolder(each) for each in searches]
    begun = [run.path for run in runs if run.run_file.is_file() and run.read_batches()]
    if not begun:
        raise RequestError(f"no search in {folder} has an evaluation yet")
    if left := [in_shell(each) for each in searches if each not in begun]:
        warn(f"without an evaluation yet, and left out: {', '.join(left)}")
    return begun


def _is_comparison(folder: Path) -> bool:
    from rolecast.platform.tuning.comparison_folder import ComparisonFolder

    return ComparisonFolder(folder).known


def _comparison(
    folder: Path, pairs: list[str], beside: list[Path], most: int, *, trust: bool
) -> Path:
    """Write the reports of a comparison's searches, at most some, and its own."""
    from rolecast.platform.reports.comparison.page import (
        require_reportable,
        write_comparison_report,
    )
    from rolecast.platform.reports.comparison.trial_reports import write_trial_reports
    from rolecast.platform.tuning.yardsticks import complete_comparison

    require_reportable(folder, pairs=pairs, beside=beside)
    if left := write_trial_reports(folder, most=most, trust=trust, note=warn):
        warn(f"finished searches without a report: {left}; --trials {most + left} writes all")
    complete_comparison(folder, trust=trust)
    return write_comparison_report(folder, pairs=pairs, beside=beside)


def _exchange(folder: Path) -> Path:
    """Write the results of a comparison for marl-eval."""
    from rolecast.platform.reports.comparison.page import write_exchange_file

    return write_exchange_file(folder)


def _one(folder: Path, *, trust: bool) -> Path:
    """Write the report of one run."""
    from rolecast.platform.reports.run import write_measured_report
    from rolecast.platform.search.bandit.folder import BanditFolder

    if BanditFolder(folder).known:
        from rolecast.platform.reports.bandit import write_bandit_report

        return write_bandit_report(folder)
    return write_measured_report(folder, trust=trust)


def _several(folders: list[Path], out: Path | None, *, trust: bool) -> Path:
    """Write one page of several runs."""
    from rolecast.platform.reports.several import write_report_of_several
    from rolecast.platform.search.records.measurements import complete_run

    for folder in folders:
        complete_run(folder, trust=trust)
    return write_report_of_several(folders, out or Path("report.html"))
