"""`rolecast bench duets`."""

from typing import Annotated

from rolecast.benchmarks.options import (
    Fresh,
    Out,
    Processes,
    Quick,
    Seeds,
    folder_of,
    only_option,
    part_option,
    tell,
)
from rolecast.platform.cli.output import Json

DuetsParts = Annotated[list[str] | None, part_option("figure, rounds, agents, server or cluster")]


def duets_table(
    *,
    part: DuetsParts = None,
    seeds: Seeds = 5,
    quick: Quick = False,
    fresh: Fresh = False,
    only: Annotated[list[str] | None, only_option("function=, method=, beta= or seed=")] = None,
    processes: Processes = 2,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run the DUETS paper's figure, and measure how regret and communication grow; minutes.

    Each method has the beta of its least regret in the figure on the simulated cluster, whose cells
    are run after those of the figure.
    """
    from rolecast.benchmarks.bandits.cells import BanditRun, all_runs, cluster_runs, quick_runs
    from rolecast.benchmarks.bandits.cluster import best_betas
    from rolecast.benchmarks.bandits.page import DUETS_TABLE, PART_NAMES
    from rolecast.benchmarks.result_table import chosen, forget_rows, read_rows
    from rolecast.core.errors import RequestError, require_known
    from rolecast.platform.cli.output import warn

    require_known("--part", part or (), PART_NAMES)
    folder = folder_of(out, quick=quick)
    path = folder / DUETS_TABLE.file

    def asked() -> list[BanditRun]:
        found = best_betas(read_rows(path))
        every = quick_runs() if quick else [*all_runs(seeds), *cluster_runs(seeds, found)]
        if quick:
            require_known("--part with --quick", part or (), {run.part for run in every})
        mine = [run for run in every if not part or run.part in part]
        if not mine:
            raise RequestError(f"{path} has no rows of the figure; expected --part figure, too")
        return chosen(mine, only or [], DUETS_TABLE.kinds)

    if fresh:
        forget_rows(path, asked(), warn)
    first = [run for run in asked() if run.part != "cluster"]
    rows = DUETS_TABLE.run_missing(first, folder, processes=processes, note=warn)
    if others := [run for run in asked() if run.part == "cluster"]:
        rows = DUETS_TABLE.run_missing(others, folder, processes=processes, note=warn)
    tell(rows, DUETS_TABLE.write(rows, folder), json=json)
