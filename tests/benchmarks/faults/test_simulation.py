from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rolecast.benchmarks.app import app
from rolecast.benchmarks.faults import command
from rolecast.benchmarks.faults.cluster import SharedEvaluator
from rolecast.benchmarks.faults.command import Part, count_schedules
from rolecast.benchmarks.faults.disk import SimulatedDisk
from rolecast.benchmarks.faults.parts import SEARCH_KINDS
from rolecast.benchmarks.faults.schedule import Fault, FaultKind, faults_of, shrunk
from rolecast.benchmarks.faults.simulation import run_faults, run_schedule, undisturbed
from rolecast.benchmarks.faults.witness import WitnessConfig
from rolecast.benchmarks.faults.world import Killed, World
from rolecast.core.files import make_folder
from rolecast.platform.rollout.chunks import cut
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.journal import JOURNAL_FILE, Journal
from tests.platform.search.records.conftest import batch_of

LOG_PATH = Path("/runs/log")


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_searches_survive_schedules_of_faults(first: int) -> None:
    figures, failing = count_schedules(Part.SEARCHES, range(first, first + 50))
    assert failing == []
    assert figures["faults"] > 50


def test_every_kind_of_fault_strikes() -> None:
    kinds = {fault.kind for seed in range(60) for fault in faults_of(seed, 300)}
    assert kinds == set(FaultKind)


def test_one_seed_is_one_schedule() -> None:
    one, other = run_schedule(7), run_schedule(7)
    assert one.passed == other.passed
    assert one.simulated_s == other.simulated_s


@pytest.mark.parametrize("point", range(1, 60))
@pytest.mark.parametrize("kind", [FaultKind.KILL, FaultKind.POWER, FaultKind.TERM])
def test_a_search_that_ends_at_any_of_its_first_points_goes_on(point: int, kind: FaultKind) -> None:
    assert run_faults(0, [Fault(point, kind, point)]).failure is None


def test_a_search_that_ends_at_any_of_its_last_points_has_its_result() -> None:
    points = undisturbed(SEARCH_KINDS[0]).points
    for point in range(points - 40, points):
        assert run_faults(0, [Fault(point, FaultKind.KILL, 0)]).failure is None


@pytest.mark.parametrize(
    "seed", [511, 529, 751, 815, 1047, 1230, 3023, 4458, 6005, 7254, 7705, 63_102]
)
def test_a_schedule_that_once_failed_passes(seed: int) -> None:
    assert run_schedule(seed).failure is None


@pytest.mark.parametrize("stop", range(1, 3))
def test_folders_made_by_a_driver_that_was_stopped_are_durable_with_the_next(stop: int) -> None:
    for draw in range(8):
        faults = [Fault(stop, FaultKind.TERM, 0), Fault(90, FaultKind.POWER, draw)]
        assert run_faults(0, faults).failure is None


def test_a_driver_that_was_stopped_for_a_month_still_finds_who_is_late() -> None:
    jump, late = (Fault(60, kind, 1) for kind in (FaultKind.JUMP, FaultKind.LATE))
    assert run_faults(6, [jump, late]).failure is None


def test_a_batch_that_no_driver_has_read_since_a_power_cut_is_not_promised() -> None:
    for draw in range(20):
        faults = [Fault(80, FaultKind.POWER, draw), Fault(81, FaultKind.KILL, 0)]
        assert run_faults(1, faults).failure is None


def test_a_failing_schedule_is_made_small() -> None:
    faults = [Fault(point, FaultKind.KILL, 0) for point in range(6)]
    assert shrunk(faults, lambda few: {2, 4} <= {fault.point for fault in few}) == [
        faults[2],
        faults[4],
    ]


def test_a_power_cut_takes_what_is_not_durable_and_nothing_else() -> None:
    lengths, named = set(), set()
    for draw in range(40):
        world = World([], seed=0)
        disk = SimulatedDisk(world)
        disk.make_folder(LOG_PATH.parent)
        disk.append(LOG_PATH, b"safe")
        disk.sync(LOG_PATH)
        disk.sync_folder(LOG_PATH.parent)
        disk.sync_folder(Path("/"))
        disk.append(LOG_PATH, 2000 * b"x")
        disk.create(LOG_PATH.with_name("other"), b"data")
        disk.cut_power(Fault(0, FaultKind.POWER, draw))
        content = disk.read(LOG_PATH)
        assert content.startswith(b"safe")
        lengths.add(len(content))
        named.add(disk.is_file(LOG_PATH.with_name("other")))
    assert len(lengths) > 20
    assert named == {True, False}


def test_a_folder_that_is_found_is_made_durable_where_a_new_one_is_asked_for() -> None:
    for draw in range(10):
        disk = SimulatedDisk(World([], seed=0))
        disk.make_folder(LOG_PATH)
        with pytest.raises(FileExistsError):
            make_folder(LOG_PATH, disk=disk, new=True)
        disk.cut_power(Fault(0, FaultKind.POWER, draw))
        assert disk.names(LOG_PATH.parent) == [LOG_PATH.name]


def test_a_full_disk_keeps_a_part_and_tells() -> None:
    world = World([Fault(0, FaultKind.FULL, 0)], seed=0)
    disk = SimulatedDisk(world)
    disk.make_folder(LOG_PATH.parent)
    with pytest.raises(OSError, match=r"No space left on device: '/runs/log'"):
        disk.append(LOG_PATH, b"0123456789")
    world.begin_life()
    assert len(disk.read(LOG_PATH)) < 10
    disk.append(LOG_PATH, b"!")
    assert disk.read(LOG_PATH).endswith(b"!")


def test_a_dead_driver_writes_nothing() -> None:
    world = World([Fault(0, FaultKind.KILL, 0)], seed=0)
    disk = SimulatedDisk(world)
    for _ in range(2):
        with pytest.raises(Killed):
            disk.make_folder(LOG_PATH.parent)
    assert disk.names(Path("/")) == []


@pytest.mark.parametrize("draw", range(20))
def test_batches_that_another_driver_goes_on_from_are_durable(draw: int) -> None:
    """The driver that wrote them may have ended before the second after which it would have."""
    world = World([], seed=0)
    disk = SimulatedDisk(world)
    disk.make_folder(LOG_PATH)
    disk.sync_folder(LOG_PATH.parent)
    disk.sync_folder(LOG_PATH.parent.parent)
    path = LOG_PATH / JOURNAL_FILE
    ended = Journal(path, disk=disk, clock=world.clock)
    for index in range(3):
        ended.append(batch_of(index))
    Journal(path, disk=disk, clock=world.clock).repair()
    disk.cut_power(Fault(0, FaultKind.POWER, draw))
    assert [batch.index for batch in journal.read(path, disk=disk)] == [0, 1, 2]


def test_a_lock_of_a_dead_process_that_is_closed_late_releases_no_others() -> None:
    world = World([], seed=0)
    disk = SimulatedDisk(world)
    disk.make_folder(LOG_PATH.parent)
    stale = disk.lock(LOG_PATH)
    disk.release(LOG_PATH.parent)  # its process has ended
    lock = disk.lock(LOG_PATH)
    assert stale is not None
    assert lock is not None
    stale.close()
    assert disk.is_locked(LOG_PATH)
    assert disk.lock(LOG_PATH) is None
    lock.close()
    assert not disk.is_locked(LOG_PATH)


def test_a_witness_answers_otherwise_after_one_other_bit() -> None:
    asked = []
    for told in (0.5, np.nextafter(0.5, 1.0)):
        witness = WitnessConfig().build(dimension=3, seed=1)
        witness.tell(np.full((1, 3), 0.5), np.array([told]))
        asked.append(witness.ask(2))
    assert not np.array_equal(asked[0], asked[1])


def test_a_long_run_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "CHUNK_SCHEDULES", 2)
    monkeypatch.setattr(command, "SECONDS_SILENT", 0.0)
    told = CliRunner().invoke(app, ["faults", "--schedules", "3"]).output.splitlines()
    assert told[:2] == ["2 of 3 schedules: 0 failed", "3 of 3 schedules: 0 failed"]


def test_a_silent_cluster_is_told_of_with_evaluation_and_seed() -> None:
    quiet = World([], seed=0)
    SharedEvaluator(quiet, print).pids()
    late = [Fault(quiet.points + place, FaultKind.LATE, 1) for place in range(8)]
    said: list[str] = []
    seeds = np.arange(5, 11, dtype=np.uint64).reshape(3, 2)
    labels = [f"evaluation {number}" for number in range(3)]
    chunks = cut(np.zeros((3, 2)), seeds, labels, compiled=False, workers=3)
    evaluator = SharedEvaluator(World(late, seed=0), said.append)
    evaluator.pids()
    assert len(evaluator.evaluate(chunks)) == len(chunks)
    silent = [line for line in said if "no worker has answered for" in line]
    assert silent[0].startswith("evaluation ")
    assert "one runs the episode of seed " in silent[0]
