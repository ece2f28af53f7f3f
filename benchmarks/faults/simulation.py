"""One schedule: the real search loop, journal, session and checkpoints under simulated faults.

A driver runs until it ends or is ended, and is then started again as `rolecast resume` does, until
the search has its result. What must hold at each step is checked here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.faults.cluster import ACTOR_COUNT, SharedEvaluator
from rolecast.benchmarks.faults.outcome import (
    InvariantError,
    Outcome,
    Subject,
    outcome_of,
    require_sentence,
)
from rolecast.benchmarks.faults.parts import (
    SEARCH_KINDS,
    SMALL_PIECE,
    SearchKind,
    SimulatedBackend,
    SimulatedEvaluator,
    plan_of,
)
from rolecast.benchmarks.faults.schedule import Fault, FaultKind, faults_of
from rolecast.benchmarks.faults.world import POINT_LIMIT, World
from rolecast.core.errors import RequestError
from rolecast.platform.rollout.evaluator import Evaluator
from rolecast.platform.search.planning.plan import run_record
from rolecast.platform.search.progress import ProgressSnapshot
from rolecast.platform.search.records.history import Batch
from rolecast.platform.search.records.journal import SYNC_INTERVAL_S
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.result import SearchResult
from rolecast.platform.search.run import run_to_end
from rolecast.policies.artefact import WEIGHTS_FILE
from rolecast.policies.normalisation import ObservationStatistics

RUN_PATH: Final = Path("/runs/simulated")
"""Folder of the run on the simulated disk."""

CHECKPOINT_SLACK_S: Final = 0.5
"""Longest time from a batch's record to its report: that of a checkpoint."""

LONGEST_SILENCE_S: Final = 600.0
"""Longest time from one batch to the next, whatever is lost; more only if all actors are late."""

TIMED_FIELDS: Final = ("wall_time_s",)
"""Fields of a batch that two runs do not share."""


@dataclass
class Witnessed:
    """What the user saw of a run: a `Progress` that checks each sentence."""

    world: World
    batches: list[float] = field(default_factory=list)
    """When each batch was written, the first one first."""

    since_s: float = 0.0
    """When the last one was, by a clock that does not jump."""

    def start(self, title: str) -> None:
        """See what is searched."""
        require_sentence(title)

    def update(self, figures: ProgressSnapshot, /) -> None:
        """See a batch."""
        late = sum(fault.kind is FaultKind.LATE for fault in self.world.struck)
        silent_s = self.world.simulated_s - self.since_s
        if silent_s > LONGEST_SILENCE_S and late < ACTOR_COUNT:
            raise InvariantError(f"no batch for {silent_s:.0f} s")
        self.since_s = self.world.simulated_s
        del self.batches[figures.batch - 1 :]
        self.batches.append(self.world.journal_s)

    def note(self, text: str) -> None:
        """See a sentence."""
        if not self.world.dead:
            require_sentence(text)

    def finish(self, text: str) -> None:
        """See the last sentence."""
        if not self.world.dead:
            require_sentence(text)


@dataclass(frozen=True, eq=False)
class Undisturbed:
    """The search without faults."""

    batches: Sequence[Batch]
    result: SearchResult
    weights: bytes
    names: frozenset[Path]
    """Of all files and folders of the run."""

    points: int


def run_schedule(seed: int) -> Outcome:
    """Run the schedule of a seed."""
    kind = SEARCH_KINDS[seed % len(SEARCH_KINDS)]
    return run_faults(seed, faults_of(seed, undisturbed(kind).points))


def run_faults(seed: int, faults: list[Fault]) -> Outcome:
    """Run the search of a seed under these faults."""
    kind = SEARCH_KINDS[seed % len(SEARCH_KINDS)]
    known = undisturbed(kind)
    world = World(faults, seed=seed, limit=POINT_LIMIT * known.points)
    return outcome_of(seed, faults, world, Simulation(kind, world, known))


@cache
def undisturbed(kind: SearchKind) -> Undisturbed:
    """Return the search without faults."""
    world = World([], seed=0)
    simulation = Simulation(kind, world, None)
    simulation.life()
    policy = RUN_PATH / "policy"
    return Undisturbed(
        batches=simulation.folder().read_batches(),
        result=simulation.result,
        weights=simulation.disk.read(policy / WEIGHTS_FILE),
        names=simulation.names(),
        points=world.points,
    )


@cache
def record_of(kind: SearchKind) -> dict[str, Any]:
    """Return what run.json says, versions of packages included, which take long to look up."""
    return run_record(plan_of(kind, str(RUN_PATH)))


class Simulation(Subject):
    """A search's driver, life after life."""

    result: SearchResult

    def __init__(self, kind: SearchKind, world: World, known: Undisturbed | None) -> None:
        super().__init__(world, RUN_PATH)
        self._plan = plan_of(kind, str(RUN_PATH))
        self._record, self._actors = record_of(kind), kind.actors
        self._known = known
        self._seen = Witnessed(world)
        self._least = 0
        self._has_read = False
        world.on_read = self._read

    def folder(self) -> RunFolder:
        """Return the run's folder, as a process that begins now has it."""
        return RunFolder(RUN_PATH, disk=self.disk, clock=self._world.clock, piece_bytes=SMALL_PIECE)

    def names(self) -> frozenset[Path]:
        """Return the paths of what the run has whenever faults strike.

        A power cut may take status.json, and a state is saved only where a search lasts long.
        """
        found, folders = set[Path](), [RUN_PATH]
        while folders:
            folder = folders.pop()
            within = [folder / name for name in self.disk.names(folder)]
            folders += [path for path in within if not self.disk.is_file(path)]
            found.update(within)
        return frozenset(found - {self.folder().status_file, self.folder().state_file})

    def life(self) -> bool:
        """Run one driver; note its result, and what the next one must find."""
        self._has_read = False
        try:
            self.result = self._search()
        finally:
            self._least = self._promised()
        return True

    def _search(self) -> SearchResult:
        """Return the result of a new search, or of one that resumes."""
        folder = self.folder()
        if self._begin_anew(folder):
            self._has_read = True
            folder.make(self._record)
        else:
            run = folder.read_run()
            folder.lock()
            self._require_kept(folder.read_batches())
            folder.read_summary()
            folder.read_state()
            folder.write_run({**run, **self._record})
        evaluator: Evaluator = SimulatedEvaluator(self._world)
        if self._actors:
            evaluator = SharedEvaluator(self._world, self._seen.note)
        backend = SimulatedBackend(self._world, evaluator)
        return run_to_end(self._plan, folder, backend, self._seen)

    def _begin_anew(self, folder: RunFolder) -> bool:
        """Return whether no search was begun, whatever is left of its folder."""
        if self.disk.is_file(folder.run_file):
            return False
        try:
            folder.read_run()
        except RequestError as error:
            require_sentence(str(error))
        if self._least:
            raise InvariantError(f"{self._least} batches were lost with the folder")
        return True

    def _read(self) -> None:
        """Read the run as another process does, at any moment."""
        if self.disk.is_file(RUN_PATH / "run.json"):
            folder = self.folder()
            folder.read_run()
            self._require_equal(folder.read_batches())

    def _promised(self) -> int:
        """Return how many batches the next driver must find."""
        times = self._seen.batches
        count = len(times)
        if any(fault.kind is FaultKind.POWER for fault in self._world.struck):
            count = sum(t <= times[-1] - SYNC_INTERVAL_S - CHECKPOINT_SLACK_S for t in times)
        # What a driver has not read may have been lost before it.
        return count if self._has_read else min(count, self._least)

    def _require_kept(self, batches: Sequence[Batch]) -> None:
        """Refuse the loss of a batch that was kept, and any other history."""
        if len(batches) < self._least:
            raise InvariantError(f"{len(batches)} of {self._least} batches are left")
        self._require_equal(batches)
        self._seen.batches = self._seen.batches[: len(batches)]
        self._has_read = True

    def _require_equal(self, batches: Sequence[Batch]) -> None:
        """Refuse batches that are not the first of the undisturbed search."""
        if self._known is None:
            return
        if len(batches) > len(self._known.batches):
            raise InvariantError(f"{len(batches)} batches, not {len(self._known.batches)}")
        for batch, other in zip(batches, self._known.batches, strict=False):
            for name, value in vars(batch).items():
                if name not in TIMED_FIELDS and not _same(value, getattr(other, name)):
                    raise InvariantError(f"batch {batch.index} has another {name}")

    def require_result(self) -> None:
        """Refuse a result that is not that of the undisturbed search, and what is left over."""
        assert self._known is not None
        batches = self.folder().read_batches()
        self._require_equal(batches)
        expected = self._known.result
        if len(batches) != len(self._known.batches):
            raise InvariantError(f"{len(batches)} batches, not {len(self._known.batches)}")
        if self.result.test_return != expected.test_return:
            raise InvariantError("another held-out return")
        if self.disk.read(RUN_PATH / "policy" / WEIGHTS_FILE) != self._known.weights:
            raise InvariantError("other weights")
        if other := self.names() ^ self._known.names:
            raise InvariantError(f"left over or missing: {', '.join(map(str, sorted(other)))}")
        lock = self.disk.lock(RUN_PATH / ".lock")
        if lock is None:
            raise InvariantError("the run is locked after its end")
        lock.close()


def _same(value: object, other: object) -> bool:
    """Return whether two fields of batches are equal bit by bit."""
    if type(value) is not type(other):
        return False
    if isinstance(value, np.ndarray):
        assert isinstance(other, np.ndarray)
        alike = value.shape == other.shape and value.dtype == other.dtype
        return alike and value.tobytes() == other.tobytes()
    if isinstance(value, ObservationStatistics):
        return all(_same(each, getattr(other, name)) for name, each in vars(value).items())
    return value == other
