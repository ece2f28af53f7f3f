"""Batches from the two tables of a run, and into them, with one group of rows in memory."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from rolecast.core.disk import Disk
from rolecast.core.errors import RequestError
from rolecast.platform.search.records.history import Batch, stored_batches
from rolecast.platform.search.records.table_file import table_groups

PIECE_BYTES: Final = 8 << 20
"""Bytes of candidates from which on batches are a group of their own."""


def grouped(batches: Iterable[Batch], piece_bytes: int) -> Iterator[list[Batch]]:
    """Yield batches in groups of so many bytes, or a batch more; an empty one for none."""
    group: list[Batch] = []
    size, groups = 0, 0
    for batch in batches:
        group.append(batch)
        size += batch.candidates.nbytes
        if size >= piece_bytes:
            yield group
            group, size, groups = [], 0, groups + 1
    if group or not groups:
        yield group


def tabled_batches(history: Path, incumbents: Path, *, disk: Disk) -> Iterator[Batch]:
    """Yield the batches of tables, of which the incumbents' may have some more.

    Raises:
        RequestError: the tables contradict each other, or one is damaged.
    """
    known = table_groups(incumbents, disk=disk)
    rows: pa.Table | None = None
    first = 0
    for group in table_groups(history, disk=disk):
        last = group["batch"][-1].as_py() if len(group) and "batch" in group.column_names else -1
        while rows is None or not _reaches(rows, last):
            more = next(known, None)
            if more is None:
                break
            rows = more if rows is None else pa.concat_tables([rows, more])
        if rows is None:
            raise RequestError(f"{incumbents} is damaged: it has no rows")
        yield from stored_batches(group, rows, first=first)
        rows = _after(rows, last)
        first += len(group)


def _reaches(rows: pa.Table, batch: object) -> bool:
    """Return whether the incumbents so far tell of a batch."""
    return "batch" not in rows.column_names or (
        len(rows) > 0 and isinstance(batch, int) and rows["batch"][-1].as_py() >= batch
    )


def _after(rows: pa.Table, batch: object) -> pa.Table:
    """Return the incumbents of the batches after one."""
    return rows.filter(pc.greater(rows["batch"], batch))
