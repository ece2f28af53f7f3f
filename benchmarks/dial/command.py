"""`rolecast bench dial`: the command."""

from pathlib import Path
from typing import Annotated

import typer

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    TrustLearners,
    file_option,
    folder_of,
    only_option,
    run_trials,
)
from rolecast.core.errors import RequestError
from rolecast.platform.cli.output import Json


def dial_table(
    *,
    task: Annotated[
        str, typer.Option(help="Task: pred_prey_3, drone_delivery_3 or swimmer.")
    ] = "pred_prey_3",
    long: Annotated[
        bool, typer.Option("--long", help="At 800,000 env steps; of pred_prey_3 alone.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help=r"Seeds 0 to N - 1. \[default: the dial's own, 5 or 3]"),
    ] = None,
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

    A finished trial is kept and not run again, one that is stopped goes on where it was; the page
    and the pictures are written anew at the end of each call.
    """
    from rolecast.benchmarks.dial import table
    from rolecast.benchmarks.dial.dials import TEAM_DIAL, dial_of

    dial = dial_of(task, long=long)
    if readme is not None and dial is not TEAM_DIAL:
        raise RequestError(f"--readme {readme}: a README shows the first dial alone")
    asked = seeds or dial.experiment.seeds
    trials = table.quick_dial_trials(dial) if quick else table.dial_trials(dial, asked)
    made, folder = table.table_of(dial), folder_of(out, quick=quick)
    run_trials(
        made, trials, only, folder, readme, processes=processes, json=json, fresh=fresh, trust=trust
    )
