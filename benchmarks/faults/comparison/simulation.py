"""One schedule of a comparison: real trials, folders, watch and driver under simulated faults."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from rolecast.benchmarks.faults.comparison.parts import COMPARED_SEARCHES, EXPERIMENT
from rolecast.benchmarks.faults.comparison.tune import TRIALS_AT_ONCE, SimulatedTune
from rolecast.benchmarks.faults.outcome import (
    InvariantError,
    Outcome,
    Subject,
    outcome_of,
    require_sentence,
)
from rolecast.benchmarks.faults.schedule import Fault, faults_of
from rolecast.benchmarks.faults.world import POINT_LIMIT, World
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.tuning.comparison import check_folder, run_comparison
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.status import ComparisonStatus
from rolecast.policies.artefact import WEIGHTS_FILE

COMPARISON_PATH: Final = Path("/comparisons/simulated")
"""Folder of the comparison on the simulated disk."""

TIMED_COLUMNS: Final = ("wall_time_s",)
"""Columns that two comparisons do not share."""

STATUS_COLUMNS: Final = ("status", "error")
"""Columns that change while a comparison runs."""


@dataclass(frozen=True, eq=False)
class Undisturbed:
    """The comparison without faults."""

    rows: pd.DataFrame
    returns: Mapping[str, bytes]
    """All that each search was paid, batch by batch."""

    weights: Mapping[str, bytes]
    points: int


class Sentences:
    """What the user sees: a progress view that checks each sentence."""

    def __init__(self, world: World) -> None:
        self._world = world

    def start(self, title: str) -> None:
        """See what is compared."""
        require_sentence(title)

    def update(self, figures: ComparisonStatus, /) -> None:
        """See where it stands."""
        if figures.seconds_left() is not None and figures.points_left < 0:
            raise InvariantError("more points than there are")

    def note(self, text: str) -> None:
        """See a sentence."""
        require_sentence(text)

    def finish(self, text: str) -> None:
        """See the last sentence."""
        require_sentence(text)


def run_schedule(seed: int) -> Outcome:
    """Run the schedule of a seed."""
    return run_faults(seed, faults_of(seed, undisturbed().points))


def run_faults(seed: int, faults: Sequence[Fault]) -> Outcome:
    """Run the comparison under these faults."""
    known = undisturbed()
    world = World(faults, seed=seed, limit=POINT_LIMIT * known.points)
    return outcome_of(seed, faults, world, ComparisonSimulation(world, known))


@cache
def undisturbed() -> Undisturbed:
    """Return the comparison without faults."""
    world = World([], seed=0)
    simulation = ComparisonSimulation(world, None)
    simulation.life()
    return simulation.found()


class ComparisonSimulation(Subject):
    """A comparison's driver, life after life."""

    def __init__(self, world: World, known: Undisturbed | None) -> None:
        super().__init__(world, COMPARISON_PATH)
        self._known = known
        self._reports = Counter[str]()
        world.on_read = self._read

    def folder(self) -> ComparisonFolder:
        """Return the comparison's folder, as a process that begins now has it."""
        return ComparisonFolder(COMPARISON_PATH, disk=self.disk, clock=self._world.clock)

    def life(self) -> bool:
        """Run one driver; return whether no trial is left."""
        folder = self.folder()
        if self.disk.is_file(folder.experiment_file):
            check_folder(folder, EXPERIMENT, resume=True)
            self._require_kept()
        elif self._reports:
            raise InvariantError("reports were lost with the folder")
        tune = SimulatedTune(self._world, self.disk, folder, self._reports)
        seen = Sentences(self._world)
        plans = EXPERIMENT.trials()
        result = run_comparison(folder, EXPERIMENT, plans, TRIALS_AT_ONCE, seen, tune.run)
        for trial in result.failures:
            if tune.begun[trial] <= EXPERIMENT.retries:
                raise InvariantError(f"{trial} was given up after {tune.begun[trial]} processes")
        return not result.failures

    def found(self) -> Undisturbed:
        """Return what there is at the end."""
        folder, returns, weights = self.folder(), {}, {}
        for plan in EXPERIMENT.trials():
            if plan.method not in COMPARED_SEARCHES:
                continue
            run = RunFolder(folder.work(plan.trial).run, disk=self.disk)
            paid = [batch.observed_returns for batch in run.read_batches()]
            returns[plan.trial] = np.concatenate(paid).tobytes()
            weights[plan.trial] = self.disk.read(run.policy_folder / WEIGHTS_FILE)
        rows = folder.read().rows.drop(columns=list(TIMED_COLUMNS))
        return Undisturbed(rows, returns, weights, self._world.points)

    def _read(self) -> None:
        """Read the comparison as a report does, at any moment."""
        folder = self.folder()
        if self._known is None or not self.disk.is_file(folder.experiment_file):
            return
        rows = folder.read().rows.drop(columns=[*TIMED_COLUMNS, *STATUS_COLUMNS], errors="ignore")
        ComparisonStatus.of(folder, EXPERIMENT).rows()
        rows = rows[rows["point"].notna()]
        known = self._known.rows
        for trial in sorted(set(rows["trial"])):
            own = rows[rows["trial"] == trial].reset_index(drop=True)
            expected = known[known["trial"] == trial].reset_index(drop=True)[: len(own)]
            shared = [name for name in own.columns if name in expected.columns]
            if not own[shared].equals(expected[shared]):
                raise InvariantError(f"{trial} has other reports while it runs")

    def _require_kept(self) -> None:
        """Refuse the loss of a report that a driver has got."""
        for trial, reports in self._reports.items():
            kept = len(self.folder().work(trial).read().rows)
            if kept < reports:
                raise InvariantError(f"{kept} of {reports} reports of {trial} are left")

    def require_result(self) -> None:
        """Refuse a result that is not that of the undisturbed comparison, and what is left over."""
        assert self._known is not None
        found, known = self.found(), self._known
        if not found.rows.equals(known.rows):
            raise InvariantError("another table")
        for name in ("returns", "weights"):
            if getattr(found, name) != getattr(known, name):
                raise InvariantError(f"other {name}")
        for plan in EXPERIMENT.trials():
            work = self.folder().work(plan.trial)
            names = self.disk.names(work.path)
            expected = {".lock", "record.json"}
            last = work.learner(len(work.read().rows)).name
            expected.add("run" if plan.method in COMPARED_SEARCHES else last)
            if left := set(names) - expected:
                raise InvariantError(f"left over: {', '.join(sorted(left))}")
            if work.locked:
                raise InvariantError(f"{plan.trial} is locked after its end")
