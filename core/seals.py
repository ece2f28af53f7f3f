"""Seals: a digest inside a file over all its bytes, so that no flipped bit is read as data.

A seal is text of a fixed length somewhere in the file: the SHA-256 of the file with zeros in the
seal's place. Files of older releases have none and are read as they are.
"""

import hashlib
import re
from typing import Final

SEAL_PREFIX: Final = "rolecast-sha256:"
"""Beginning of a seal."""

BLANK_SEAL: Final = SEAL_PREFIX + 64 * "0"
"""Seal of a file that is not sealed yet; to be written once into its content."""

_SEAL_PATTERN: Final = re.compile(re.escape(SEAL_PREFIX).encode() + rb"([0-9a-f]{64})")


def seal(data: bytes, *, in_head: bool = False) -> bytes:
    """Return a file's content with the digest in place of its blank seal.

    Args:
        data: holds `BLANK_SEAL`; text of the same look in the file's other data is left alone.
        in_head: whether the seal comes before all other data, not after it.
    """
    blank = BLANK_SEAL.encode()
    place = data.find(blank) if in_head else data.rfind(blank)
    assert place >= 0, "expected a blank seal"
    sealed = (SEAL_PREFIX + hashlib.sha256(data).hexdigest()).encode()
    return data[:place] + sealed + data[place + len(blank) :]


def seal_holds(data: bytes) -> bool | None:
    """Return whether a file's content is that which was sealed; None where it has no seal."""
    if SEAL_PREFIX.encode() not in data:
        return None
    places = [match.span(1) for match in _SEAL_PATTERN.finditer(data)]
    return any(_is_digest(data, *span) for span in {*places[:1], *places[-1:]})


def _is_digest(data: bytes, begin: int, end: int) -> bool:
    """Return whether a part of some bytes is their digest, with zeros in its place."""
    blanked = data[:begin] + 64 * b"0" + data[end:]
    return hashlib.sha256(blanked).hexdigest().encode() == data[begin:end]
