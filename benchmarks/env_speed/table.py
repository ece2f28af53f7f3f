"""The speed of the environments for readers: rows of a table, and Markdown."""

from collections.abc import Mapping
from typing import Any, Final

from rolecast.benchmarks.table_text import machine_line, number, spread, table

TABLE_HEAD: Final = ("side", "env-steps/s", "of three", "measured", "ratio")


def rows(results: Mapping[str, Any], group: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row of `TABLE_HEAD` for each side of a group, that compared with last.

    Args:
        results: of `measure_all`.
        group: one of its groups.
    """
    ratios = results[group["ratio"]] if group["ratio"] else {}
    names = sorted(group["sides"], key=lambda name: name == group["base"])
    found: list[tuple[str, ...]] = []
    for name in names:
        side = results["sides"][name]
        cores = "one core" if side["cores"] == 1 else f"{side['cores']} cores"
        ratio = "1" if name == group["base"] else number(ratios[name]) if name in ratios else "-"
        found.append(
            (
                name,
                number(side["median"]),
                spread(side["repeats"]),
                f"{side['clock']}, {cores}",
                ratio,
            )
        )
    return found


def compared(results: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    """Return what the ratios of a group are to, or what to install for them; empty for neither."""
    if group["base"] in results["missing"]:
        return f"{group['base']} is not installed: {results['missing'][group['base']]}"
    return f"Ratio to {group['base']}." if group["base"] else ""


def markdown(results: Mapping[str, Any]) -> str:
    """Return the whole result as Markdown."""
    parts = [
        "# Speed of the environments\n",
        "Median of three measurements in turn, and their range. Written by `rolecast bench envs`; "
        "every repeat is in envs.json. Processor time is that of one core and does not count what "
        "others do on the machine; wall time does. A ratio compares medians by the same clock.\n",
        f"{machine_line(results['machine'])} CUDA was not timed unless a side says so.\n",
    ]
    for group in results["groups"]:
        lines = [TABLE_HEAD, ("---", "---:", "---:", "---", "---:"), *rows(results, group)]
        said = compared(results, group)
        parts.append(f"## {group['title']}\n\n{table(lines)}\n" + (f"\n{said}\n" if said else ""))
    return "\n".join(parts)
