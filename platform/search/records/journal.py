"""The batches that the tables lack, in files that only grow, and when the next checkpoint is due.

A process killed in the middle of a write leaves the beginning of a record, which is dropped when
the journal is read; so does a power cut, which may leave sectors of zeros in it too. A record that
is whole but wrong is damage, and is refused. Records are made durable as they come, or about once a
second where they come faster: a power cut, unlike a kill, loses at most the batches of the last
`SYNC_INTERVAL_S` before the latest one.

A checkpoint saves the optimiser's state; it is seldom enough to cost little. A journal that has
become large goes on in a new file then. Tables that hold all batches, at the end, empty it.
"""

import re
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, takewhile
from pathlib import Path
from typing import Final

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import RequestError
from rolecast.core.files import is_file, read_bytes, unwritable, write_bytes
from rolecast.platform.search.records.history import Batch

JOURNAL_FILE: Final = "journal.bin"

RECORD_MAGIC: Final = b"rcj2"
"""Beginning of a record; those of older releases have none."""

SYNC_INTERVAL_S: Final = 1.0
"""Longest time for which batches are not durable while others follow."""

LARGEST_RECORD: Final = 1 << 32
"""Bytes; a longer record of an older release is damage."""

CHECKPOINT_INTERVAL_S: Final = 10.0
"""Least time between two checkpoints."""

CHECKPOINT_SHARE: Final = 0.05
"""Share of the time that checkpoints may take; the interval grows until they do not."""

PART_BYTES: Final = 4 << 20
"""Size from which on a journal goes on in a new file; one file is in memory when it is read."""

FULL_BYTES: Final = 64 << 20
"""Size from which on a checkpoint is due, so that no file takes much memory to read."""

SECTOR_BYTES: Final = 512
"""Unit in which a disk writes; one that a power cut kept from it reads as zeros."""

_RECORD_HEADER: Final = struct.Struct("<4sQI")
"""Magic, length and CRC-32 of the record that follows."""

_HEADER_CHECK: Final = struct.Struct("<I")
"""CRC-32 of the header, after it: a damaged length is no record that was cut off."""

_OLD_HEADER: Final = struct.Struct("<QI")
"""Length and CRC-32."""


class Journal:
    """The journal of one run, for the process that writes it."""

    def __init__(
        self,
        path: Path,
        *,
        disk: Disk = LOCAL_DISK,
        clock: Callable[[], float] = time.monotonic,
        part_bytes: int = PART_BYTES,
    ) -> None:
        self._path, self._disk, self._clock = path, disk, clock
        self._part_bytes = part_bytes
        self._synced = float("-inf")
        self._named, self._length = False, 0

    def append(self, batch: Batch) -> None:
        """Add one batch at the end.

        Raises:
            RunError: the disk is full, or the file cannot be written.
        """
        data = batch.to_bytes()
        header = _RECORD_HEADER.pack(RECORD_MAGIC, len(data), zlib.crc32(data))
        try:
            record = header + _HEADER_CHECK.pack(zlib.crc32(header)) + data
            self._disk.append(self._path, record)
            self._length += len(record)
            if self._clock() - self._synced >= SYNC_INTERVAL_S:
                self._sync()
        except OSError as error:
            raise unwritable(self._path, error) from error

    @property
    def full(self) -> bool:
        """Whether it is time to settle, however short the time since the last."""
        return self._length >= FULL_BYTES

    def settle(self) -> None:
        """Make all batches durable, and go on in a new file where this one is large.

        Raises:
            RunError: the disk is full, or the files cannot be written.
        """
        if not self._length:
            return
        try:
            self._sync()
            if self._length >= self._part_bytes:
                number = len(part_files(self._path, disk=self._disk))
                self._disk.rename(self._path, _part_file(self._path, number))
                self._disk.sync_folder(self._path.parent)
                self._length, self._named = 0, False
        except OSError as error:
            raise unwritable(self._path, error) from error

    def clear(self) -> None:
        """Forget all batches, those of the newest file first.

        Raises:
            RunError: the disk is full, or the files cannot be written.
        """
        write_bytes(self._path, b"", disk=self._disk)
        self._length = 0
        # By pattern: a power cut may have kept the removal of a file, and not that of a later one.
        part = re.compile(rf"{re.escape(self._path.stem)}\.\d+{re.escape(self._path.suffix)}")
        folder = self._path.parent
        parts = sorted(filter(part.fullmatch, self._disk.names(folder)), reverse=True)
        try:
            for name in parts:
                self._disk.remove(folder / name)
            if parts:
                self._disk.sync_folder(folder)
        except OSError as error:
            raise unwritable(self._path, error) from error

    def repair(self) -> None:
        """Make what an earlier process left durable, and cut off the beginning of a record.

        That process may have ended before it did; this one has read its batches, and tells of them.

        Raises:
            RunError: the disk is full, or the file cannot be written.
        """
        content = _content(self._path, self._disk)
        self._length = _records(self._path, content)[1]
        if self._length:
            try:
                self._sync()
            except OSError as error:
                raise unwritable(self._path, error) from error
        if len(content) != self._length:
            write_bytes(self._path, content[: self._length], disk=self._disk)

    def _sync(self) -> None:
        self._disk.sync(self._path)
        if not self._named:
            self._disk.sync_folder(self._path.parent)
            self._named = True
        self._synced = self._clock()


def part_files(path: Path, *, disk: Disk = LOCAL_DISK) -> list[Path]:
    """Return the files before the one to which a journal is written, in order."""
    names = set(disk.names(path.parent))
    numbered = (_part_file(path, number) for number in count())
    return list(takewhile(lambda part: part.name in names, numbered))


def _part_file(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.{number:06d}{path.suffix}")


class CheckpointTimer:
    """Tells when the next checkpoint is due."""

    def __init__(self, clock: Callable[[], float], *, least_s: float | None = None) -> None:
        """Begin to count.

        Args:
            clock: in seconds.
            least_s: seconds between two checkpoints, at least; None: `CHECKPOINT_INTERVAL_S`.
        """
        self._clock = clock
        self._last = clock()
        self._least_s = CHECKPOINT_INTERVAL_S if least_s is None else least_s
        self._interval = self._least_s

    @property
    def due(self) -> bool:
        """Whether it is time for one."""
        return self._clock() - self._last >= self._interval

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Write one inside; the next is due the later, the longer it takes."""
        began = self._clock()
        yield
        self._last = self._clock()
        self._interval = max(self._least_s, (self._last - began) / CHECKPOINT_SHARE)


def read(path: Path, *, disk: Disk = LOCAL_DISK) -> list[Batch]:
    """Return the batches, without one that was being written when its process died.

    Raises:
        RequestError: a whole record has other bytes than were written.
    """
    try:
        return [Batch.from_bytes(data) for data in _records(path, _content(path, disk))[0]]
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, RequestError):
            raise
        raise RequestError(f"{path} is damaged: a record is no batch ({error})") from error


def _content(path: Path, disk: Disk) -> bytes:
    return read_bytes(path, disk=disk) if is_file(path, disk=disk) else b""


def _records(path: Path, content: bytes) -> tuple[list[bytes], int]:
    """Return the whole records, and the length of the file up to the end of the last."""
    records: list[bytes] = []
    at = 0
    while at < len(content):
        found = _record(path, content, at, len(records))
        if found is None:
            break
        data, at = found
        records.append(data)
    return records, at


def _record(path: Path, content: bytes, at: int, number: int) -> tuple[bytes, int] | None:
    """Return the record that begins at a place, and where it ends; None if it was cut off.

    Raises:
        RequestError: it is whole, and not what was written.
    """
    rest = len(content) - at
    if content.startswith(RECORD_MAGIC[: min(rest, 4)], at):
        begin = at + _RECORD_HEADER.size + _HEADER_CHECK.size
        if begin > len(content):
            return None
        header = content[at : at + _RECORD_HEADER.size]
        if _HEADER_CHECK.unpack_from(content, at + _RECORD_HEADER.size)[0] != zlib.crc32(header):
            _refuse_unless_torn(path, content, at, begin, number)
            return None
        _, length, check = _RECORD_HEADER.unpack(header)
    else:
        begin = at + _OLD_HEADER.size
        if begin > len(content):
            return None
        length, check = _OLD_HEADER.unpack_from(content, at)
        if length > LARGEST_RECORD or not any(content[at:begin]):
            _refuse_unless_torn(path, content, at, begin, number)
            return None
    data = content[begin : begin + length]
    if len(data) < length:
        return None
    if zlib.crc32(data) != check:
        _refuse_unless_torn(path, content, at, begin + length, number)
        return None
    return data, begin + length


def _refuse_unless_torn(path: Path, content: bytes, at: int, end: int, number: int) -> None:
    """Return if a power cut kept a sector of this part from the disk, so that it was not durable.

    Raises:
        RequestError: no sector of it is zeros.
    """
    for sector in range(at - at % SECTOR_BYTES, end, SECTOR_BYTES):
        if not any(content[max(sector, at) : min(sector + SECTOR_BYTES, end)]):
            return
    raise RequestError(f"{path} is damaged: record {number} has a wrong checksum")
