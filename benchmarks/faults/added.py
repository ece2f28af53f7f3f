"""Figures of schedules of other seeds, which `rolecast bench faults --add` adds to those of a run.

They are read and refused before anything is run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json

SUMMED_FIGURES: Final = ("lives", "faults", "points", "simulated_hours", "wall_s", "core_s")
"""Figures that add up over ranges of seeds."""

ADDED_FIELDS: Final = ("schedules", "first_seed", "failed", "kinds", "command", *SUMMED_FIGURES)
"""What the figures of a range of seeds have."""

SOAK_FIELDS: Final = ("hours", "longest_hours", "seeds", "kills", "runs", "hanging", "commands")
"""What the figures of a soak have."""


def read_added(part: str, files: Sequence[Path], fields: Iterable[str]) -> list[dict[str, Any]]:
    """Return figures of a part, as --json printed them or as --out wrote them.

    Args:
        part: of which they have to be.
        files: with figures of that part.
        fields: what the figures have.
    Raises:
        RequestError: a file has none of this part.
    """
    found = []
    for file in files:
        read = read_json(file)
        figures = read.get(part, read)
        commands = [figures.get("command", ""), *figures.get("commands", ())]
        if any(name not in figures for name in fields) or not any(
            f"--part {part} " in command for command in commands
        ):
            raise RequestError(f"--add {file} has no figures of part {part}; expected some")
        found.append(figures)
    return found


def require_adjoining(parts: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Return the first seed of ranges of seeds, and the one after the last.

    Raises:
        RequestError: a range does not begin where the one before ends.
    """
    ordered = sorted(parts, key=lambda part: part["first_seed"])
    first = end = ordered[0]["first_seed"]
    for part in ordered:
        if part["first_seed"] != end:
            raise RequestError(
                f"seeds begin at {part['first_seed']}; expected {end}, where those before end"
            )
        end += part["schedules"]
    return first, end


def joined(subject: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of ranges of seeds together; errors as of `require_adjoining`."""
    first, end = require_adjoining(parts)
    sums, kinds = Counter[str](), Counter[str]()
    for part in parts:
        kinds.update(part["kinds"])
        sums.update({name: part[name] for name in SUMMED_FIGURES})
    return {
        "schedules": end - first,
        "first_seed": first,
        "failed": sorted(seed for part in parts for seed in part["failed"]),
        **{name: round(sums[name], 1) for name in SUMMED_FIGURES},
        "kinds": dict(sorted(kinds.items())),
        "real_time_ratio": round(3600 * sums["simulated_hours"] / max(0.1, sums["core_s"])),
        "command": f"rolecast bench faults --part {subject} --schedules {end - first} "
        f"--seed {first}",
    }
