"""Files that are either whole or absent: written beside their place, then moved into it."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rolecast.core.errors import RequestError


def write_bytes(path: Path, data: bytes) -> None:
    """Put data at path in one step, and on the disk before that."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def write_all(files: Mapping[Path, bytes]) -> list[Path]:
    """Put data at each of some paths, each in one step; return the paths."""
    for path, data in files.items():
        write_bytes(path, data)
    return list(files)


def write_json(path: Path, value: Any) -> None:
    """Put a JSON value at path in one step; infinities and NaN are refused."""
    write_bytes(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object at path.

    Raises:
        RequestError: the file is missing, or is no JSON object.
    """
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RequestError(f"{path} does not exist; expected the folder of a run") from None
    except ValueError as error:
        raise RequestError(f"{path} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise RequestError(f"{path} is damaged: expected a JSON object")
    return value


def file_name(words: str) -> str:
    """Return words as the name of a file or folder: what is special in a path or shell is `_`."""
    return re.sub(r"[^A-Za-z0-9_.=+-]+", "_", words)
