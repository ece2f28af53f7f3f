"""docs/results/faults.md."""

from collections.abc import Mapping
from typing import Any

from rolecast.benchmarks.result_table import markdown_table


def page(results: Mapping[str, Any]) -> str:
    """Return the page of the schedules that were run."""
    failed = len(results["failed"])
    struck = [(kind, f"{count:,}") for kind, count in results["kinds"].items()]
    lines = [
        "# Searches under simulated faults",
        "",
        "What is run is the real search loop, journal, run folder, checkpoints, optimiser session",
        "and driver of rollout actors; disk, clock, cluster and processes are simulated. Each",
        "schedule disturbs a search at points drawn from its seed, and resumes it until it ends.",
        "Then its history, held-out return and weights must be those of the undisturbed search,",
        "bit by bit. No batch that was kept may be lost on the way (a power cut may take those of",
        "the last second), each message must be one sentence, a batch must come within ten",
        "minutes whatever is lost, and nothing may be left behind. Mutants of what keeps a run,",
        "such as a sync left out or a replay that skips a batch, are found within 1,000",
        "schedules each, but for one that only a node lost just before an answer shows",
        "(`tests/benchmarks/faults/test_mutants.py`).",
        "",
        f"{results['schedules']:,} schedules, {results['faults']:,} faults, "
        f"{results['lives']:,} drivers, {results['points']:,} points: **{failed} failed**.",
        f"{results['simulated_hours']:,} simulated hours in {results['core_s']:,} s of a core: "
        f"{results['real_time_ratio']:,} times real time.",
        "",
        markdown_table(("fault", "struck"), struck),
        "",
        f"Made by `{results['command']} --out docs/results`; a seed again, point by point:",
        "`rolecast bench faults --schedules 1 --seed 4711 --points`.",
        "",
    ]
    return "\n".join(lines)
