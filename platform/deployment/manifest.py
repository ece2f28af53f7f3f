"""The manifest of an export: what was exported, what was checked, and the digest of each file."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.policies.signature import verify_file

MANIFEST_SCHEMA: Final = 1
MANIFEST_FILE: Final = "manifest.json"


@dataclass(frozen=True, kw_only=True)
class BuiltExport:
    """What a target is made of, checked."""

    files: Mapping[str, bytes]
    """Name to content."""

    check: Mapping[str, Any]
    """How it was checked, for the manifest."""

    loss: Mapping[str, float] | None = None
    """Return of float32 and of integers, where they differ."""


def check_export(folder: str | Path, verify: str | Path | None = None) -> dict[str, Any]:
    """Return the manifest of an exported folder whose files are those that it was written for.

    Args:
        folder: that `export_policy` made.
        verify: file of an Ed25519 public key, which must have signed the manifest.
    Raises:
        RequestError: the manifest is missing or damaged, a file is not what it says, or there is
            no signature by that key.
    """
    if verify is not None:
        verify_file(Path(folder) / MANIFEST_FILE, verify)
    manifest = read_json(Path(folder) / MANIFEST_FILE)
    schema = manifest.get("schema")
    if type(schema) is not int or schema > MANIFEST_SCHEMA:
        raise RequestError(
            f"{Path(folder) / MANIFEST_FILE} has schema {schema!r}; expected an integer up to "
            f"{MANIFEST_SCHEMA}, which this release reads"
        )
    for name, digest in manifest.get("files", {}).items():
        path = Path(folder) / name
        if not path.is_file() or file_digest(path.read_bytes()) != digest:
            raise RequestError(f"{path} is not the file that {MANIFEST_FILE} was written for")
    return manifest


def file_digest(content: bytes) -> str:
    """Return the digest by which a manifest names the content of a file."""
    return hashlib.sha256(content).hexdigest()
