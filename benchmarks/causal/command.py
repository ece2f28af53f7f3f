"""`rolecast bench causal`: what causal searches find, and how fast their acquisition is."""

from typing import Annotated, Final

import typer

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    Seeds,
    folder_of,
    only_option,
    part_option,
    run_table,
    write_results,
)
from rolecast.platform.cli.output import Json, print_table, say

CAUSAL_PARTS: Final = ("figures", "acquisition", "team")
CUDA_ACQUISITION: Final = "cuda_acquisition"
"""A part that is measured only if it is named: it needs a device."""


def causal_results(
    *,
    part: Annotated[
        list[str] | None, part_option("figures, acquisition, team or cuda_acquisition")
    ] = None,
    seeds: Seeds = 5,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each search.")] = 100,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("task=, method= or seed=")] = None,
    processes: Processes = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run causal searches side by side, and time the batched acquisition; hours, in pieces.

    A finished search is kept in causal.json and not run again.
    """
    from rolecast.benchmarks.causal import acquisition, figures, team
    from rolecast.core.errors import require_known

    require_known("--part", part or (), (*CAUSAL_PARTS, CUDA_ACQUISITION))
    folder = folder_of(out, quick=quick)
    if CUDA_ACQUISITION in (part or ()):
        from rolecast.benchmarks.speed.cuda import CUDA_DEVICE, machine, require_cuda

        require_cuda()
        timed = acquisition.measure_device(CUDA_DEVICE, quick=quick, note=say)
        write_results(folder, "causal_cuda", machine() | {"rows": timed}, None, json=json)
    if "acquisition" in (part or CAUSAL_PARTS):
        results = acquisition.measure_all(1 if quick else seeds, quick=quick)
        if not json:
            rows = [
                (task, *(f"{each[name]:.4g}" for name in each))
                for task, measured in results.items()
                for each in measured
            ]
            first = next(iter(results.values()))[0]
            print_table(("task", *(name.replace("_", " ") for name in first)), rows)
        write_results(folder, "causal_acquisition", results, None, json=json)
    if "figures" in (part or CAUSAL_PARTS):
        runs = figures.quick_figure_runs() if quick else figures.figure_runs(seeds, rounds)
        run_table(
            figures.FIGURE_TABLE, runs, only, folder, processes=processes, json=json, fresh=fresh
        )
    if "team" in (part or CAUSAL_PARTS) and not quick:
        run_table(
            team.TEAM_TABLE,
            team.team_runs(seeds),
            only,
            folder,
            processes=processes,
            json=json,
            fresh=fresh,
        )
