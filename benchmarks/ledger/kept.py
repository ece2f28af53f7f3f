"""Trainings of the ledger that are not over, kept at each point: hours may come in pieces."""

import re
import shutil
from pathlib import Path
from typing import Final

from rolecast.benchmarks.resumable import UNFINISHED, Row
from rolecast.core.files import read_json, write_json
from rolecast.platform.tuning.learner import LearningMethod

FOLDER: Final = "unfinished"
"""Beside the results file."""

ROW: Final = "row.json"
"""What a training has come to; written last, so that a folder without it was cut off."""


class Kept:
    """The last point of one training: a learner's state, and the row so far."""

    def __init__(self, folder: Path, key: str) -> None:
        """Name its place; nothing is written.

        Args:
            folder: of the results.
            key: of the cell.
        """
        self.path = folder / FOLDER / re.sub(r"[^\w.]+", "-", key)

    def read(self) -> Row | None:
        """Return the row so far, marked as unfinished; None before the first point."""
        states = self._states()
        return read_json(states[-1] / ROW) if states else None

    def restore(self, learner: LearningMethod) -> None:
        """Let a new learner go on from the last point, of which there must be one."""
        learner.restore(self._states()[-1])

    def write(self, row: Row, learner: LearningMethod) -> None:
        """Keep a point in place of the one before."""
        before = self._states()
        folder = self.path / f"{len(row['curve']):03}"
        shutil.rmtree(folder, ignore_errors=True)  # of one that was cut off
        folder.mkdir(parents=True)
        learner.save(folder)
        write_json(folder / ROW, row | {UNFINISHED: True})
        for old in before:
            shutil.rmtree(old)

    def drop(self) -> None:
        """Forget the training."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _states(self) -> list[Path]:
        """Return the folders of whole points, the last one last."""
        return sorted(path.parent for path in self.path.glob(f"*/{ROW}"))


def unfinished(folder: Path) -> list[Row]:
    """Return the rows so far of all trainings that are kept in a folder of results."""
    points = sorted((folder / FOLDER).glob(f"*/*/{ROW}"))
    last = {path.parent.parent: path for path in points}
    return [read_json(path) for path in last.values()]
