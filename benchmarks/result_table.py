"""Tables that take hours: problem x method x seed to rows, and rows to a page and pictures.

A cell is a frozen value with a `key`; a cell whose key is in the results file is not computed
again. Cells run in parallel, and each is kept in the file as it ends.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
from scipy import stats

from rolecast.benchmarks.cell_processes import results
from rolecast.benchmarks.commits import source_commit
from rolecast.benchmarks.kept_rows import COMMIT_KEY, SET_KEY, AnyRow, commits_text, differing_text
from rolecast.core.errors import RequestError, require_known
from rolecast.core.files import make_folder, read_json, write_all, write_bytes
from rolecast.core.locks import lock_folder
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET

ROWS_SCHEMA: Final = 1
ROWS_PATIENCE_S: Final = 60.0
"""Longest wait for another process that writes rows, which takes it an instant."""

UNFINISHED_KEY: Final = "unfinished"
"""True in a row of which there is more to come; it does not count as there."""

Row = dict[str, Any]


class TableCell(Protocol):
    """A cell of a table."""

    @property
    def key(self) -> str:
        """Tells it from all others."""

    @property
    def names(self) -> Mapping[str, str]:
        """Its names by kind, for filters."""


Cell = TypeVar("Cell", bound=TableCell)


def chosen(cells: Iterable[Cell], filters: Sequence[str], kinds: Sequence[str]) -> list[Cell]:
    """Return the cells that all filters let through.

    Args:
        cells: from which to choose.
        filters: "KIND=VALUE" each. Filters of one kind are alternatives; kinds must all agree.
        kinds: the kinds that there are.

    Raises:
        RequestError: a filter is of another form, no cell has its value, or nothing is left.
    """
    wanted: dict[str, set[str]] = {}
    for word in filters:
        kind, equals, value = word.partition("=")
        if not equals or kind not in kinds:
            forms = ", ".join(f"{each}=VALUE" for each in kinds)
            raise RequestError(f"--only {word!r} is not understood; expected one of {forms}")
        wanted.setdefault(kind, set()).add(value)
    offered = list(cells)
    for kind, values in wanted.items():
        require_known(f"--only {kind}", sorted(values), {cell.names[kind] for cell in offered})
    left = [cell for cell in offered if all(cell.names[kind] in wanted[kind] for kind in wanted)]
    if not left:
        known = {cell.names[kind]: None for kind in wanted for cell in offered}
        raise RequestError(f"--only {' '.join(filters)} leaves no cell; names: {', '.join(known)}")
    return left


def read_rows(path: Path) -> list[Row]:
    """Return the cells of a results file; none where there is no file.

    Raises:
        RequestError: the file is something else, or of another schema.
    """
    if not path.is_file():
        return []
    results = read_json(path)
    if results.get("schema") != ROWS_SCHEMA:
        raise RequestError(f"{path} has schema {results.get('schema')}; expected {ROWS_SCHEMA}")
    rows: list[Row] = results["cells"]
    return rows


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Replace the rows of a results file; each is a line of it."""
    lines = ",\n".join(json.dumps(row, allow_nan=False) for row in rows)
    write_bytes(path, f'{{"schema": {ROWS_SCHEMA}, "cells": [\n{lines}\n]}}\n'.encode())


def update_rows(path: Path, change: Callable[[list[Row]], Iterable[Row]]) -> None:
    """Replace the rows of a results file by what becomes of those that are there.

    Its folder is locked meanwhile, so that processes that fill one table at once lose no row.

    Raises:
        RequestError: the folder cannot be written, or another process keeps it locked.
    """
    make_folder(path.parent)
    with lock_folder(path.parent, patience_s=ROWS_PATIENCE_S):
        write_rows(path, change(read_rows(path)))


def keep_rows(path: Path, rows: Iterable[Row], order: Callable[[Row], Any]) -> None:
    """Put rows into a results file, in place of those of their keys.

    Args:
        path: the results file.
        rows: new ones.
        order: key by which all are sorted in the file.
    """
    news = {row["key"]: row for row in rows}
    update_rows(
        path,
        lambda kept: sorted(({row["key"]: row for row in kept} | news).values(), key=order),
    )


def forget_rows(path: Path, cells: Iterable[TableCell], note: Callable[[str], None]) -> None:
    """Drop the rows of cells from a results file, so that they are computed again.

    Args:
        path: the results file; none is nothing to forget.
        cells: those to compute again; rows of others stay.
        note: told how many are dropped.
    """
    keys = {cell.key for cell in cells}
    dropped = [row for row in read_rows(path) if row["key"] in keys]
    if dropped:
        update_rows(path, lambda rows: (row for row in rows if row["key"] not in keys))
        note(f"{len(dropped)} rows are dropped; if stopped, go on without --fresh")


def finished(rows: Iterable[Row]) -> set[str]:
    """Return the keys of the rows to which nothing is to come."""
    return {row["key"] for row in rows if not row.get(UNFINISHED_KEY)}


@dataclass(frozen=True, kw_only=True)
class ResultTable(Generic[Cell]):
    """How the cells of a table become rows, and its rows a page and pictures."""

    file: str
    """Name of the results file, JSON."""

    kinds: Sequence[str]
    """Kinds of filters."""

    run: Callable[[Cell], Row]
    """Computes a row, JSON values with "key", in a process of its own; its commit is added."""

    order: Callable[[Row], Any]
    """Key by which rows are sorted in the file."""

    line: Callable[[Row], str]
    """Says in words what a row has found."""

    pages: Callable[[Sequence[Row]], Mapping[str, bytes]]
    """Returns the files for readers, by name."""

    planned: Callable[[Sequence[Row]], Mapping[str, Mapping[str, Any]]] = lambda _: {}
    """Returns the fields that rows of the whole table would now have, by key, for as many seeds."""

    def run_missing(
        self,
        cells: Sequence[Cell],
        folder: Path,
        *,
        processes: int,
        note: Callable[[str], None],
    ) -> list[Row]:
        """Run the cells that the results file of a folder lacks, and keep each as it ends.

        Args:
            cells: what the table should have.
            folder: where the results file is.
            processes: cells at once, each on one core.
            note: told of each cell.

        Returns:
            All rows of the file in their order, those of other cells included.

        Raises:
            RequestError, RunError: a cell failed; all that ended are kept.
        """
        path, commit = folder / self.file, source_commit()
        rows = read_rows(path)
        done = finished(rows)
        missing = [cell for cell in cells if cell.key not in done]
        if cells:
            there = len(cells) - len(missing)
            note(f"{there} of {len(cells)} cells are there; {len(missing)} to run")
            if rows and (said := differing_text(self.planned(rows), rows)):
                note(said)
        for row in results(missing, self.run, processes):
            keep_rows(path, [{**row, COMMIT_KEY: commit}], self.order)
            note(f"{row['key']}: {self.line(row)}")
        return sorted(read_rows(path), key=self.order)

    def write(self, rows: Sequence[Row], folder: Path) -> list[Path]:
        """Write the files for readers; return them behind the results file, none without rows.

        A page ends with what is to be known of its rows: older plans, and their commits.
        """
        if not rows:
            return []
        of_plan = differing_text(self.planned(rows), rows)
        said = " ".join(filter(None, (of_plan, commits_text(rows))))
        pages = {
            folder / name: content + f"\n{said}\n".encode() if name.endswith(".md") else content
            for name, content in self.pages(rows).items()
        }
        return [folder / self.file, *write_all(pages)]


def grouped(rows: Iterable[AnyRow], *names: str) -> dict[tuple[Any, ...], list[AnyRow]]:
    """Return rows by the values of some fields, in the order of their first rows."""
    found: dict[tuple[Any, ...], list[AnyRow]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found


def place(name: str, names: Sequence[str]) -> int:
    """Return where a name stands among names; behind all of them where it is none."""
    return names.index(name) if name in names else len(names)


def by_table(
    problems: Sequence[str], methods: Sequence[str]
) -> Callable[[Row], tuple[int, str, int, int]]:
    """Return by what rows are sorted: "problem" and "contestant" as in a table, then "seed"."""
    return lambda row: (
        place(row["problem"], problems),
        row["problem"],
        place(row["contestant"], methods),
        row["seed"],
    )


def markdown_table(
    head: Sequence[str], lines: Iterable[Sequence[object]], rule: Sequence[str] = ()
) -> str:
    """Return a table of Markdown, its last line not ended.

    Args:
        head: names of the columns.
        lines: their entries.
        rule: how each column is aligned, "---:" to the right; empty: all to the left.
    """
    first, *others = [f"| {' | '.join(map(str, line))} |" for line in (head, *lines)]
    return "\n".join([first, f"|{'|'.join(rule or ('---',) * len(head))}|", *others])


def keyed_table(columns: Sequence[tuple[str, str]], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table of Markdown with a column for each name and key of the rows."""
    lines = ([row[key] for _, key in columns] for row in rows)
    return markdown_table([name for name, _ in columns], lines)


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


def fill_regions(page: Path, *regions: tuple[str, str, str]) -> bytes:
    """Return a page with the text between two marks replaced, in each of some regions.

    Args:
        page: the file.
        regions: line before a region, line after it, and its new lines, the last one ended.

    Raises:
        RequestError: the page is not there, or has no such region.
    """
    if not page.is_file():
        raise RequestError(f"{page} is no file; expected a page with a region for results")
    filled = page.read_text()
    for begin, end, text in regions:
        before, found, rest = filled.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise RequestError(f"{page} has no region for results; expected {begin} … {end}")
        filled = f"{before}{begin}\n{text}{end}{after}"
    return filled.encode()


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % t interval of the mean of two values or more."""
    mean, count = float(np.mean(values)), len(values)
    reach = float(stats.sem(values) * stats.t.ppf(0.975, count - 1))
    return mean - reach, mean + reach
