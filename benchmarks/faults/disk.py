"""A disk in memory that a power cut treats as badly as a file system may.

Content is durable after a sync of its file, and a name after a sync of its folder. Of what is not,
a power cut keeps any part: a beginning of what was appended, sectors of zeros in it, and each new
name, move or removal or not, in any combination. Source: Pillai and others (2014), "All file
systems are not created equal".
"""

import errno
import os
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import IO, Final

import numpy as np

from rolecast.benchmarks.faults.schedule import Fault
from rolecast.benchmarks.faults.world import World
from rolecast.core.disk import FileVersion
from rolecast.platform.search.records.journal import JOURNAL_FILE, SECTOR_BYTES

WRITE_S: Final = 1e-4
SYNC_S: Final = 4e-3
"""Time of a write, and of a sync."""

ZEROED_SHARE: Final = 0.3
"""Power cuts after which a file has its new length, but not all of its new sectors."""


@dataclass(eq=False)
class _Inode:
    """A file, whatever its name; both contents begin alike, as files are written at the end."""

    content: bytes = b""
    durable: bytes = b""
    number: int = 0


Change = tuple[Path, _Inode | None]
"""A name, and what it stands for from now on; None: nothing."""


@dataclass(eq=False)
class _Folder:
    """A folder: changes of its names that are not durable, each of one step."""

    pending: list[list[Change]] = field(default_factory=list)


class SimulatedDisk:
    """A `Disk` of one schedule; each write passes points of its world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._files: dict[Path, _Inode] = {}
        self._durable_files: dict[Path, _Inode] = {}
        self._folders: dict[Path, _Folder] = {Path("/"): _Folder()}
        self._durable_folders: set[Path] = {Path("/")}
        self._removed: dict[Path, _Folder] = {}
        """Folders that are removed, with what is not durable of their names."""
        self._holders: dict[Path, object] = {}
        self._numbers = count()
        world.on_power_cut = self.cut_power

    def open(self, path: Path) -> IO[bytes]:
        """Open a file to be read."""
        return BytesIO(self.read(path))

    def read(self, path: Path) -> bytes:
        """Return the content of a file."""
        if path not in self._files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return self._files[path].content

    def is_file(self, path: Path) -> bool:
        """Return whether a file is there."""
        return path in self._files

    def version(self, path: Path) -> FileVersion | None:
        """Return which file is there."""
        inode = self._files.get(path)
        return None if inode is None else (inode.number, 0, len(inode.content))

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder."""
        within = str(folder)
        return sorted(
            p.name for p in (*self._files, *self._folders) if _folder_of(str(p)) == within
        )

    def make_folder(self, folder: Path, *, new: bool = False) -> list[Path]:
        """Make a folder."""
        self._reach("make folder", folder)
        if folder in self._folders:
            if new:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
            return []
        missing = [each for each in (folder, *folder.parents) if each not in self._folders]
        for each in missing:
            self._folders[each] = self._removed.pop(each, _Folder())
        return missing

    def is_makeable(self, folder: Path) -> bool:
        """Return whether it is not the root."""
        return folder != folder.parent

    def create(self, path: Path, data: bytes) -> None:
        """Write a new file."""
        self._reach("create", path)
        inode = self._new_inode()
        self._change([(path, inode)])
        self._write(inode, data, path)

    def append(self, path: Path, data: bytes) -> None:
        """Write at the end of a file."""
        self._reach("append", path)
        if path.name == JOURNAL_FILE:
            self._world.journal_s = self._world.now
        if path not in self._files:
            self._change([(path, self._new_inode())])
        self._write(self._files[path], data, path)

    def sync(self, path: Path) -> None:
        """Make the content of a file durable."""
        self._reach("sync", path)
        self._refuse_full(path)
        self._world.spend(SYNC_S)
        inode = self._files[path]
        inode.durable = inode.content

    def sync_folder(self, folder: Path) -> None:
        """Make the names in a folder durable."""
        self._reach("sync folder", folder)
        self._world.spend(SYNC_S)
        for change in self._folders[folder].pending:
            self._keep(change)
        self._folders[folder].pending.clear()
        for gone in [each for each in self._removed if each.parent == folder]:
            self._forget_durable(gone)
            for each in [each for each in self._removed if each.is_relative_to(gone)]:
                del self._removed[each]
        self._durable_folders |= {each for each in self._folders if each.parent == folder}

    def rename(self, source: Path, target: Path) -> None:
        """Put a file in the place of another."""
        self._reach("rename to", target)
        self._change([(source, None), (target, self._files[source])])

    def remove(self, path: Path) -> None:
        """Remove a file."""
        self._reach("remove", path)
        if path in self._files:
            self._change([(path, None)])

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder."""
        for path in sorted(each for each in self._files if each.is_relative_to(folder)):
            self.remove(path)
        for path in sorted(each for each in self._folders if each.is_relative_to(folder)):
            self._removed[path] = self._folders.pop(path)

    def _forget_durable(self, folder: Path) -> None:
        for path in [each for each in self._durable_files if each.is_relative_to(folder)]:
            del self._durable_files[path]
        self._durable_folders = {p for p in self._durable_folders if not p.is_relative_to(folder)}

    def lock(self, path: Path) -> IO[bytes] | None:
        """Lock a file until what is returned is closed, or the driver ends."""
        self._reach("lock", path)
        if path in self._holders:
            return None
        if path not in self._files:
            self._refuse_full(path)
            self._change([(path, self._new_inode())])
        return _Lock(self._holders, path)

    def still_locks(self, lock: IO[bytes], path: Path) -> bool:
        """Return whether a lock is the one that is held; no schedule removes a locked folder."""
        return isinstance(lock, _Lock) and lock.holder is self._holders.get(path)

    def is_locked(self, path: Path) -> bool:
        """Return whether a process has the lock."""
        return path in self._holders

    def release(self, folder: Path) -> None:
        """Release the locks of processes that have ended."""
        for path in tuple(self._holders):
            if path.is_relative_to(folder):
                self._holders.pop(path, None)

    def cut_power(self, fault: Fault) -> None:
        """Lose what is not durable, or some of it."""
        rng = np.random.default_rng(fault.draw)
        for folder in list(self._folders):
            if folder not in self._durable_folders and rng.random() < 0.5:
                self._durable_folders.add(folder)
        reached = {
            folder
            for folder in self._durable_folders
            if all(each in self._durable_folders for each in folder.parents)
        }
        known = self._folders | self._removed
        for path in sorted(known):
            for change in known[path].pending:
                if rng.random() < 0.5:
                    self._keep(change)
        self._durable_folders = reached
        self._durable_files = {
            path: inode for path, inode in self._durable_files.items() if path.parent in reached
        }
        for path in sorted(self._durable_files):
            inode = self._durable_files[path]
            inode.content = inode.durable = _torn(inode, rng)
        self._files = dict(self._durable_files)
        self._folders = {path: _Folder() for path in reached}
        self._removed.clear()

    def _new_inode(self) -> _Inode:
        return _Inode(number=next(self._numbers))

    def _reach(self, what: str, path: Path) -> None:
        self._world.reach(f"{what} {path.name}")
        self._world.spend(WRITE_S)

    def _write(self, inode: _Inode, data: bytes, path: Path) -> None:
        """Add data to a file in two parts, with a point between them."""
        part = (self._world.points * 7919) % (len(data) + 1)
        inode.content += data[:part]
        self._world.reach(f"within the write of {path.name}")
        self._refuse_full(path)
        inode.content += data[part:]

    def _refuse_full(self, path: Path) -> None:
        if self._world.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def _change(self, change: list[Change]) -> None:
        _apply(self._files, change)
        self._folders[change[0][0].parent].pending.append(change)

    def _keep(self, change: list[Change]) -> None:
        _apply(self._durable_files, change)


@cache
def _folder_of(path: str) -> str:
    """Return the folder of a file or folder; remembered, as paths are few, and are text."""
    return str(Path(path).parent) if path != "/" else ""


def _apply(files: dict[Path, _Inode], change: list[Change]) -> None:
    for path, inode in change:
        if inode is None:
            files.pop(path, None)
        else:
            files[path] = inode


def _torn(inode: _Inode, rng: np.random.Generator) -> bytes:
    """Return what a power cut leaves of a file."""
    safe = len(inode.durable)
    if safe == len(inode.content):
        return inode.content
    kept = bytearray(inode.content[: int(rng.integers(safe, len(inode.content) + 1))])
    if rng.random() < ZEROED_SHARE:
        for begin in range(safe - safe % SECTOR_BYTES, len(kept), SECTOR_BYTES):
            if rng.random() < 0.5:
                part = slice(max(begin, safe), min(begin + SECTOR_BYTES, len(kept)))
                kept[part] = bytes(part.stop - part.start)
    return bytes(kept)


class _Lock(BytesIO):
    """A lock that is held."""

    def __init__(self, holders: dict[Path, object], path: Path) -> None:
        super().__init__()
        self._holders, self._path = holders, path
        self.holder = holders[path] = object()

    def close(self) -> None:
        """Release it; that of a process that has ended, collected late, releases no other's."""
        if self._holders.get(self._path) is self.holder:
            del self._holders[self._path]
        super().close()
