"""What a page says of the rows that it is made of: their commits, and settings of older plans.

A row is known by its key alone, so that it stays when its cell or the code is changed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

COMMIT_KEY: Final = "commit"
"""Of a row: commits whose code made it, "+" where sources were changed; older rows have none."""

OTHER_SETTINGS: Final = (
    "name other settings than the table now does (what a row leaves out was the default of its "
    "version)"
)
"""Said of rows whose settings are not those of the plan."""

MOST_NAMES: Final = 12
"""Names of rows in one sentence; how many more there are is told."""


def commits_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence that names the commits whose code made the rows, or says who does not."""
    known = [row[COMMIT_KEY] for row in rows if row.get(COMMIT_KEY)]
    names = dict.fromkeys(commit for each in known for commit in each.split())
    of = f"commit{'s' if len(names) > 1 else ''} {', '.join(f'`{name}`' for name in names)}"
    if len(known) == len(rows):
        return f"Rows were made by the code of {of}."
    silent = f"{len(rows) - len(known)} of {len(rows)} rows do not say which commit made them"
    return f"{silent}; the others are of {of}." if known else f"{silent}."


def differing_text(
    rows: Sequence[Mapping[str, Any]], differing: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str:
    """Say which of some rows differ from their plan.

    Args:
        rows: those that the plan has.
        differing: what is said of rows, to those of which it is so.
    Returns:
        Sentences that name the rows without their seeds; empty where none differs.
    """
    sentences = []
    for what, found in differing.items():
        names = _listed(dict.fromkeys(row["key"].rpartition(" / ")[0] for row in found))
        if found and len(found) == len(rows):
            sentences.append(f"All {len(rows)} rows {what}.")
        elif found:
            sentences.append(f"{len(found)} of {len(rows)} rows {what}: {names}.")
    return " ".join([*sentences, "`--fresh` makes them anew."]) if sentences else ""


def _listed(names: Iterable[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    left = len(quoted) - MOST_NAMES
    return ", ".join(quoted[:MOST_NAMES]) + (f" and {left} more" if left > 0 else "")


def other_settings_text(
    planned: Mapping[str, Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> str:
    """Say which rows name other settings than their cells now have.

    Args:
        planned: settings of cells, by key.
        rows: those that are there, of these cells and others; "settings" is their own.
    """
    mine = [row for row in rows if row["key"] in planned]
    plain = json.loads(json.dumps({row["key"]: dict(planned[row["key"]]) for row in mine}))
    others = [row for row in mine if row.get("settings", plain[row["key"]]) != plain[row["key"]]]
    return differing_text(mine, {OTHER_SETTINGS: others})
