"""The most memory that this process has held, where a benchmark measures how it grows."""

import resource
import sys
from typing import Final

PER_MIB: Final = 2**20 if sys.platform == "darwin" else 2**10
"""Units of `ru_maxrss` in a MiB."""


def peak_mib() -> float:
    """Return the greatest resident memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / PER_MIB
