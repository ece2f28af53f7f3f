"""`rolecast bench dial`: the command."""

from pathlib import Path
from typing import Annotated

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    Seeds,
    TrustLearners,
    file_option,
    folder_of,
    only_option,
    tell,
)
from rolecast.platform.cli.output import Json, warn


def dial_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("method=, reward= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    trust: TrustLearners = False,
    readme: Annotated[Path | None, file_option("README whose region is filled.")] = None,
    json: Json = False,
) -> None:
    """Run searches and learners with ever more broken reward; days of a core, in pieces.

    A finished trial is kept in dial.json and not run again, one that is stopped goes on where it
    was; the page and the picture are written anew at the end of each call.
    """
    from rolecast.benchmarks.dial import table
    from rolecast.benchmarks.experiment_table import forget_trials
    from rolecast.benchmarks.result_table import chosen

    path = folder_of(out, quick=quick) / table.DIAL_FILE
    every = table.quick_dial_trials() if quick else table.dial_trials(seeds)
    trials = chosen(every, only or [], table.DIAL_FILTERS)
    if fresh:
        forget_trials(trials, path, warn)
    rows = table.run_dial(trials, path, processes=processes, note=warn, trust=trust)
    tell(rows, [path, *table.write_dial(rows, path.parent, readme=readme)], json=json)
