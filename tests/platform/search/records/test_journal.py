import struct
import zlib
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from rolecast.core.disk import LocalDisk
from rolecast.core.errors import RequestError
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.journal import SECTOR_BYTES, Journal
from tests.platform.search.records.conftest import batch_of


@pytest.fixture
def three(tmp_path: Path) -> Path:
    path = tmp_path / "journal.bin"
    for index in range(3):
        Journal(path).append(batch_of(index))
    return path


def test_batches_come_back_as_they_were(three: Path) -> None:
    for index, batch in enumerate(journal.read(three)):
        for name, value in vars(batch_of(index)).items():
            np.testing.assert_array_equal(getattr(batch, name), value)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.34, 0.6, 0.67, 0.99])
def test_a_kill_during_a_write_loses_only_the_batch_being_written(
    three: Path, share: float
) -> None:
    content = three.read_bytes()
    three.write_bytes(content[: int(share * len(content))])
    left = journal.read(three)
    assert len(left) == int(3 * share)
    Journal(three).repair()
    Journal(three).append(batch_of(len(left)))
    assert [batch.index for batch in journal.read(three)] == list(range(len(left) + 1))


def test_every_flipped_bit_is_refused(tmp_path: Path) -> None:
    """Also of a length, which would otherwise pass for a record that was cut off."""
    path = tmp_path / "journal.bin"
    Journal(path).append(batch_of(0))
    content = path.read_bytes()
    header = 8 * 24
    for bit in (*range(header), *range(header, 8 * len(content), 97)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(RequestError, match=r"journal\.bin is damaged"):
            journal.read(path)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_sectors_that_a_power_cut_kept_from_the_disk_end_the_journal(
    tmp_path: Path, lost: int
) -> None:
    """The file has its new length, but one of the sectors that were not durable is zeros."""
    path = tmp_path / "journal.bin"
    Journal(path).append(batch_of(0))
    safe = len(path.read_bytes())
    Journal(path).append(batch_of(1))
    content = bytearray(path.read_bytes())
    first = safe // SECTOR_BYTES + lost
    begin, end = max(safe, first * SECTOR_BYTES), (first + 1) * SECTOR_BYTES
    content[begin:end] = bytes(min(end, len(content)) - begin)
    path.write_bytes(content)
    assert [batch.index for batch in journal.read(path)] == [0]
    Journal(path).repair()
    assert path.read_bytes() == content[:safe]


def test_records_of_older_releases_are_read_and_followed_by_new_ones(tmp_path: Path) -> None:
    path = tmp_path / "journal.bin"
    data = batch_of(0).to_bytes()
    path.write_bytes(struct.pack("<QI", len(data), zlib.crc32(data)) + data)
    Journal(path).append(batch_of(1))
    assert [batch.index for batch in journal.read(path)] == [0, 1]


def test_a_journal_is_durable_at_once_and_then_once_a_second(tmp_path: Path) -> None:
    class Counting(LocalDisk):
        synced: ClassVar[list[float]] = []

        def sync(self, path: Path) -> None:
            super().sync(path)
            self.synced.append(now[0])

    now = [0.0]
    written = Journal(tmp_path / "journal.bin", disk=Counting(), clock=lambda: now[0])
    for index in range(100):
        now[0] = index * 0.05
        written.append(batch_of(index))
    assert Counting.synced == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("bit", range(8))
def test_damage_is_refused(three: Path, bit: int) -> None:
    """Checksums of damaged records are greater than those written, and less."""
    content = bytearray(three.read_bytes())
    content[len(content) // 2] ^= 1 << bit
    three.write_bytes(content)
    with pytest.raises(RequestError, match="is damaged: record 1 has a wrong checksum"):
        journal.read(three)


def test_a_journal_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert journal.read(tmp_path / "none") == []
