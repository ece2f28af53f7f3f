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
    run_table,
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
    """Run the DUETS paper's figure, and measure how regret and communication grow; minutes."""
    from rolecast.benchmarks.bandits.cells import all_runs, quick_runs
    from rolecast.benchmarks.bandits.page import DUETS_TABLE, PART_NAMES
    from rolecast.core.errors import require_known

    require_known("--part", part or (), PART_NAMES)
    runs = quick_runs() if quick else all_runs(seeds)
    filters = [*(only or []), *(f"part={name}" for name in part or ())]
    folder = folder_of(out, quick=quick)
    run_table(DUETS_TABLE, runs, filters, folder, processes=processes, json=json, fresh=fresh)
