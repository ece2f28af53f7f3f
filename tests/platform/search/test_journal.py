from pathlib import Path

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search import journal
from rolecast.platform.search.history import Batch, Kind


def batch_of(index: int) -> Batch:
    rng = np.random.default_rng(index)
    return Batch(
        index=index,
        kind=Kind.SEARCH,
        first=3 * index,
        spent=index / 10,
        candidates=rng.random((3, 2)),
        episodes_of=3 * index + np.array([0, 0, 2]),
        episode_returns=rng.random((3, 4)),
        observed_returns=rng.random((3, 4)),
        env_steps=100 * index + np.array([10, 20, 30]),
        wall_time_s=float(index),
        incumbent=rng.random(2),
    )


@pytest.fixture
def three(tmp_path: Path) -> Path:
    path = tmp_path / "journal.bin"
    for index in range(3):
        journal.append(path, batch_of(index))
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
    journal.repair(three)
    journal.append(three, batch_of(len(left)))
    assert [batch.index for batch in journal.read(three)] == list(range(len(left) + 1))


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
