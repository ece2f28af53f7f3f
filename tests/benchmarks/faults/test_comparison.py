"""Comparisons under simulated faults, and mutants of what keeps them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rolecast.benchmarks.app import app
from rolecast.benchmarks.faults.command import Part, count_schedules
from rolecast.benchmarks.faults.comparison.simulation import run_faults, run_schedule, undisturbed
from rolecast.benchmarks.faults.comparison.tune import SimulatedTune
from rolecast.benchmarks.faults.schedule import Fault, FaultKind
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.runners import LearnerRunner, SearchRunner
from rolecast.platform.tuning.trial import TrialRun
from rolecast.platform.tuning.watch import Watch
from tests.benchmarks.faults.mutants import Mutant, require_found

MOST_SCHEDULES = 1000

MUTANTS = {
    "a learner is counted on before it is durable": Mutant(
        LearnerRunner, "keep", "self._folder.settle_learner(report)", first=45
    ),
    "a learner is removed before its record follows": Mutant(
        TrialRun,
        "_advance",
        "running.keep(len(record.rows) + 1)",
        "running.keep(len(record.rows) + 1)\n"
        "    self._folder.drop_learners(but=len(record.rows) + 1)",
        first=95,
    ),
    "a saved learner that nobody counts on stays": Mutant(
        TrialRun, "__init__", "folder.drop_learners(but=len(self._record.rows))", first=115
    ),
    "what the optimiser explains is lost with its process": Mutant(
        SearchRunner, "advance", "search.beliefs().items()", "[]"
    ),
    "a report is kept after it is handed over": Mutant(
        TrialRun, "_advance", "self._folder.write(self._record)"
    ),
    "reports are not handed over again": Mutant(
        ComparisonFolder, "begin_again", "work.forget_delivery()"
    ),
    "a trial that was given up is so for ever": Mutant(
        ComparisonFolder, "begin_again", "work.forget_failure()", first=100
    ),
    "the last look writes no table": Mutant(Watch, "look", "last or start", "start"),
    "a trial is given up when its process was lost once": Mutant(
        SimulatedTune, "_died", "self._deaths[plan] > EXPERIMENT.retries", "True"
    ),
    "a full disk ends the watch": Mutant(
        Watch, "glance", "with suppress(RunError, RequestError):", "if True:"
    ),
}


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_comparisons_survive_schedules_of_faults(first: int) -> None:
    figures, failing = count_schedules(Part.COMPARISONS, range(first, first + 50))
    assert failing == []
    assert figures["faults"] > 50


def test_one_seed_is_one_schedule() -> None:
    assert run_schedule(3).passed == run_schedule(3).passed


@pytest.mark.parametrize("kind", [FaultKind.KILL, FaultKind.POWER, FaultKind.ACTOR])
def test_a_comparison_that_ends_at_any_of_its_last_points_has_its_table(kind: FaultKind) -> None:
    points = undisturbed().points
    for point in range(points - 30, points):
        assert run_faults(0, [Fault(point, kind, point)]).failure is None


@pytest.mark.parametrize("name", MUTANTS)
def test_schedules_find_a_mutant(name: str) -> None:
    undisturbed()  # by the code as it is
    require_found(MUTANTS[name], range(MUTANTS[name].first, MOST_SCHEDULES), run_schedule)


def test_the_command_adds_comparisons_to_the_page(tmp_path: Path) -> None:
    for part in (Part.SEARCHES, Part.COMPARISONS):
        run = CliRunner().invoke(
            app, ["faults", "--part", part, "--schedules", "2", "--out", str(tmp_path)]
        )
        assert run.exit_code == 0, run.output
    text = (tmp_path / "faults.md").read_text()
    assert "## Searches" in text
    assert "## Comparisons" in text
