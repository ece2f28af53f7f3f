"""docs/results/faults.md."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from rolecast.benchmarks.result_table import markdown_table

PART_TEXTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "searches": (
            "## Searches",
            "",
            "Real are the search loop, journal, run folder, checkpoints, optimiser session and the",
            "driver of rollout actors. The history, held-out return and weights must be those of",
            "the undisturbed search, bit by bit. No batch that was kept may be lost on the way (a",
            "power cut may take those of the last second), and a batch must come within ten",
            "minutes, but where as many answers as there are actors are late.",
        ),
        "comparisons": (
            "## Comparisons",
            "",
            "Real are the trials of searches and learners, their folders and records, the driver's",
            "watch, its table and its resume; simulated are Tune and what a learner computes. The",
            "table, each search's returns and weights must be those of the undisturbed comparison,",
            "bit by bit. No report that the driver has got may be lost, by a power cut either, a",
            "trial is given up only after its process has ended three times, and a resume runs it",
            "again.",
        ),
    }
)
"""What is said of each part."""


DAMAGE_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {"refused": "refused", "read alike": "harmless", "read as other values": "other_values"}
)
"""Column of the damaged files to its figure."""


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page of the schedules that were run."""
    lines = [
        "# Searches and comparisons under simulated faults",
        "",
        "Disk, clock, cluster and processes are simulated. Each schedule disturbs a run at points",
        "drawn from its seed, and resumes it until it ends. Each message must be one sentence, and",
        "nothing may be left behind. Mutants of what keeps a run, such as a sync left out or a",
        "replay that skips a batch, are found within 1,000 schedules each, but for two: one needs",
        "a node lost just before an answer, one a power cut while a journal is emptied",
        "(`tests/benchmarks/faults`).",
        "",
    ]
    for part, text in PART_TEXTS.items():
        if part in results:
            lines += [*text, "", *_figures(results[part])]
    if "damage" in results:
        lines += _damage(results["damage"])
    if "soak" in results:
        lines += _soak(results["soak"])
    named = [bool(part.get("commit")) for part in results.values()]
    if any(named) and not all(named):
        lines += ["Parts that name no commit are of earlier code.", ""]
    if any((part.get("commit") or "").endswith("+") for part in results.values()):
        lines += ["`+` behind a commit: there were uncommitted changes.", ""]
    lines += [
        "A seed again, point by point: `rolecast bench faults --schedules 1 --seed 4711 --points`.",
        "",
    ]
    return "\n".join(lines)


def _commit(part: Mapping[str, Any]) -> str:
    """Return which commit's code made a part; nothing where none was noted."""
    return f" at commit {part['commit']}" if part.get("commit") else ""


def _damage(part: Mapping[str, Any]) -> list[str]:
    """Return the section of mutated files."""
    columns = {name: key for name, key in DAMAGE_COLUMNS.items() if key in part}
    rows = [
        (f"`{name}`", *(f"{part[key][name]:,}" for key in columns.values()))
        for name in part["refused"]
    ]
    return [
        "## Damaged files",
        "",
        "Files of a run are cut off, flipped in a bit, blanked in part, repeated in part, or have",
        "another JSON value, sealed wrongly or not at all; then all that commands read is read. A",
        "mutation must be refused in one sentence, or leave the history as it was. One that is",
        "read as other values is mostly a JSON value without a seal, as a person leaves it.",
        "",
        f"{part['mutations']:,} mutations: **{len(part['broken'])} were read as another history or",
        "ended without a sentence**.",
        "",
        markdown_table(("file", *columns), rows),
        "",
        f"Made by `{part['command']} --out docs/results`{_commit(part)}.",
        "",
    ]


def _soak(part: Mapping[str, Any]) -> list[str]:
    """Return the section of real processes."""
    kills = [(kind, f"{count:,}") for kind, count in part["kills"].items()]
    runs = [(run["run"], run["resumed"], run["finished"], run["equal"]) for run in part["runs"]]
    texts = {re.sub(r"\d+", "N", text) for run in part["runs"] for text in run["said"]}
    said = [f"- {text}" for text in sorted(texts)] or ["- none"]
    commands = ", ".join(f"`{command}`" for command in part["commands"])
    return [
        "## Real processes",
        "",
        "Four searches and a comparison at once on a real cluster of this machine, a head and 3",
        "nodes, and one process after the other killed by SIGKILL, kinds and pauses drawn from one",
        "seed. A driver that has ended is started again, as a user resumes it; a node comes back",
        "after some seconds. Each run that ends is compared bit by bit with an undisturbed one.",
        "",
        f"{sum(part['kills'].values()):,} kills in {part['hours']:g} hours, "
        f"{part['longest_hours']:g} of them at a stretch; "
        f"{len(part['hanging'])} runs hung at the end.",
        "",
        markdown_table(("killed", "times"), kills),
        "",
        markdown_table(("run", "resumed", "finished", "equal"), runs),
        "",
        "Drivers that ended with an error of their own were resumed too. They said:",
        "",
        *said,
        "",
        f"Made by {commands}{', added by `--add`' if len(part['commands']) > 1 else ''}.",
        "",
    ]


def _figures(part: Mapping[str, Any]) -> list[str]:
    """Return what was run of a part."""
    struck = [(kind, f"{count:,}") for kind, count in part["kinds"].items()]
    return [
        f"{part['schedules']:,} schedules, {part['faults']:,} faults, {part['lives']:,} drivers, "
        f"{part['points']:,} points: **{len(part['failed'])} failed**.",
        f"{part['simulated_hours']:,} simulated hours in {part['core_s']:,} s of a core: "
        f"{part['real_time_ratio']:,} times real time.",
        "",
        markdown_table(("fault", "struck"), struck),
        "",
        f"Made by `{part['command']} --out docs/results`{_commit(part)}.",
        "",
    ]
