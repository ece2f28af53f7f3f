"""Writes the reports of a comparison's searches, so that its own page can link them."""

from collections.abc import Callable
from pathlib import Path

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.reports.run import write_measured_report
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.tuning.comparison_folder import ComparisonFolder


def write_trial_reports(
    out: str | Path,
    *,
    most: int,
    trust: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> int:
    """Write the reports of finished searches that have none.

    Args:
        out: folder of the comparison.
        most: reports to write at most, in the order of the trials.
        trust: make tasks, though their ids may run any code (`envs.trust`).
        note: tells the user of each report, and why one cannot be written.
    Returns:
        How many finished searches are left.
    Raises:
        RequestError: this is no comparison.
    """
    folder = ComparisonFolder(out)
    plans = folder.read_experiment()["trials"]
    runs = [folder.work(plan["trial"]).run for plan in plans]
    lacking = [
        run
        for run in runs
        if RunFolder(run).summary_file.is_file() and not (run / "report.html").is_file()
    ]
    chosen = lacking[:most]
    for number, run in enumerate(chosen, start=1):
        note(f"report {number} of {len(chosen)}: {run}")
        try:
            write_measured_report(run, trust=trust)
        except (RequestError, RunError) as error:  # the others, and the comparison's, are written
            note(f"no report of {run}: {error}")
    return len(lacking) - len(chosen)
