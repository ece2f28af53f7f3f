"""Finds the pictures of docs/results that are of one task alone, each with its caption.

A picture is named after the data beside it: `DATA.png` shows all rows of `DATA.json`,
`DATA_HEADING.png` those under a heading, and `TASK_AXIS.png` beside a `results.csv` one task of a
comparison. It belongs to a task if all rows that it shows are of this task.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from site_sources import DOCS_FOLDER, title_of

from rolecast.benchmarks.result_table import slug
from rolecast.core.files import file_name

RESULTS_FOLDER: Final = DOCS_FOLDER / "results"

SHOWN_PICTURE: Final = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")


@dataclass(frozen=True, kw_only=True)
class TaskPicture:
    """A picture of one task."""

    task: str
    """Complete id."""

    file: str
    """Path in docs/results."""

    caption: str
    """What is shown, without a full stop."""

    source: str
    """Path in docs/results of the page that has its numbers."""

    source_title: str


def task_pictures() -> list[TaskPicture]:
    """Return the pictures of all tasks, in the order of their files."""
    return [*_of_data_files(), *_of_comparisons()]


def _of_data_files() -> Iterator[TaskPicture]:
    """Yield the pictures beside a file of rows that name their task, as its page shows them."""
    for data in sorted(RESULTS_FOLDER.glob("*.json")):
        rows = json.loads(data.read_text()).get("cells", ())
        page = data.with_suffix(".md")
        if not page.exists() or not all("task" in row for row in rows):
            continue
        captions = {file: text for text, file in SHOWN_PICTURE.findall(page.read_text())}
        for picture, tasks in _tasks_by_picture(data, rows).items():
            if picture in captions and len(tasks) == 1:
                yield TaskPicture(
                    task=tasks.pop(),
                    file=picture,
                    caption=captions[picture],
                    source=page.name,
                    source_title=title_of(page),
                )


def _tasks_by_picture(data: Path, rows: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Return the tasks of the rows that each picture of a data file shows."""
    found: dict[str, set[str]] = {}
    for row in rows:
        names = [data.stem, *([f"{data.stem}_{slug(row['arena'])}"] if "arena" in row else [])]
        for name in names:
            found.setdefault(f"{name}.png", set()).add(row["task"])
    return found


def _of_comparisons() -> Iterator[TaskPicture]:
    """Yield the curves in the folders of comparisons, which begin with the name of their task."""
    for table in sorted(RESULTS_FOLDER.glob("*/results.csv")):
        folder = table.parent
        with table.open() as lines:
            tasks = sorted({row["task"] for row in csv.DictReader(lines)}, key=len, reverse=True)
        for picture in sorted(folder.glob("*.png")):
            starts = [each for each in tasks if picture.stem.startswith(f"{file_name(each)}_")]
            if starts:
                axis = picture.stem.removeprefix(f"{file_name(starts[0])}_").replace("_", " ")
                yield TaskPicture(
                    task=starts[0],
                    file=f"{folder.name}/{picture.name}",
                    caption=f"Held-out return against {axis}",
                    source=f"{folder.name}/index.md",
                    source_title=f"Results of {folder.name}",
                )
