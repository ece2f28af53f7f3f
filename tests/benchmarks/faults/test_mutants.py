"""Mutants of what keeps a run, each of which schedules of faults must find."""

from dataclasses import replace

import pytest

from rolecast.benchmarks.faults.parts import SEARCH_KINDS
from rolecast.benchmarks.faults.schedule import Fault, FaultKind
from rolecast.benchmarks.faults.simulation import run_faults, run_schedule, undisturbed
from rolecast.core import files
from rolecast.platform.actors.assignment import AnswerTimes
from rolecast.platform.actors.ray_evaluator import RayEvaluator
from rolecast.platform.search.loop import Search
from rolecast.platform.search.records import batch_checks
from rolecast.platform.search.records.journal import Journal
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.resilient_optimizer import ResilientOptimizer
from tests.benchmarks.faults.mutants import Mutant, mutate, require_found

MOST_SCHEDULES = 1000


MUTANTS = {
    "a file is renamed before it is durable": Mutant(files, "being_written", "disk.sync(beside)"),
    "a new name is not made durable": Mutant(
        files, "being_written", "disk.sync_folder(path.parent)"
    ),
    "a file is written in its place": Mutant(
        files, "being_written", 'path.with_name(f".{path.name}.{os.getpid()}.tmp")', "path"
    ),
    "a folder above is not made durable": Mutant(
        files, "make_folder", "disk.sync_folder(made.parent)"
    ),
    "folders of an earlier driver are not made durable": Mutant(
        files, "make_folder", "if new else missing", "if False else missing", first=520
    ),
    "a journal is never made durable": Mutant(Journal, "_sync", "self._disk.sync(self._path)"),
    "a journal's name is not made durable": Mutant(
        Journal, "_sync", "self._disk.sync_folder(self._path.parent)"
    ),
    "a journal is emptied before its batches are saved": Mutant(
        RunFolder,
        "write_tables",
        "for group in grouped(self.batches(), self._piece_bytes):",
        "kept = list(self.batches()); self.journal.clear()\n"
        "        for group in grouped(kept, self._piece_bytes):",
    ),
    "a state is saved before its batches are durable": Mutant(
        RunFolder, "write_checkpoint", "self.journal.settle()"
    ),
    "a full journal is put aside before it is durable": Mutant(Journal, "settle", "self._sync()"),
    "a journal that is put aside takes the place of another": Mutant(
        Journal, "settle", "len(part_files(self._path, disk=self._disk))", "0"
    ),
    "batches of tables and journal are both taken": Mutant(
        batch_checks, "sound_batches", "if last is None or batch.index > last.index", "if True"
    ),
    "half a record is not cut off": Mutant(RunFolder, "repair", "self.journal.repair()"),
    "half a file is left": Mutant(files, "remove_half_written", "disk.remove(folder / name)"),
    "a replay skips a batch": Mutant(
        ResilientOptimizer, "_rebuilt", "self._since, asked", "self._since[1:], asked"
    ),
    "a rebuilt optimiser is not asked again": Mutant(
        ResilientOptimizer, "_rebuilt", "if self._asked is not None", "if False"
    ),
    "batches before a saved state are told again": Mutant(
        ResilientOptimizer,
        "remember",
        "self._state, self._since, self._former = state, [], False",
        "self._state = state",
    ),
    "an answer to an earlier batch is taken": Mutant(
        RayEvaluator, "_keep", "if call.batch == batch.number", "if True"
    ),
    "nobody does what a silent worker owes": Mutant(
        RayEvaluator, "_look_for_late", "self._give(idle, late, batch)", "0"
    ),
    "nobody does what a worker owes that was called first": Mutant(
        AnswerTimes,
        "repeated_s",
        "UNTIMED_REPEAT_S if math.isinf(allowed_s) else allowed_s",
        "allowed_s",
    ),
    "a silent worker is given more": Mutant(
        RayEvaluator, "_look_for_late", "self._workers.remove(call.worker)"
    ),
    "a batch is not kept before the next": Mutant(Search, "_learn", "self._folder.append(batch)"),
}

RARE_MUTANT = Mutant(
    RayEvaluator, "_take", "batch.waiting.extend(batch.missing(call, self._calls.values()))"
)
"""An answer lost with its node is not computed again: only a loss just then shows it."""

GAP_MUTANT = Mutant(
    Journal,
    "clear",
    "filter(part.fullmatch, self._disk.names(folder))",
    "[part.name for part in part_files(self._path, disk=self._disk)]",
)
"""Files after a gap stay in a journal that is emptied: only a power cut just then shows it."""


@pytest.mark.parametrize("name", MUTANTS)
def test_schedules_find_a_mutant(name: str) -> None:
    for kind in SEARCH_KINDS:
        undisturbed(kind)  # by the code as it is
    actors = MUTANTS[name].owner in {RayEvaluator, AnswerTimes}
    kinds = [place for place, kind in enumerate(SEARCH_KINDS) if kind.actors or not actors]
    seeds = (
        seed
        for seed in range(MUTANTS[name].first, MOST_SCHEDULES)
        if seed % len(SEARCH_KINDS) in kinds
    )
    require_found(MUTANTS[name], seeds, run_schedule)


def test_a_schedule_that_fails_by_the_code_as_it_is_finds_no_mutant() -> None:
    failing = run_faults(0, [])
    unmade = Mutant(Journal, "_sync", "self._named = True", "self._named = True")
    with pytest.raises(AssertionError, match="always"):
        require_found(unmade, range(1), lambda _: replace(failing, failure="always"))


def test_a_node_lost_just_before_an_answer_finds_a_rare_mutant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = run_faults(6, []).passed
    answers = [place for place, what in enumerate(passed) if what == "actors: answer"][:8]
    schedules = [[Fault(at, FaultKind.NODE, draw)] for at in answers for draw in range(4)]
    assert not any(run_faults(6, faults).failure for faults in schedules)
    mutate(monkeypatch, RARE_MUTANT)
    assert any(run_faults(6, faults).failure for faults in schedules)


def test_a_power_cut_while_a_journal_is_emptied_finds_a_rare_mutant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed = run_faults(0, []).passed
    removals = [place for place, what in enumerate(passed) if what.startswith("remove journal.0")]
    cuts = [[Fault(at, FaultKind.POWER, draw)] for at in removals[-4:] for draw in range(8)]
    assert not any(run_faults(0, faults).failure for faults in cuts)
    mutate(monkeypatch, GAP_MUTANT)
    assert any(run_faults(0, faults).failure for faults in cuts)
