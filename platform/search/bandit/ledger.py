"""Ledger of what a bandit's parties send, in real numbers and in bytes: one for all methods."""

from dataclasses import dataclass
from typing import Final

REAL_BYTES: Final = 8
"""Bytes of a real number that is sent, a float64."""


@dataclass(frozen=True)
class Ledger:
    """Communication in real numbers, as equation 2 of the paper counts it.

    Uplink is the mean over agents of what each sends; a broadcast counts once.
    """

    uplink: float = 0.0
    """Real numbers that an agent sends, on average."""

    downlink: float = 0.0
    """Real numbers that the server broadcasts."""

    @property
    def reals(self) -> float:
        """Real numbers in all, C of the paper."""
        return self.uplink + self.downlink

    @property
    def byte_count(self) -> float:
        """The same in bytes of float64."""
        return REAL_BYTES * self.reals

    def plus(self, *, uplink: float = 0.0, downlink: float = 0.0) -> "Ledger":
        """Return the ledger after more was sent."""
        return Ledger(self.uplink + uplink, self.downlink + downlink)
