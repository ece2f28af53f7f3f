"""What a search reports as a trial: the steps that its budget paid, and its own time alone."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rolecast.core.errors import RequestError
from rolecast.core.locks import is_locked
from rolecast.core.types import Float, Seeds
from rolecast.platform.search.backend import Backend, backend_for
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.learner import LearningMethod
from rolecast.platform.tuning.loading import Request
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.record import Row, TrialFolder
from rolecast.platform.tuning.runners import LearnerRunner, MethodRunner, SearchRunner
from rolecast.platform.tuning.trial import TrialRun
from rolecast.policies.protocol import Policy

SCORING_S = 1e6
"""Time of a score, by far the longest."""

EXPERIMENT = Experiment(
    name="timed",
    tasks=("pred_prey_3",),
    methods=(SearchMethod(optimizer="random"),),
    env_steps=1_000,
    points=2,
    test_episodes=2,
    final_test_episodes=2,
)


class StepClock:
    """A second passes whenever it is read; dies when it is told to."""

    def __init__(self) -> None:
        self.now, self.end = 0.0, float("inf")

    def __call__(self) -> float:
        self.now += 1.0
        if self.now > self.end:
            raise KeyboardInterrupt
        return self.now

    def score(self, policy: Policy, weights: Float, seeds: Seeds) -> tuple[float, float | None]:
        del policy, weights, seeds
        self.now += SCORING_S
        return 0.0, None


CONFIG = SearchConfig(
    task="pred_prey_3",
    optimizer="random",
    policy="linear",
    env_steps=EXPERIMENT.env_steps,
    episodes=2,
    batch_size=2,
    confirm_share=0.0,
    workers=0,
    test_episodes=2,
)


def ended(run: TrialRun) -> list[Row]:
    """Return the reports of a trial that is run to its end."""
    rows = [run.step()[0]]
    while not rows[-1]["done"]:
        rows.append(run.step()[0])
    run.close()
    return rows


def searcher(folder: TrialFolder, points: int = EXPERIMENT.points) -> Callable[[], MethodRunner]:
    """Return what starts a search of ten batches."""
    return lambda: SearchRunner(make_plan(CONFIG), backend_for, points, folder)


def test_the_time_of_a_search_is_without_the_scores_between_its_batches(tmp_path: Path) -> None:
    clock = StepClock()
    folder = TrialFolder(tmp_path, clock=clock)
    first, last = ended(TrialRun(EXPERIMENT, folder, searcher(folder), clock.score))
    assert 0.0 < first["wall_time_s"] < last["wall_time_s"] < clock.now - SCORING_S
    assert last["wall_time_s"] < SCORING_S
    assert read_history(folder.run)["wall_time_s"].iloc[-1] == last["wall_time_s"]
    assert folder.read().seconds > SCORING_S


def test_the_time_of_a_search_before_its_process_died_counts(tmp_path: Path) -> None:
    clock, experiment = StepClock(), replace(EXPERIMENT, points=1)
    folder = TrialFolder(tmp_path, clock=clock)
    dying = TrialRun(experiment, folder, searcher(folder, 1), clock.score)
    clock.end = clock.now + 60.0
    with pytest.raises(KeyboardInterrupt):
        dying.step()
    clock.end = float("inf")
    dying.close()
    before = read_history(folder.run)["wall_time_s"].iloc[-1]
    assert before > 30.0
    (row,) = ended(TrialRun(experiment, folder, searcher(folder, 1), clock.score))
    assert row["wall_time_s"] == read_history(folder.run)["wall_time_s"].iloc[-1] > before
    assert folder.read().seconds > row["wall_time_s"]


def test_the_time_of_a_learner_goes_on_from_its_last_report(
    tmp_path: Path, climbing: Request
) -> None:
    clock = StepClock()
    folder = TrialFolder(tmp_path, clock=clock)

    def start() -> LearnerRunner:
        factory = climbing.methods["climb"]
        task = "pred_prey_3?sparse=5"
        climber: LearningMethod = factory.start(task, {}, seed=0, workers=0, env_steps=1_000)
        return LearnerRunner(climber, EXPERIMENT, folder)

    run = TrialRun(EXPERIMENT, folder, start, clock.score)
    first, _ = run.step()
    run.close()
    _, last = ended(TrialRun(EXPERIMENT, folder, start, clock.score))
    assert last["wall_time_s"] == 2 * first["wall_time_s"] < SCORING_S


def test_the_steps_of_a_report_are_with_those_in_which_symmetries_were_found(
    tmp_path: Path,
) -> None:
    config = SearchConfig(
        task="pred_prey_3",
        policy_options={"symmetries": "found"},
        optimizer="random",
        env_steps=60_000,
        episodes=20,
        batch_size=50,
        confirm_share=0.0,
        workers=0,
        test_episodes=2,
    )
    plan = make_plan(config)
    runner = SearchRunner(plan, backend_for, 1, TrialFolder(tmp_path))
    try:
        report, _ = runner.advance(1)
    finally:
        runner.close()
    played = plan.config.random_play_steps
    spent = read_history(tmp_path / "run")["env_steps"].iloc[-1]
    assert report.env_steps == played + spent <= config.env_steps
    assert played > 0


def test_a_search_closes_the_task_that_was_made_for_it(tmp_path: Path) -> None:
    closed = []
    plan = make_plan(CONFIG)
    plan.task.close = lambda: closed.append(True)  # type: ignore[method-assign]
    SearchRunner(plan, backend_for, EXPERIMENT.points, TrialFolder(tmp_path)).close()
    assert closed == [True]


def test_a_search_that_cannot_start_closes_what_it_opened(tmp_path: Path) -> None:
    def refuse(plan: Plan) -> Backend:
        raise RequestError("no cluster")

    closed = []
    plan = make_plan(CONFIG)
    plan.task.close = lambda: closed.append(True)  # type: ignore[method-assign]
    with pytest.raises(RequestError, match="no cluster"):
        SearchRunner(plan, refuse, EXPERIMENT.points, TrialFolder(tmp_path))
    assert closed == [True]
    assert not is_locked(TrialFolder(tmp_path).run)
