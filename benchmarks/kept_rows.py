"""What a page says of the rows that it is made of: commits, budgets, and terms of older plans.

A row is known by its key alone, so that it stays when its cell or the code is changed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

from rolecast.platform.rollout.held_out import DEVELOPMENT_SET

COMMIT_KEY: Final = "commit"
"""Of a row: commits whose code made it, "+" where sources were changed; older rows have none."""

BUDGET_KEY: Final = "budget"
"""Of a row: env steps of its trial; where there is none, the last of those that it lists."""

SET_KEY: Final = "held_out_set"
"""Of a row: the set of held-out episodes that it was scored on; older rows have none."""

ROW_TERMS: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "are of other held-out episodes than the table now has": (SET_KEY, "test_episodes"),
        "are of another budget, batch size or places along it than the table now has": (
            "evaluations",
            "batch",
            BUDGET_KEY,
        ),
        "name other settings than the table now does (what a row leaves out was the default of "
        "its version)": ("policy", "policy_options", "settings", "search_terms"),
    }
)
"""What is said of rows of an older plan, to the fields that differ; one left out agrees."""

MOST_NAMES: Final = 12
"""Names of rows in one sentence; how many more there are is told."""


AnyRow = TypeVar("AnyRow", bound=Mapping[str, Any])


def of_one_budget(rows: Sequence[AnyRow]) -> list[AnyRow]:
    """Return the rows of the greatest budget: returns of different ones do not compare."""
    greatest = max(map(_budget, rows), default=0)
    return [row for row in rows if _budget(row) == greatest]


def other_budgets_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how many rows are left out for their budget; nothing where all have one."""
    left = len(rows) - len(of_one_budget(rows))
    return f"{left} of {len(rows)} rows are of smaller budgets and left out." if left else ""


def _budget(row: Mapping[str, Any]) -> int:
    return int(row[BUDGET_KEY] if BUDGET_KEY in row else row["env_steps"][-1])


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
    planned: Mapping[str, Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> str:
    """Say which rows differ from what their cells now have.

    Args:
        planned: fields of cells that `ROW_TERMS` names, by key.
        rows: those that are there, of these cells and others.
    Returns:
        Sentences that name the rows without their seeds; empty where none differs.
    """
    mine = [row for row in rows if row["key"] in planned]
    plain = json.loads(json.dumps({row["key"]: planned[row["key"]] for row in mine}))
    sentences = []
    for what, fields in ROW_TERMS.items():
        found = [row for row in mine if _differs(row, plain[row["key"]], fields)]
        names = _listed(dict.fromkeys(row["key"].rpartition(" / ")[0] for row in found))
        if found and len(found) == len(mine):
            sentences.append(f"All {len(mine)} rows {what}.")
        elif found:
            sentences.append(f"{len(found)} of {len(mine)} rows {what}: {names}.")
    return " ".join([*sentences, "`--fresh` makes them anew."]) if sentences else ""


def _differs(row: Mapping[str, Any], cell: Mapping[str, Any], fields: Sequence[str]) -> bool:
    known = {**cell, SET_KEY: DEVELOPMENT_SET, **row}
    return any(known[name] != cell[name] for name in fields if name in cell)


def _listed(names: Iterable[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    left = len(quoted) - MOST_NAMES
    return ", ".join(quoted[:MOST_NAMES]) + (f" and {left} more" if left > 0 else "")
