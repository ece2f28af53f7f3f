"""The manifest of an export: what was exported, what was checked, and the digest of each file."""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.files import json_object, read_bytes, unmakeable, write_json
from rolecast.policies.signature import sign_file, verify_file

MANIFEST_SCHEMA: Final = 1
MANIFEST_FILE: Final = "manifest.json"

SOURCE_SUFFIXES: Final = (
    *(".c", ".cc", ".cpp", ".cxx", ".c++", ".ino", ".s", ".asm"),
    *(".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".inl"),
    *(".py", ".pyc", ".pyd", ".so", ".mpy"),
)
"""Endings, in small letters, of files that a build or Python takes up by itself. Objects and
libraries that a user has built beside an export are none."""


@dataclass(frozen=True, kw_only=True)
class BuiltExport:
    """What a target is made of, checked."""

    files: Mapping[str, bytes]
    """Name to content."""

    check: Mapping[str, Any]
    """How it was checked, for the manifest."""

    loss: Mapping[str, float] | None = None
    """Return of float32 and of integers, where they differ."""


def refuse_existing(target: Path) -> None:
    """Refuse to write where there is something.

    Raises:
        RequestError: there is.
    """
    if target.exists() or target.is_symlink():
        raise RequestError(f"{target} exists; expected a folder to make: name another by --out")


def write_export(
    target: Path,
    language: str,
    told: Mapping[str, Any],
    build: Callable[[Path], BuiltExport],
    *,
    sign: str | Path | None = None,
) -> dict[str, Any]:
    """Build an export beside its folder, and let it appear whole; return its manifest.

    Args:
        target: folder to make, absolute.
        language: target of the export.
        told: further fields of the manifest.
        build: makes and checks the files, in a folder that it is given.
        sign: file of an Ed25519 private key for the manifest.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unmakeable(target, error) from error
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
        export = build(Path(scratch))
        built = Path(scratch) / "export"
        built.mkdir()
        for name, content in export.files.items():
            (built / name).write_bytes(content)
        manifest = {
            "schema": MANIFEST_SCHEMA,
            "rolecast": rolecast.__version__,
            "target": language,
            "loss_of_return": export.loss,
            **told,
            "check": export.check,
            "files": {name: file_digest(content) for name, content in export.files.items()},
            "bytes": {name: len(content) for name, content in export.files.items()},
        }
        write_json(built / MANIFEST_FILE, manifest)
        if sign is not None:
            sign_file(built / MANIFEST_FILE, sign)
        built.rename(target)
    return manifest


def check_export(folder: str | Path, verify: str | Path | None = None) -> dict[str, Any]:
    """Return the manifest of an exported folder whose files are those that it was written for.

    Args:
        folder: that `export_policy` made.
        verify: file of an Ed25519 public key, which must have signed the manifest.
    Raises:
        RequestError: the manifest is missing or damaged, a file is not what it says, or there is
            no signature by that key.
    """
    place = Path(folder) / MANIFEST_FILE
    if not place.exists():
        raise RequestError(f"{place} does not exist; expected a folder that was exported, to check")
    content = read_bytes(place) if verify is None else verify_file(place, verify)
    manifest = json_object(place, content)
    schema = manifest.get("schema")
    if type(schema) is not int or schema > MANIFEST_SCHEMA:
        raise RequestError(
            f"{place} has schema {schema!r}; expected an integer up to "
            f"{MANIFEST_SCHEMA}, which this release reads"
        )
    named = manifest.get("files")
    outside = [each for each in named if Path(each).name != each] if type(named) is dict else []
    if not isinstance(named, dict) or outside:
        found = repr(outside[0]) if outside else "no files"
        raise RequestError(f"{place} names {found}; expected names of files beside it")
    for path in sorted(Path(folder).iterdir()):
        # A package of the module's name would be imported in its place.
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.suffix.lower() in SOURCE_SUFFIXES and (file != path or path.name not in named):
                raise RequestError(f"{file} is source that {MANIFEST_FILE} does not name")
    for name, digest in named.items():
        path = Path(folder) / name
        if not path.is_file():
            raise RequestError(f"{path} is missing, and {MANIFEST_FILE} names it")
        if file_digest(path.read_bytes()) != digest:
            raise RequestError(f"{path} is not the file that {MANIFEST_FILE} was written for")
    return manifest


def file_digest(content: bytes) -> str:
    """Return the digest by which a manifest names the content of a file."""
    return hashlib.sha256(content).hexdigest()
