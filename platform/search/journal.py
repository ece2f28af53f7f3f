"""The batches since the last checkpoint, in one file that only grows.

A process killed in the middle of a write leaves the beginning of a record, which is dropped when
the journal is read; a record that is whole but wrong is damage, and is refused.
"""

import struct
import zlib
from pathlib import Path
from typing import Final

from rolecast.core.errors import RequestError
from rolecast.core.files import write_bytes
from rolecast.platform.search.history import Batch

_RECORD_HEADER: Final = struct.Struct("<QI")
"""Length and CRC-32 of the record that follows."""


def append(path: Path, batch: Batch) -> None:
    """Add one batch at the end."""
    data = batch.to_bytes()
    with path.open("ab") as file:
        file.write(_RECORD_HEADER.pack(len(data), zlib.crc32(data)) + data)


def clear(path: Path) -> None:
    """Forget all batches, in one step."""
    write_bytes(path, b"")


def read(path: Path) -> list[Batch]:
    """Return the batches, without one that was being written when its process died.

    Raises:
        RequestError: a whole record has other bytes than were written.
    """
    return [Batch.from_bytes(data) for data in _records(path)[0]]


def repair(path: Path) -> None:
    """Cut off the beginning of a record that a killed process left, so that others can follow."""
    length = _records(path)[1]
    if path.is_file() and path.stat().st_size != length:
        write_bytes(path, path.read_bytes()[:length])


def _records(path: Path) -> tuple[list[bytes], int]:
    """Return the whole records, and the length of the file up to the end of the last."""
    content = path.read_bytes() if path.is_file() else b""
    records: list[bytes] = []
    at = 0
    while at + _RECORD_HEADER.size <= len(content):
        length, check = _RECORD_HEADER.unpack_from(content, at)
        data = content[at + _RECORD_HEADER.size : at + _RECORD_HEADER.size + length]
        if len(data) < length:
            break
        if zlib.crc32(data) != check:
            raise RequestError(f"{path} is damaged: record {len(records)} has a wrong checksum")
        records.append(data)
        at += _RECORD_HEADER.size + length
    return records, at
