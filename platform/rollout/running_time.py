"""How long at least one episode ran, where calls overlap and their answers come in any order."""

from bisect import bisect_left, bisect_right
from typing import Final

SHORT_GAP_S: Final = 1e-4
"""Gap between calls that counts as running: a thread that takes its next call at once."""


class RunningTime:
    """Seconds in which at least one of the calls ran that were added."""

    def __init__(self) -> None:
        self.seconds = 0.0
        # Of the spans without a gap, which are apart and in order: one for each wait, not each call
        self._begins = list[float]()
        self._ends = list[float]()

    def add(self, begin: float, end: float) -> None:
        """Add a call that ran from one time to another of the same clock."""
        first = bisect_left(self._ends, begin - SHORT_GAP_S)
        last = bisect_right(self._begins, end + SHORT_GAP_S)
        joined = slice(first, last)
        begin, end = min([begin, *self._begins[joined]]), max([end, *self._ends[joined]])
        known = sum(self._ends[joined]) - sum(self._begins[joined])
        self.seconds += end - begin - known
        self._begins[joined], self._ends[joined] = [begin], [end]
