"""Files that are either whole or absent: written beside their place, then moved into it."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from shlex import quote
from typing import IO, Any, Final, Never, TypeVar

from rolecast.core.disk import LOCAL_DISK, Disk
from rolecast.core.errors import RequestError, RunError
from rolecast.core.seals import BLANK_SEAL, seal, seal_holds

Stored = TypeVar("Stored")

SEAL_KEY: Final = "seal"
"""Last key of a sealed JSON file."""


def write_bytes(path: Path, data: bytes, *, disk: Disk = LOCAL_DISK, durable: bool = True) -> None:
    """Put data at path in one step.

    Args:
        path: its folder is made where it is missing.
        data: the whole content.
        disk: on which.
        durable: whether it is to survive a power cut that follows.
    Raises:
        RunError: the disk is full, or the path cannot be written.
    """
    with being_written(path, disk=disk, durable=durable) as beside:
        disk.create(beside, data)


@contextmanager
def being_written(path: Path, *, disk: Disk = LOCAL_DISK, durable: bool = True) -> Iterator[Path]:
    """Yield the path of a file to be written, and move it to its place in one step at the end.

    Arguments and errors as of `write_bytes`.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        make_folder(path.parent, disk=disk, durable=durable)
        yield beside
        if durable:
            disk.sync(beside)
        disk.rename(beside, path)
        if durable:
            disk.sync_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error


def make_folder(
    folder: Path, *, disk: Disk = LOCAL_DISK, new: bool = False, durable: bool = True
) -> None:
    """Make a folder and those above it, where they are missing; arguments as in `write_bytes`.

    Where it is to be `new`, those above are made durable too, and itself where it is there: an
    earlier process may have made them and ended before they were.

    Raises:
        FileExistsError: it is there, and should be `new`.
        OSError: it cannot be made.
    """
    missing, there = list[Path](), None
    try:
        missing = disk.make_folder(folder, new=new)
    except FileExistsError as error:
        there = error
    if durable:
        whole = folder.absolute()
        named = takewhile(disk.is_makeable, (whole, *whole.parents)) if new else missing
        for made in named:
            disk.sync_folder(made.parent)
    if there is not None:
        raise there


def settle_folder(folder: Path, *, disk: Disk = LOCAL_DISK) -> None:
    """Make all that is in a folder durable, and its own name.

    Raises:
        RunError: the disk is full, or something cannot be written.
    """
    try:
        _settle_files(folder, disk)
        disk.sync_folder(folder.parent)
    except OSError as error:
        raise unwritable(folder, error) from error


def _settle_files(folder: Path, disk: Disk) -> None:
    for path in (folder / name for name in disk.names(folder)):
        if disk.is_file(path):
            disk.sync(path)
        else:
            _settle_files(path, disk)
    disk.sync_folder(folder)


def remove_half_written(folder: Path, *, disk: Disk = LOCAL_DISK) -> None:
    """Remove files that a killed process left beside their place; for who holds the lock."""
    for name in filter(is_half_written, disk.names(folder)):
        disk.remove(folder / name)


def is_half_written(name: str) -> bool:
    """Return whether a file has the name of one that `being_written` has not moved yet."""
    return name.startswith(".") and name.endswith(".tmp")


def require_writable(folder: Path) -> None:
    """Refuse a folder in which no file can be made.

    Raises:
        RequestError: names it and the reason.
    """
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise RequestError(
            f"{folder} cannot be written ({error.strerror}); expected a folder of your own, such "
            "as a copy"
        ) from error


def in_shell(path: str | Path) -> str:
    """Return a path as one word of a command that is printed."""
    return quote(str(path))


def unmakeable(folder: Path, error: OSError) -> RequestError:
    """Return the refusal of an output folder that cannot be made."""
    return RequestError(f"--out {folder} cannot be made: {error.strerror}")


def unwritable(path: Path, error: OSError) -> RunError:
    """Return the error of a path that cannot be written, with what to do."""
    reason = error.strerror or type(error).__name__
    return RunError(
        f"{path} cannot be written ({reason}); make room or mend it, then give the command again; "
        "a search goes on by `rolecast resume DIR`, a comparison by `rolecast compare NAME --out "
        "DIR --resume`"
    )


def read_bytes(path: Path, *, disk: Disk = LOCAL_DISK) -> bytes:
    """Return the content of a plain file; errors as of `being_read`."""
    with being_read(path, disk=disk) as file:
        return file.read()


@contextmanager
def being_read(path: Path, *, disk: Disk = LOCAL_DISK) -> Iterator[IO[bytes]]:
    """Open a plain file to be read.

    Raises:
        RequestError: it is missing, is no plain file, or cannot be read.
    """
    try:
        with disk.open(path) as file:
            yield file
    except FileNotFoundError:
        raise RequestError(f"{path} does not exist; expected the folder of a run") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RequestError(f"{path} cannot be read: {reason}") from error


def is_file(path: Path, *, disk: Disk = LOCAL_DISK) -> bool:
    """Return whether a plain file is there.

    Raises:
        RequestError: something else is there, such as a folder or a pipe.
    """
    try:
        if disk.is_file(path):
            return True
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror}") from error
    if path.name in disk.names(path.parent):
        if disk.is_file(path):  # made since the first look, by a run that goes on
            return True
        raise RequestError(f"{path} is no plain file; expected a file of a run")
    return False


def write_all(files: Mapping[Path, bytes]) -> list[Path]:
    """Put data at each of some paths, each in one step; return the paths."""
    for path, data in files.items():
        write_bytes(path, data)
    return list(files)


def write_json(path: Path, value: Any) -> None:
    """Put a JSON value at path in one step; infinities and NaN are refused."""
    write_bytes(path, _json_bytes(value))


def write_sealed_json(
    path: Path, value: Mapping[str, Any], *, disk: Disk = LOCAL_DISK, durable: bool = True
) -> None:
    """Put a JSON object at path in one step, with a seal as its last key."""
    write_bytes(path, sealed_json(value), disk=disk, durable=durable)


def sealed_json(value: Mapping[str, Any]) -> bytes:
    """Return a JSON object as text, with a seal as its last key."""
    return seal(_json_bytes({**value, SEAL_KEY: BLANK_SEAL}))


def read_json(path: Path, *, disk: Disk = LOCAL_DISK) -> dict[str, Any]:
    """Return the JSON object at path, without its seal; errors also as of `json_object`.

    Raises:
        RequestError: the file is missing, or cannot be read.
    """
    return json_object(path, read_bytes(path, disk=disk))


def json_object(path: Path, content: bytes) -> dict[str, Any]:
    """Return the JSON object that is the content of the file at path, without its seal.

    A sealed file that a person or a program has written anew is read as it is: its text is then
    laid out in another way, which no damage does.

    Raises:
        RequestError: the content is no JSON object, or is not what was sealed.
    """
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "too deep" if isinstance(error, RecursionError) else str(error)
        raise RequestError(f"{path} is damaged: it is not JSON ({reason})") from error
    if not isinstance(value, dict):
        raise RequestError(f"{path} is damaged: expected a JSON object")
    sealed = SEAL_KEY in value or seal_holds(content) is not None
    if sealed and _laid_out_here(content) and not seal_holds(content):
        raise RequestError(
            f"{path} is damaged: its seal is wrong; if you have changed it by hand, remove its "
            f"key {SEAL_KEY!r}"
        )
    value.pop(SEAL_KEY, None)
    return value


def parsed(path: Path, build: Callable[[], Stored]) -> Stored:
    """Return what is built from the content of a file.

    Raises:
        RequestError: a field is missing or of another kind.
    """
    try:
        return build()
    except RequestError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise RequestError(f"{path} is damaged: a field is missing or wrong ({what})") from error


def file_name(words: str) -> str:
    """Return words as the name of a file or folder: what is special in a path or shell is `_`."""
    return re.sub(r"[^A-Za-z0-9_.=+-]+", "_", words)


def _json_bytes(value: Any) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _laid_out_here(content: bytes) -> bool:
    """Return whether a JSON object begins and ends as `_json_bytes` writes one."""
    return content.startswith(b'{\n  "') and content.endswith(b"\n}\n")


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is no number of JSON")
