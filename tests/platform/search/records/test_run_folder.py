"""What the folder of a run tells of how far the run is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rolecast.core.errors import RunError
from rolecast.platform.search.bandit.engine import QueryBlock
from rolecast.platform.search.bandit.folder import BanditFolder
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume
from tests.platform.search.records.conftest import batch_of


def test_a_result_is_that_of_the_budget_that_the_run_has(extended_run: Path) -> None:
    folder = RunFolder.open(extended_run)
    assert folder.summary_file.is_file()
    assert folder.read_summary() is None
    result = resume(extended_run)
    assert folder.read_summary() == result.summary
    assert result.summary["policy_evaluations"] > 60


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: folder.append(batch_of(0)),
        lambda folder: folder.append_again(batch_of(0)),
        lambda folder: folder.write_checkpoint(0, {}),
        RunFolder.write_tables,
        lambda folder: folder.write_status({}),
        lambda folder: folder.write_summary({}),
    ],
    ids=["batch", "batch again", "checkpoint", "tables", "status", "summary"],
)
@pytest.mark.parametrize("begun_anew", [False, True])
def test_a_process_whose_folder_was_removed_or_begun_anew_writes_nothing_there(
    write: Callable[[RunFolder], None], tmp_path: Path, *, begun_anew: bool
) -> None:
    ours, theirs = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "run")
    ours.make({})
    write(ours)
    shutil.rmtree(ours.path)
    if begun_anew:
        theirs.make({})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(RunError, match="run was removed or replaced while this process wrote it;"):
        write(ours)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ours.release()
    theirs.release()


def test_a_bandit_whose_folder_was_begun_anew_writes_nothing_there(tmp_path: Path) -> None:
    ours, theirs = BanditFolder(tmp_path / "run"), BanditFolder(tmp_path / "run")
    points = np.zeros((1, 2))
    block = QueryBlock(points, np.zeros(1), np.zeros(1))
    ours.create({}, {})
    ours.append(0, block, points[0])
    shutil.rmtree(ours.path)
    theirs.create({}, {})
    writes: list[Callable[[], object]] = [
        lambda: ours.append(1, block, points[0]),
        lambda: ours.write_result({}),
    ]
    for write in writes:
        with pytest.raises(RunError, match="run was removed or replaced while this process wrote"):
            write()
    assert theirs.read_blocks() == []
    assert theirs.read_result() is None
    ours.release()
    theirs.release()
