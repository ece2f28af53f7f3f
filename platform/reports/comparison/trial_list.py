"""The list of a comparison's trials: what became of each, and links to what it has left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from rolecast.platform.reports.comparison.table import number
from rolecast.platform.reports.page import links, paragraph, section, table, wide


def trials_section(frame: pd.DataFrame, out: Path) -> Markup:
    """Return a row for every trial that was planned.

    Args:
        frame: of `table.trials`.
        out: folder of the comparison, in which the page lies.
    """
    head = ("trial", "status", "policy", "parameters", "env steps", "evaluations or episodes",
            "wall time, s", "env-steps/s", "held-out return", "files")  # fmt: skip
    rows = [
        (
            row["trial"],
            f"{row['status']}: {row['error']}" if row["error"] else row["status"],
            row["policy"],
            *(_whole(row[name]) for name in ("parameters", "env_steps", "policy_evaluations")),
            "-" if pd.isna(row["wall_time_s"]) else f"{row['wall_time_s']:,.1f}",
            _whole(row["env_steps_per_second"]),
            _score(row),
            links(_files(out, row["trial"])),
        )
        for row in frame.to_dict("records")
    ]
    note = (
        "Every trial that was planned. The rate is env steps by seconds of training or searching. "
        "The held-out return of a trial that has not finished is that of its last report. "
        "Reports of searches, with films, are written by: rolecast report DIR --trials N"
    )
    return section("Trials", paragraph(note), wide(table(head, rows)))


def _files(out: Path, trial: str) -> list[tuple[str, str]]:
    """Return names and paths, from the page, of what a trial has left to look at."""
    run = f"work/{trial}/run"
    beside = {
        "report": f"{run}/report.html",
        "policy": f"{run}/policy/policy.json",
        "curve": f"trials/{trial}/progress.csv",
    }
    return [(name, quote(path)) for name, path in beside.items() if (out / path).is_file()]


def _whole(value: Any) -> int | str:
    return "-" if pd.isna(value) else round(value)


def _score(row: Mapping[Any, Any]) -> str:
    if pd.isna(row["test_return"]):
        return "-"
    error = row["test_return_stderr"]
    return number(row["test_return"]) + ("" if pd.isna(error) else f" ± {number(error)}")
