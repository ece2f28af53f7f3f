"""A table of trials: what is there is not run again, what was stopped goes on, rows are kept."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rolecast.benchmarks.experiment_table import (
    UNFINISHED_FOLDER,
    ExperimentTable,
    forget_trials,
    gather_rows,
    run_missing_trials,
)
from rolecast.benchmarks.result_table import (
    ROWS_SCHEMA,
    UNFINISHED_KEY,
    Row,
    finished,
    read_rows,
    write_rows,
)
from rolecast.benchmarks.table_trials import TableTrial, TrialEnd, other_terms_text, trials_of
from rolecast.core.errors import RequestError, RunError
from rolecast.core.locks import lock_folder
from rolecast.platform.tuning.comparison import compare
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.loading import load_experiment
from rolecast.platform.tuning.methods import LearnerMethod
from rolecast.platform.tuning.record import TrialRecord

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray.*"),
]
CLIMBING = Path(__file__).parents[1] / "platform" / "tuning" / "climbing.py"
REQUEST = load_experiment(CLIMBING)


def climber(label: str, **settings: Any) -> LearnerMethod:
    return LearnerMethod(algorithm="climb", label=label, settings=settings)


EXPERIMENT = replace(
    REQUEST.experiment,
    name="climbers",
    methods=(climber("sound"), climber("broken", trouble="broken")),
    env_steps=2_000,
    points=2,
    retries=0,
)


def row_of(trial: TableTrial, end: TrialEnd) -> Row:
    return {
        "seed": trial.plan.seed,
        "method": trial.method.label,
        "returns": [point["test_return"] for point in end.points],
    }


SOUND_TABLE = ExperimentTable(
    file="table.json",
    kinds=("method", "seed"),
    row=row_of,
    order=lambda row: row["seed"],
    line=lambda row: str(row["returns"][-1]),
    pages=lambda rows, folder, _: {folder / "table.md": f"{len(rows)} rows\n".encode()},
)


def trials(experiment: Experiment, seeds: int, methods: Sequence[str]) -> list[TableTrial]:
    found = trials_of({"all": [experiment]}, seeds, "{heading} / {method} / {seed}")
    return [trial for trial in found if trial.plan.method in methods]


def run(wanted: Sequence[TableTrial], path: Path) -> tuple[list[Row], list[str]]:
    told: list[str] = []
    rows = run_missing_trials(
        wanted, path, SOUND_TABLE, processes=2, note=told.append, methods=REQUEST.methods
    )
    return rows, told


@dataclass(frozen=True)
class Grown:
    """A table that was run for one seed, again, and for two."""

    path: Path
    rows: tuple[list[Row], list[Row], list[Row]]
    told: tuple[list[str], list[str], list[str]]
    contents: tuple[bytes, bytes]
    """Of the file after the first two."""


@pytest.fixture(scope="module")
def grown(ray_cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """Run the sound method, its second seed by the code of another commit.

    Tests copy the file.
    """
    path = tmp_path_factory.mktemp("grown") / "table.json"
    contents: list[bytes] = []
    ran: list[tuple[list[Row], list[str]]] = []
    for seeds, commit in ((1, "abc1234"), (1, "other"), (2, "def5678")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rolecast.benchmarks.commits.source_commit", lambda made=commit: made)
            ran.append(run(trials(EXPERIMENT, seeds, ["sound"]), path))
        contents.append(path.read_bytes())
    (first, again, more), (one, two, three) = zip(*ran, strict=True)
    return Grown(path, (first, again, more), (one, two, three), (contents[0], contents[1]))


def test_what_is_there_is_not_run_again_and_more_seeds_add_to_it(grown: Grown) -> None:
    first, again, more = grown.rows
    assert grown.told[0][:2] == [
        "0 of 1 cells are there; 1 to run",
        f"all / sound / 0: {first[0]['returns'][-1]}",
    ]
    assert first == again
    assert grown.contents[0] == grown.contents[1]
    assert grown.told[1] == ["1 of 1 cells are there; 0 to run"]
    assert grown.told[2][0] == "1 of 2 cells are there; 1 to run"
    assert more[0] == first[0]
    assert [row["seed"] for row in more] == [0, 1]
    assert not list((grown.path.parent / UNFINISHED_FOLDER).iterdir())


def test_a_row_names_the_commits_whose_code_made_it(grown: Grown) -> None:
    assert [row["commit"] for row in read_rows(grown.path)] == ["abc1234", "def5678"]


def test_an_experiment_that_is_refused_is_no_work_of_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rolecast.benchmarks.commits.source_commit", lambda: "abc1234")
    refused = replace(EXPERIMENT, methods=(LearnerMethod(algorithm="nobody", label="refused"),))
    with pytest.raises(RequestError, match="'nobody' does not exist"):
        run(trials(refused, 1, ["refused"]), tmp_path / "table.json")
    assert not list((tmp_path / UNFINISHED_FOLDER).iterdir())


def test_rows_of_other_episodes_or_settings_are_named_and_stay(tmp_path: Path) -> None:
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 3, ["sound"])
    scored = {
        "test_episodes": EXPERIMENT.final_test_episodes,
        "held_out_set": EXPERIMENT.held_out_set,
        "settings": {},
    }
    others: list[dict[str, Any]] = [{}, {"held_out_set": "sealed"}, {"settings": {"gamma": 0.9}}]
    rows = [
        {"key": trial.key, "seed": trial.plan.seed, **scored, **other}
        for trial, other in zip(wanted, others, strict=True)
    ]
    write_rows(path, rows)
    found, told = run(wanted, path)
    assert found == rows
    episodes = "1 of 3 rows are of other held-out episodes than the table now has: `all / sound`."
    settings = "1 of 3 rows name other settings than the table now does (what a row leaves out was "
    assert told[0] == "3 of 3 cells are there; 0 to run"
    assert told[1].startswith(f"{episodes} {settings}")
    assert told[1].endswith(": `all / sound`. `--fresh` makes them anew.")
    assert other_terms_text(wanted, rows[:1]) == ""
    fewer = [row | {"test_episodes": 1} for row in rows]
    assert other_terms_text(wanted, fewer).startswith("All 3 rows are of other held-out episodes")


def test_forgotten_trials_are_run_again_from_their_beginning(grown: Grown, tmp_path: Path) -> None:
    path, (_, _, first) = tmp_path / "table.json", grown.rows
    write_rows(path, [row | {"returns": [0.0]} for row in first])
    told: list[str] = []
    forget_trials(trials(EXPERIMENT, 1, ["sound"]), path, told.append)
    assert told == ["1 rows are dropped; if stopped, go on without --fresh"]
    assert [row["seed"] for row in read_rows(path)] == [1]
    again, told = run(trials(EXPERIMENT, 2, ["sound"]), path)
    assert told[0] == "1 of 2 cells are there; 1 to run"
    assert again[0] | {"commit": first[0]["commit"]} == first[0]
    assert again[1]["returns"] == [0.0]


def test_what_an_unfinished_trial_has_come_to_is_forgotten_too(tmp_path: Path) -> None:
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 1, ["sound"])
    folder = comparison_of(wanted[0], tmp_path)
    forget_trials(wanted, path, lambda _: None)
    assert not folder.known
    assert not path.exists()


def comparison_of(trial: TableTrial, root: Path) -> ComparisonFolder:
    """Leave the folder of a trial's comparison as it is before any trial begins."""
    folder = ComparisonFolder(root / UNFINISHED_FOLDER / trial.experiment.name)
    folder.write_experiment({"experiment": trial.experiment.to_json(), "trials": []})
    return folder


def begun(folder: ComparisonFolder, trial: TableTrial, **point: Any) -> None:
    """Leave a trial as its process did that was killed after a report."""
    work = folder.work(trial.plan.trial)
    work.path.mkdir(parents=True)
    work.write(TrialRecord(rows=[{"test_return": 3.0, "point": 1, "done": False, **point}]))


def test_trials_that_are_not_chosen_keep_what_they_have_come_to(tmp_path: Path) -> None:
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 3, ["sound"])
    folder = comparison_of(wanted[0], tmp_path)
    for trial in wanted[:2]:
        begun(folder, trial)
    begun(folder, wanted[2], point=2, done=True)
    with lock_folder(folder.path), pytest.raises(RequestError, match="by another process"):
        forget_trials(wanted, path, lambda _: None)
    assert folder.work(wanted[0].plan.trial).begun
    forget_trials(wanted[:1], path, lambda _: None)
    assert not folder.work(wanted[0].plan.trial).begun
    assert folder.work(wanted[1].plan.trial).begun
    gather_rows(path, wanted[0].experiment, wanted, SOUND_TABLE, lambda _: None)
    assert finished(read_rows(path)) == {wanted[2].key}
    forget_trials(wanted, path, lambda _: None)
    assert not folder.path.exists()


def test_trials_of_an_older_plan_do_not_become_rows_of_the_new_one(tmp_path: Path) -> None:
    path, before = tmp_path / "table.json", trials(EXPERIMENT, 1, ["sound"])
    folder = comparison_of(before[0], tmp_path)
    begun(folder, before[0], point=2, done=True)
    changed = replace(EXPERIMENT, methods=(climber("sound", pace=2.0), EXPERIMENT.methods[1]))
    wanted, told = trials(changed, 1, ["sound"]), list[str]()
    gather_rows(path, wanted[0].experiment, wanted, SOUND_TABLE, told.append)
    assert read_rows(path) == []
    assert folder.known
    assert "is of another experiment, whose methods is" in told[0]
    assert told[0].endswith("; nothing is taken from there, and `--fresh` removes it")


def test_a_comparison_of_an_older_plan_is_forgotten_as_a_whole(tmp_path: Path) -> None:
    """A stopped trial beside those to run again kept the folder, in which nothing then went on."""
    path, before = tmp_path / "table.json", trials(EXPERIMENT, 2, ["sound"])
    folder = comparison_of(before[0], tmp_path)
    begun(folder, before[1])
    wanted, told = trials(replace(EXPERIMENT, points=1), 1, ["sound"]), list[str]()
    forget_trials(wanted, path, told.append)
    assert not folder.path.exists()
    assert told == [
        f"{folder.path} is of another experiment, whose points is 2; expected 1; it is removed"
    ]


def test_no_row_is_dropped_where_a_folder_cannot_be_read(tmp_path: Path) -> None:
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 1, ["sound"])
    write_rows(path, [{"key": wanted[0].key}])
    comparison_of(wanted[0], tmp_path).experiment_file.write_text('{"schema": 99}')
    with pytest.raises(RequestError):
        forget_trials(wanted, path, lambda _: None)
    assert len(read_rows(path)) == 1


def test_a_comparison_that_was_stopped_is_taken_in_and_goes_on(
    grown: Grown, tmp_path: Path
) -> None:
    path = tmp_path / "table.json"
    out = tmp_path / UNFINISHED_FOLDER / EXPERIMENT.name
    compare(
        EXPERIMENT.scaled(seeds=2),
        out=out,
        methods=REQUEST.methods,
        only=lambda plan: plan.method == "sound" and plan.seed == 0,
    )
    rows, told = run(trials(EXPERIMENT, 2, ["sound"]), path)
    assert told[0].startswith("all / sound / 0: ")
    assert told[1] == "1 of 2 cells are there; 1 to run"
    assert [row["returns"] for row in rows] == [row["returns"] for row in grown.rows[2]]


@pytest.mark.usefixtures("ray_cluster")
def test_a_trial_that_fails_is_told_and_the_others_are_kept(tmp_path: Path) -> None:
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 1, ["sound", "broken"])
    with pytest.raises(RunError, match=r"failed: pred_prey_3-.*broken.*the other trials are kept"):
        run(wanted, path)
    assert finished(read_rows(path)) == {"all / sound / 0"}


def test_a_trial_that_has_begun_is_kept_before_its_first_report(tmp_path: Path) -> None:
    """Trials of one point have no report until they end."""
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 2, ["sound"])
    folder = comparison_of(wanted[0], tmp_path)
    ended = {"test_return": 3.0, "point": 2, "done": True}
    for trial, rows in zip(wanted, ([ended], []), strict=True):
        work = folder.work(trial.plan.trial)
        work.path.mkdir(parents=True)
        work.write(TrialRecord(rows=rows))
    gather_rows(path, wanted[0].experiment, wanted, SOUND_TABLE, lambda _: None)
    assert finished(read_rows(path)) == {wanted[0].key}
    assert folder.work(wanted[1].plan.trial).begun


def test_a_comparison_that_another_process_runs_keeps_its_folder(tmp_path: Path) -> None:
    """Between two trials, and before the first, none has begun that is not over."""
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 2, ["sound"])
    folder = comparison_of(wanted[0], tmp_path)
    with lock_folder(folder.path):
        gather_rows(path, wanted[0].experiment, wanted, SOUND_TABLE, lambda _: None)
        assert folder.known
        begun(folder, wanted[0], point=2, done=True)
        gather_rows(path, wanted[0].experiment, wanted, SOUND_TABLE, lambda _: None)
        assert folder.known
    assert finished(read_rows(path)) == {wanted[0].key}
    gather_rows(path, wanted[0].experiment, wanted, SOUND_TABLE, lambda _: None)
    assert not folder.path.exists()


def test_a_trial_that_is_not_over_has_a_row_where_the_table_wants_it(tmp_path: Path) -> None:
    path, wanted = tmp_path / "table.json", trials(EXPERIMENT, 1, ["sound"])
    (trial,) = wanted
    folder = comparison_of(trial, tmp_path)
    point = {"test_return": 3.0, "point": 1, "done": False}
    begun(folder, trial)
    gather_rows(path, trial.experiment, wanted, SOUND_TABLE, lambda _: None)
    assert read_rows(path) == []
    table = replace(SOUND_TABLE, keeps_unfinished=True)
    gather_rows(path, trial.experiment, wanted, table, lambda _: None)
    (row,) = read_rows(path)
    assert (row["returns"], row[UNFINISHED_KEY]) == ([3.0], True)
    assert finished(read_rows(path)) == set()
    ended = TrialRecord(rows=[point, {**point, "point": 2, "done": True}])
    folder.work(trial.plan.trial).write(ended)
    gather_rows(path, trial.experiment, wanted, table, lambda _: None)
    assert finished(read_rows(path)) == {trial.key}
    assert not folder.path.exists()
    assert json.loads(path.read_text())["schema"] == ROWS_SCHEMA
