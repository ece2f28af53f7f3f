"""Seals: a digest inside a file over all its bytes, so that no flipped bit is read as data.

A seal is text of a fixed length somewhere in the file: the SHA-256 of the file with zeros in the
seal's place. Files of older releases have none and are read as they are.
"""

import hashlib
import re
from typing import IO, Final

SEAL_PREFIX: Final = "rolecast-sha256:"
"""Beginning of a seal."""

BLANK_SEAL: Final = SEAL_PREFIX + 64 * "0"
"""Seal of a file that is not sealed yet; to be written once into its content."""

SEALED_TAIL: Final = 1 << 20
"""Bytes at the end of a long file in which its seal is."""

PIECE_BYTES: Final = 1 << 20
"""Bytes of a long file that are read at once."""

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


class LongSeal:
    """Seals a file that is written piece by piece, with its blank seal in the last piece."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, piece: bytes) -> None:
        """Take in the next piece."""
        self._digest.update(piece)

    def last(self, piece: bytes) -> bytes:
        """Return the last piece with the seal."""
        self._digest.update(piece)
        before, blank, after = piece.rpartition(BLANK_SEAL.encode())
        assert blank, "expected a blank seal"
        return before + (SEAL_PREFIX + self._digest.hexdigest()).encode() + after


def long_seal_holds(file: IO[bytes]) -> bool | None:
    """Return what `seal_holds` does for a file with its seal near the end, read in pieces."""
    start = max(0, file.seek(0, 2) - SEALED_TAIL)
    file.seek(start)
    found = list(_SEAL_PATTERN.finditer(file.read()))
    if not found:
        return None
    begin = start + found[-1].start(1)
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(min(PIECE_BYTES, begin - file.tell())):
        digest.update(piece)
    named = file.read(64)
    digest.update(64 * b"0")
    while piece := file.read(PIECE_BYTES):
        digest.update(piece)
    return digest.hexdigest().encode() == named
