"""Follows a comparison while Tune runs it: shows where it stands, and keeps trials.parquet."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from rolecast.core.errors import RequestError, RunError
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.progress import ComparisonProgress
from rolecast.platform.tuning.status import ComparisonStatus, TrialReader

POLL_S: Final = 1.0
"""Between two looks at what the trials have written."""

TABLE_SHARE: Final = 0.1
"""Most of the driver's time that goes into writing trials.parquet anew."""


class Watch:
    """Looks at the trials' files while Tune runs."""

    def __init__(
        self,
        folder: ComparisonFolder,
        experiment: Experiment,
        plans: Sequence[TrialPlan],
        at_once: int,
        progress: ComparisonProgress,
    ) -> None:
        self._folder, self._experiment = folder, experiment
        self._reader = TrialReader(folder, experiment)
        self._chosen = frozenset(plan.trial for plan in plans)
        self._at_once, self._progress = max(at_once, 1), progress
        self._end = threading.Event()
        self._reports = -1
        self._next_table = -math.inf

    def look(self, *, last: bool = False) -> ComparisonStatus:
        """Read and write where the comparison stands; show the trials that run now.

        The table of thousands of trials, one of which has always changed, is written now and then.

        Args:
            last: write it now, if anything has changed.
        """
        whole = ComparisonStatus(experiment=self._experiment, trials=self._reader.read())
        reports = hash(tuple((t.status, t.point) for t in whole.trials))
        start = self._folder.clock()
        if reports != self._reports and (last or start >= self._next_table):
            self._folder.write_rows(whole.rows())
            self._reports, end = reports, self._folder.clock()
            self._next_table = end + (end - start) / TABLE_SHARE
        standing = whole.restricted(self._chosen, at_once=self._at_once)
        self._progress.update(standing)
        return standing

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look once a second, in a thread, until the body ends."""
        thread = threading.Thread(target=self._watch, name="comparison-watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join()

    def glance(self) -> None:
        """Look, though the table may not be writable now: the last look says so, if it is so yet.

        Before it, trials that cannot write end by themselves, with the reason.
        """
        with suppress(RunError, RequestError):
            self.look()

    def _watch(self) -> None:
        while not self._end.wait(POLL_S):
            self.glance()
