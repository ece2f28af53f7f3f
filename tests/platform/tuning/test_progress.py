from io import StringIO
from pathlib import Path
from typing import Any

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.progress import PlainLines, line, live_view
from rolecast.platform.tuning.record import TrialFolder, TrialRecord
from rolecast.platform.tuning.status import ComparisonStatus, Leader, TrialStatus

EXPERIMENT = Experiment(
    name="four",
    tasks=("pred_prey_3",),
    methods=(SearchMethod(optimizer="cmaes"), SearchMethod(optimizer="random")),
    seeds=2,
    env_steps=1_000,
    points=4,
)


def row(point: int, value: float) -> dict[str, Any]:
    return {"point": point, "test_return": value, "done": point == EXPERIMENT.points}


def standing(
    *states: tuple[list[dict[str, Any]], float, str | None], locked: int | None = None
) -> ComparisonStatus:
    """Return a standing of trials that have begun, each by its rows, seconds and failure.

    The first `locked` have a process, all by default.
    """
    plans = EXPERIMENT.trials()
    trials = [
        TrialStatus(
            plan=plan,
            begun=index < len(states),
            locked=index < (len(states) if locked is None else locked),
            record=TrialRecord(rows=states[index][0], seconds=states[index][1])
            if index < len(states)
            else TrialRecord(),
            failure=states[index][2] if index < len(states) else None,
        )
        for index, plan in enumerate(plans)
    ]
    return ComparisonStatus(experiment=EXPERIMENT, trials=trials)


ONE_DONE = standing(
    ([row(1, 3.0), row(4, 2.0)], 8.0, None),  # cmaes: 2 s a point
    ([row(2, 1.0)], 1.0, None),  # random: half a second a point
)


def test_the_time_left_is_by_what_each_method_takes() -> None:
    """Left: two points of random, all four of cmaes and four of random."""
    assert ONE_DONE.seconds_left() == 2 * 0.5 + 4 * 2.0 + 4 * 0.5
    assert standing().seconds_left() is None
    failed = standing(([row(1, 1.0)], 3.0, "OSError: it broke"))
    assert failed.seconds_left() == 3 * 4 * 3.0
    names = [trial.plan.trial for trial in ONE_DONE.trials]
    assert ONE_DONE.restricted(names, at_once=2).seconds_left() == 5.5


def test_trials_are_counted_by_what_their_files_say() -> None:
    assert [ONE_DONE.count(s) for s in ("ok", "running", "failed", "waiting")] == [1, 1, 0, 2]
    assert not ONE_DONE.finished
    assert ONE_DONE.points_left == 2 + 4 + 4


def test_what_was_interrupted_waits_until_a_process_takes_it_up() -> None:
    """A process of a finished trial, which hands its reports over again, computes nothing."""
    states = [([row(4, 5.0)], 1.0, None), ([row(1, 1.0)], 1.0, None), ([row(2, 1.0)], 1.0, None)]
    taken_up = standing(*states, locked=2)
    assert [trial.busy for trial in taken_up.trials] == [False, True, False, False]
    assert "1 of 4 trials done, 1 running, 0 failed" in line(taken_up)
    assert taken_up.count("running") == 2
    assert taken_up.points_left == 3 + 2 + 4


def test_a_lock_is_seen_while_it_is_held(tmp_path: Path) -> None:
    folder = TrialFolder(tmp_path / "trial")
    assert not folder.locked
    lock = folder.lock()
    assert folder.locked
    lock.close()
    assert not folder.locked


def test_ahead_is_who_has_the_highest_median_of_latest_scores() -> None:
    """Not who had the luckiest score: cmaes once had 90."""
    states = standing(
        ([row(1, 90.0), row(2, 2.0)], 1.0, None),
        ([row(4, 5.0)], 1.0, None),
        ([row(3, 4.0)], 1.0, None),
        ([row(2, 3.0)], 1.0, None),
    )
    methods = [trial.plan.method for trial in states.trials]
    assert methods == ["cmaes", "random", "cmaes", "random"]
    assert states.ahead() == {("pred_prey_3", "dense"): Leader("random", 4.0, 2, 2)}
    assert standing().ahead() == {}


def test_ahead_says_how_many_methods_it_is_of_until_all_have_reported() -> None:
    alone = standing(([row(1, 3.0)], 1.0, None))
    assert "ahead pred_prey_3 dense: cmaes 3.0, 1 of 2 methods  left" in line(alone)
    assert "ahead pred_prey_3 dense: cmaes 2.0  left" in line(ONE_DONE)
    broken: tuple[list[dict[str, Any]], float, str] = ([], 0.0, "OSError: it broke")
    gone = standing(([row(1, 3.0)], 1.0, None), broken, ([row(1, 3.0)], 1.0, None), broken)
    assert "ahead pred_prey_3 dense: cmaes 3.0  left" in line(gone)


def test_the_rows_leave_out_what_has_not_begun_and_show_what_failed() -> None:
    rows = standing(([row(1, 1.0)], 1.0, None), ([], 0.0, "OSError: it broke")).rows()
    assert list(rows["status"]) == ["running", "failed"]
    assert list(rows["error"]) == ["", "OSError: it broke"]
    assert list(rows["trial"]) == [plan.trial for plan in EXPERIMENT.trials()[:2]]


def test_plain_lines_tell_what_ended_and_where_it_stands() -> None:
    stream, seconds = StringIO(), iter([0.0, 1.0, 2.0])
    lines = PlainLines(stream, clock=lambda: next(seconds))
    lines.start("four: 4 trials")
    lines.update(standing())
    lines.update(ONE_DONE)
    lines.update(standing(([row(4, 2.0)], 8.0, None), ([], 0.0, "OSError: it broke")))
    lines.finish("done")
    assert stream.getvalue().splitlines() == [
        "four: 4 trials",
        "0 of 4 trials done, 0 running, 0 failed  ahead -  left -",
        "pred_prey_3-dense-cmaes-seed0: held-out return 2.0",
        "pred_prey_3-dense-random-seed0 failed: OSError: it broke",
        "1 of 4 trials done, 0 running, 1 failed  ahead pred_prey_3 dense: cmaes 2.0, "
        "1 of 2 methods  left 0:16",
        "done",
    ]


def test_the_live_view_ends_with_the_last_state() -> None:
    stream = StringIO()
    view = live_view(stream)
    view.start("four: 4 trials")
    view.update(ONE_DONE)
    view.finish("done")
    text = stream.getvalue()
    for words in ("1 of 4 trials done, 1 running, 0 failed", "cmaes 2.0", "0:11", "50%", "done"):
        assert words in text
