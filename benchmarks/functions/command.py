"""`rolecast bench optimizers` and `competitors`: the commands."""

from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    Seeds,
    filled_table,
    folder_of,
    only_option,
    run_table,
    tell,
)
from rolecast.platform.cli.output import Json, warn

if TYPE_CHECKING:
    import pandas as pd


def optimizers_table(
    *,
    seeds: Seeds = 5,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("problem=, kind=, contestant= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run every optimiser, with and without structure, on functions of known optimum and policies.

    Some two hours of one core, in pieces as you like (`--only kind=policy`, say): a finished cell
    is kept at once, in optimizers.json or optimizers_policies.json.
    """
    from rolecast.benchmarks import policy_table
    from rolecast.benchmarks.experiment_table import forget_trials, run_missing_trials
    from rolecast.benchmarks.functions.known_page import KNOWN_TABLE, ratios
    from rolecast.benchmarks.functions.known_suite import known_runs, quick_known_runs
    from rolecast.benchmarks.functions.runs import FunctionRun
    from rolecast.benchmarks.result_table import chosen
    from rolecast.benchmarks.table_trials import TableTrial

    folder, table = folder_of(out, quick=quick), policy_table.POLICY_TABLE
    runs = quick_known_runs() if quick else known_runs(seeds)
    trials = policy_table.quick_policy_trials() if quick else policy_table.policy_trials(seeds)
    cells: list[FunctionRun | TableTrial] = chosen([*runs, *trials], only or [], KNOWN_TABLE.kinds)
    path = folder / table.file
    of_functions = [cell for cell in cells if isinstance(cell, FunctionRun)]
    of_policies = [cell for cell in cells if isinstance(cell, TableTrial)]
    if fresh:
        forget_trials(of_policies, path, warn)
    functions, written = filled_table(
        KNOWN_TABLE, of_functions, folder, processes=processes, fresh=fresh
    )
    searches = run_missing_trials(of_policies, path, table, processes=processes, note=warn)
    written += table.write(searches, folder)
    compared = {
        "ratios": plain_records(ratios(functions)),
        "gains": plain_records(policy_table.gains(searches)),
    }
    tell([*functions, *searches], written, json=json, **compared)


def competitors_table(
    *,
    seeds: Seeds = 3,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("problem=, contestant= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run every optimiser on functions with published results; hours, in pieces as you like.

    A finished cell is kept in competitors.json at once and not computed again.
    """
    from rolecast.benchmarks.functions.published import (
        PUBLISHED_TABLE,
        published_runs,
        quick_published_runs,
    )

    runs = quick_published_runs() if quick else published_runs(seeds)
    folder = folder_of(out, quick=quick)
    run_table(PUBLISHED_TABLE, runs, only, folder, processes=processes, json=json, fresh=fresh)


def plain_records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the lines of a frame as JSON has them: None where there is no figure."""
    return [
        {
            str(name): None if isinstance(value, float) and isnan(value) else value
            for name, value in line.items()
        }
        for line in frame.to_dict("records")
    ]
