"""What tables have in common when they are written for readers."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rolecast.benchmarks.result_table import SET_KEY
from rolecast.core.errors import RequestError
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET


def number(value: float) -> str:
    """Return a number with as many digits as one reads: 0.43, 7.1, 1,234."""
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def spread(values: Sequence[float]) -> str:
    """Return the least and the greatest of some numbers."""
    return f"{number(min(values))} to {number(max(values))}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]], rule: Sequence[str] = ()) -> str:
    """Return a table of Markdown.

    Args:
        head: names of the columns.
        lines: their entries.
        rule: how each column is aligned, "---:" to the right; empty: all to the left.
    """
    every = (head, rule or ("---",) * len(head), *lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in every)


def machine_line(machine: Mapping[str, Any]) -> str:
    """Return what `timing.machine` found, as a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cores, python = machine["cores"], machine["python"]
    return f"{machine['processor']}, {cores} cores; Python {python}, {versions}."


def sets_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return which held-out sets the rows of a table were scored on, and a warning of a mixture.

    Rows without a set are from before the sealed set.
    """
    counts = Counter(row.get(SET_KEY, DEVELOPMENT_SET) for row in rows)
    if len(counts) == 1:
        return f"the {next(iter(counts))} set"
    each = " and ".join(f"the {name} set ({count} rows)" for name, count in sorted(counts.items()))
    return f"{each}, which do not compare: `--fresh` makes all rows again"


def slug(name: str) -> str:
    """Return a name as a part of a file's: letters and digits, in lower case, joined by "_"."""
    return "_".join(re.findall(r"[^\W_]+", name.lower()))


def fill_region(page: Path, begin: str, end: str, text: str) -> bytes:
    """Return a page with the text between two marks replaced.

    Args:
        page: the file.
        begin: line before the region.
        end: line after it.
        text: new lines of the region, the last one ended.

    Raises:
        RequestError: the page is not there, or has no such region.
    """
    if not page.is_file():
        raise RequestError(f"{page} is no file; expected a page with a region for results")
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise RequestError(f"{page} has no region for results; expected {begin} … {end}")
    return f"{before}{begin}\n{text}{end}{after}".encode()
