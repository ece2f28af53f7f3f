"""Batch of a local search: all evaluations told between two calls of `ask`.

A search learns from a batch as a whole, however many calls told it. It may learn from the first
part already. Before it learns from more, it returns to its position before the batch.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.platform.optimizers.local_gp.pending import NEVER_ASKED
from rolecast.platform.optimizers.observations import Observations


class Batch:
    """Evaluations of a batch, the pairs of its candidates, and the position before it."""

    def __init__(self, dimension: int) -> None:
        self.evaluations = Observations(dimension)
        self.pairs = np.zeros(0, dtype=np.int64)
        """Numbers [q] of pairs, `NEVER_ASKED` for candidates without one."""
        self.before: dict[str, Any] | None = None
        """Position of the search before the batch; None before its first evaluation."""
        self.learned = 0
        """Evaluations from which the search has learned."""

    def __len__(self) -> int:
        return len(self.evaluations)

    def pace(self, spent: float) -> None:
        """Set the share of the budget spent in the position before the batch, too."""
        if self.before is not None:
            self.before["cloud"] = {**self.before["cloud"], "spent": spent}

    def groups(self, known: int) -> NDArray[np.int64]:
        """Return the group [q] of each evaluation, of which `known` came before the batch.

        A group is the number of the first evaluation of its pair in this batch. A candidate that
        was never asked for has its own.
        """
        groups, first = known + np.arange(len(self.pairs)), dict[int, int]()
        for place, pair in enumerate(self.pairs.tolist()):
            if pair != NEVER_ASKED:
                groups[place] = first.setdefault(pair, known + place)
        return groups

    def state_dict(self) -> dict[str, Any]:
        """Return evaluations, pairs and the position before the batch, from all of it learned."""
        return {
            "evaluations": self.evaluations.state_dict(),
            "pairs": self.pairs.copy(),
            "before": None if self.before is None else dict(self.before),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.evaluations.load_state_dict(state["evaluations"])
        self.pairs = np.array(state["pairs"], dtype=np.int64)
        self.before = None if state["before"] is None else dict(state["before"])
        self.learned = len(self.evaluations)
