from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rolecast.benchmarks.app import app
from rolecast.benchmarks.faults.command import count_schedules
from rolecast.benchmarks.faults.disk import SimulatedDisk
from rolecast.benchmarks.faults.parts import SEARCH_KINDS
from rolecast.benchmarks.faults.schedule import Fault, FaultKind, faults_of, shrunk
from rolecast.benchmarks.faults.simulation import run_faults, run_schedule, undisturbed
from rolecast.benchmarks.faults.witness import WitnessConfig
from rolecast.benchmarks.faults.world import Killed, World

LOG_PATH = Path("/runs/log")


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_searches_survive_schedules_of_faults(first: int) -> None:
    figures, failing = count_schedules(range(first, first + 50))
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


def test_a_witness_answers_otherwise_after_one_other_bit() -> None:
    asked = []
    for told in (0.5, np.nextafter(0.5, 1.0)):
        witness = WitnessConfig().build(dimension=3, seed=1)
        witness.tell(np.full((1, 3), 0.5), np.array([told]))
        asked.append(witness.ask(2))
    assert not np.array_equal(asked[0], asked[1])


def test_the_command_counts_and_replays(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        app, ["faults", "--schedules", "3", "--points", "--out", str(tmp_path)]
    )
    assert run.exit_code == 0, run.output
    assert "append journal.bin" in run.output
    assert "3 schedules" in (tmp_path / "faults.md").read_text()
