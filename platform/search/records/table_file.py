"""Parquet files with a seal, written and read group by group, so that memory can be flat.

A group is a row group of the file.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import RequestError, first_line
from rolecast.core.files import SEAL_KEY, being_read, being_written
from rolecast.core.seals import BLANK_SEAL, LongSeal, long_seal_holds


class _Pieces(BytesIO):
    """What a writer has written since it was last asked for, at its place in the whole file."""

    def __init__(self) -> None:
        super().__init__()
        self._piece, self._taken = bytearray(), 0

    def write(self, data: Any) -> int:
        """Add data."""
        self._piece += data
        return len(data)

    def tell(self) -> int:
        """Return the place in the whole file."""
        return self._taken + len(self._piece)

    def take(self) -> bytes:
        """Return what came since the last call."""
        piece = bytes(self._piece)
        self._piece.clear()
        self._taken += len(piece)
        return piece


@contextmanager
def table_writer(
    path: Path, metadata: Mapping[str, str], *, disk: Disk = LOCAL_DISK
) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what adds a group of rows to a table, which is put in its place at the end.

    At least one group has to be added. Arguments and errors as of `write_bytes`.
    """
    pieces, long_seal = _Pieces(), LongSeal()
    writers: list[pq.ParquetWriter] = []
    with being_written(path, disk=disk) as beside:
        disk.create(beside, b"")

        def add(table: pa.Table) -> None:
            named = {**(table.schema.metadata or {}), **metadata, SEAL_KEY: BLANK_SEAL}
            rows = table.replace_schema_metadata(named)
            if not writers:
                # Few numbers of a history come twice: a dictionary makes it larger and takes time.
                writers.append(
                    pq.ParquetWriter(pieces, rows.schema, compression="zstd", use_dictionary=False)
                )
            writers[0].write_table(rows)
            piece = pieces.take()
            long_seal.add(piece)
            disk.append(beside, piece)

        yield add
        writers[0].close()
        disk.append(beside, long_seal.last(pieces.take()))


def table_groups(path: Path, *, disk: Disk = LOCAL_DISK) -> Iterator[pa.Table]:
    """Yield the groups of a table, one after the other.

    Raises:
        RequestError: the file is missing, is no parquet, or is not what was sealed.
    """
    with being_read(path, disk=disk) as file:
        holds = long_seal_holds(file)
        if holds is False:
            raise RequestError(f"{path} is damaged: its seal is wrong")
        try:
            parquet = pq.ParquetFile(file, pre_buffer=False)  # else another thread reads ahead
            lost = not holds and SEAL_KEY.encode() in (parquet.schema_arrow.metadata or {})
            for group in range(0 if lost else parquet.num_row_groups):
                yield parquet.read_row_group(group, use_threads=False)
        except (pa.ArrowException, OSError, ValueError) as error:
            said = f"{path} is damaged: it is no table ({first_line(error)})"
            raise RequestError(said) from error
        if lost:
            raise RequestError(f"{path} is damaged: its seal has lost its name")
