"""The disk, as the few operations that files of a run are made of.

All that a run keeps goes through a `Disk`. `rolecast bench faults` puts another one in its place,
which loses power between any two of them.
"""

import errno
import fcntl
import os
import shutil
import stat
import time
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, Final, Protocol

FileVersion = tuple[int, int, int]
"""Inode, time of writing and size: a file that is replaced has another."""

LOCK_PAUSES_S: Final = (0.0, 0.01, 0.1)
"""Before each try to lock a file."""

LOCKLESS_ERRORS: Final = frozenset({errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP})
"""Errors of `flock` on a file system on which no process can lock a file."""


class Disk(Protocol):
    """A file system; an operation is durable only after a `sync`."""

    def open(self, path: Path) -> IO[bytes]:
        """Open a file to be read; OSError where it is missing, or is no plain file."""

    def is_file(self, path: Path) -> bool:
        """Return whether a plain file is there."""

    def version(self, path: Path) -> FileVersion | None:
        """Return which file is there; None where it is missing."""

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder, sorted; none where it is missing."""

    def make_folder(self, folder: Path, *, new: bool = False) -> list[Path]:
        """Make a folder and those above it; FileExistsError where it is there and `new`.

        Returns:
            The folders that were missing.
        """

    def is_makeable(self, folder: Path) -> bool:
        """Return whether a process of this user could have made a folder that is there."""

    def create(self, path: Path, data: bytes) -> None:
        """Write a new file; what is there under the name is removed, and never followed."""

    def append(self, path: Path, data: bytes) -> None:
        """Write at the end of a file, which is made where it is missing."""

    def sync(self, path: Path) -> None:
        """Make the content of a file durable."""

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""

    def rename(self, source: Path, target: Path) -> None:
        """Put a file in the place of another, in one step."""

    def remove(self, path: Path) -> None:
        """Remove a file; nothing happens where it is missing."""

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder with all that is in it, one file after the other, as far as it can be."""

    def lock(self, path: Path) -> IO[bytes] | None:
        """Lock a file until what is returned is closed; None where another process has it."""

    def still_locks(self, lock: IO[bytes], path: Path) -> bool:
        """Return whether what `lock` returned is of the file that is at the path now."""

    def is_locked(self, path: Path) -> bool:
        """Return whether a process holds the lock of a file now."""


class LocalDisk:
    """The file system of this machine."""

    def open(self, path: Path) -> IO[bytes]:
        """Open a plain file; a pipe would wait, a device never end."""
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        return os.fdopen(handle, "rb")

    def is_file(self, path: Path) -> bool:
        """Return whether a plain file is there."""
        try:
            return stat.S_ISREG(path.stat().st_mode)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR}:
                return False
            raise

    def version(self, path: Path) -> FileVersion | None:
        """Return which file is there."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder."""
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def make_folder(self, folder: Path, *, new: bool = False) -> list[Path]:
        """Make a folder."""
        missing = list(takewhile(lambda each: not each.exists(), (folder, *folder.parents)))
        folder.mkdir(parents=True, exist_ok=not new)
        return missing

    def is_makeable(self, folder: Path) -> bool:
        """Return whether the folder above can be written, and holds it itself."""
        return not folder.is_mount() and os.access(folder.parent, os.R_OK | os.W_OK)

    def create(self, path: Path, data: bytes) -> None:
        """Write a new file."""
        path.unlink(missing_ok=True)
        self._write(path, data, os.O_CREAT | os.O_EXCL)

    def append(self, path: Path, data: bytes) -> None:
        """Write at the end of a file."""
        self._write(path, data, os.O_CREAT | os.O_APPEND)

    def sync(self, path: Path) -> None:
        """Make the content of a file durable."""
        self._sync(path, os.O_RDONLY | os.O_NOFOLLOW)

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        self._sync(folder, os.O_RDONLY | os.O_DIRECTORY)

    def rename(self, source: Path, target: Path) -> None:
        """Put a file in the place of another."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink(missing_ok=True)

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder."""
        shutil.rmtree(folder, ignore_errors=True)

    def lock(self, path: Path) -> IO[bytes] | None:
        """Lock a file, whose content is left as it is.

        Whoever asks `is_locked` holds a lock for an instant: so a lock is tried more than once.
        """
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        file = os.fdopen(handle, "rb")
        try:
            for pause in LOCK_PAUSES_S:
                time.sleep(pause)
                with suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return file
        except OSError as error:
            file.close()
            if error.errno in LOCKLESS_ERRORS:
                reason = "its file system has no locks (flock)"
                raise OSError(error.errno, reason, str(path)) from error
            raise
        file.close()
        return None

    def still_locks(self, lock: IO[bytes], path: Path) -> bool:
        """Return whether a lock is of the file that is there."""
        try:
            return os.path.samestat(os.fstat(lock.fileno()), path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return False

    def is_locked(self, path: Path) -> bool:
        """Return whether a process holds the lock."""
        if not path.is_file():
            return False
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            except OSError as error:
                if error.errno not in LOCKLESS_ERRORS:
                    raise
        return False

    def _write(self, path: Path, data: bytes, flags: int) -> None:
        """Write all of some bytes; a link in the file's place is an error."""
        handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)

    def _sync(self, path: Path, flags: int) -> None:
        handle = os.open(path, flags | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


LOCAL_DISK: Final = LocalDisk()
"""The disk of this machine."""
