"""A lock keeps a second holder out, in this process and in another, until it is closed."""

import errno
import fcntl
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from rolecast.core.errors import RequestError
from rolecast.core.locks import LOCK_FILE, LockedFolder, is_locked, try_lock


def test_a_second_holder_gets_the_lock_when_the_first_has_closed_it(tmp_path: Path) -> None:
    first = try_lock(tmp_path)
    assert first is not None
    assert try_lock(tmp_path) is None
    first.close()
    second = try_lock(tmp_path)
    assert second is not None
    second.close()


def test_a_lock_is_seen_by_another_process_and_by_none_after_it(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    code = (
        "from pathlib import Path\nfrom rolecast.core.locks import is_locked\n"
        f"print(is_locked(Path({str(tmp_path)!r})))"
    )

    def seen() -> str:
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return run.stdout.strip()

    lock = try_lock(tmp_path)
    assert lock is not None
    assert seen() == "True"
    lock.close()
    assert seen() == "False"


def test_whoever_looks_at_a_lock_keeps_nobody_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = try_lock(tmp_path)
    assert lock is not None
    lock.close()
    looking = (tmp_path / LOCK_FILE).open("rb")
    fcntl.flock(looking, fcntl.LOCK_SH)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if seconds:
            looking.close()

    monkeypatch.setattr(time, "sleep", pause)
    second = try_lock(tmp_path)
    assert second is not None
    assert len(pauses) == 2
    second.close()


def test_a_folder_that_is_missing_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        try_lock(tmp_path / "none")


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EIO])
def test_a_file_system_without_locks_is_named_and_no_file_stays_open(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    def refuse(file: IO[bytes] | int, flags: int) -> None:
        del flags
        opened.append(file if isinstance(file, int) else file.fileno())
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    reason = os.strerror(number) if number == errno.EIO else "its file system has no locks (flock)"
    with pytest.raises(RequestError, match=f"cannot be written: {re.escape(reason)}$"):
        LockedFolder(tmp_path).lock()
    assert len(opened) == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])
    if number != errno.EIO:
        assert not is_locked(tmp_path)


def test_a_locked_folder_keeps_others_out_until_it_is_released(tmp_path: Path) -> None:
    first, second = LockedFolder(tmp_path), LockedFolder(tmp_path)
    for _ in range(2):  # who holds it may lock it again
        first.lock()
    with pytest.raises(RequestError, match="is being written by another process"):
        second.lock()
    for _ in range(2):
        first.release()
    second.lock()
    second.release()
