"""One writer at a time: locks of folders, which end with the process that holds them."""

import time
from collections.abc import Collection
from pathlib import Path
from typing import IO, Final

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import RequestError, RunError
from rolecast.core.files import is_half_written, unwritable

LOCK_FILE: Final = ".lock"
"""File in a folder whose lock is that of the folder."""

LOCK_LOOK_S: Final = 0.05
"""Time between two tries of one that waits."""


def try_lock(folder: Path, *, patience_s: float = 0.0, disk: Disk = LOCAL_DISK) -> IO[bytes] | None:
    """Lock a folder for this process, until the file returned is closed.

    Args:
        folder: what to lock.
        patience_s: longest wait, in seconds, for another process to let it go.
        disk: where the folder is.
    Returns:
        The open file; None where another process holds the lock.
    Raises:
        OSError: the folder is missing, or cannot be written.
    """
    end = time.monotonic() + patience_s
    while (lock := disk.lock(folder / LOCK_FILE)) is None and time.monotonic() < end:
        time.sleep(LOCK_LOOK_S)
    return lock


def lock_folder(folder: Path, *, patience_s: float = 0.0, disk: Disk = LOCAL_DISK) -> IO[bytes]:
    """Lock a folder as `try_lock` does, or refuse.

    Raises:
        RequestError: another process writes here, or the folder cannot be written.
    """
    try:
        lock = try_lock(folder, patience_s=patience_s, disk=disk)
    except OSError as error:
        raise RequestError(f"{folder} cannot be written: {error.strerror}") from error
    if lock is None:
        raise RequestError(f"{folder} is being written by another process")
    return lock


class LockedFolder:
    """A folder that one process at a time writes."""

    def __init__(self, path: str | Path, *, disk: Disk = LOCAL_DISK) -> None:
        self.path, self.disk = Path(path), disk
        self._lock: IO[bytes] | None = None

    def lock(self) -> None:
        """Keep other processes from writing, until `release` or the end of this process.

        Raises:
            RequestError: another process writes here, or the folder cannot be written.
        """
        if self._lock is None:
            self._lock = lock_folder(self.path, disk=self.disk)

    def require_held(self) -> None:
        """Refuse to write where the folder that was locked is gone, or another took its place.

        A lock is of a file and writes go by path, so that two processes could write one folder.
        Nothing happens where the folder is not locked.

        Raises:
            RunError: the folder was removed or replaced, or cannot be read.
        """
        if self._lock is None:
            return
        try:
            held = self.disk.still_locks(self._lock, self.path / LOCK_FILE)
        except OSError as error:
            raise unwritable(self.path, error) from error
        if not held:
            raise RunError(
                f"{self.path} was removed or replaced while this process wrote it; nothing more "
                "is written there"
            )

    def release(self) -> None:
        """Let other processes write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def left_at_once(folder: Path, made: Collection[str] = (), *, disk: Disk = LOCAL_DISK) -> bool:
    """Return whether who began in a folder has ended, or may end, before a file was written.

    That is so of an empty folder, too: nothing is lost where another begins there.

    Args:
        folder: of a run or a comparison.
        made: names of folders that are made with it.
        disk: where the folder is.
    """
    names = set(disk.names(folder))
    known = {LOCK_FILE} | {name for name in made if not disk.names(folder / name)}
    return not disk.is_file(folder) and all(map(is_half_written, names - known))


def is_taken(folder: Path, made: Collection[str] = ()) -> bool:
    """Return whether a path is there, and is no folder to begin in; `made` as of `left_at_once`."""
    return folder.exists() and not (folder.is_dir() and left_at_once(folder, made))


def is_locked(folder: Path, *, disk: Disk = LOCAL_DISK) -> bool:
    """Return whether a process holds the lock of a folder now."""
    return disk.is_locked(folder / LOCK_FILE)
