"""Results go to marl-eval and come from it: what is written is read again as the same figures."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.reports.comparison.groups import groups
from rolecast.platform.reports.comparison.marl_eval import to_marl_eval, with_others
from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.reports.comparison.table import results
from rolecast.platform.tuning.comparison_folder import read_comparison

MakeComparison = Callable[..., Path]

ENDS = {
    ("dss_gp_ucb", "dense"): [10.0, 20.0, 60.0],
    ("sac", "dense"): [40.0, 50.0, 12.0],
    ("sac", "sparse=5"): [5.0, 7.0],
}

BENCHMARL = {
    "pettingzoo": {
        "hopper": {
            "masac": {
                "seed_3": {
                    "step_1": {"step_count": 2000, "return": [1.0, 3.0], "info": [0.0]},
                    "step_0": {"step_count": 0, "return": [0.0, 0.0]},
                    "absolute_metrics": {"return": [9.0, 9.0]},
                },
                "seed_4": {"step_0": {"step_count": 2000, "mean_episode_return": [8.0]}},
            }
        }
    }
}


def exported(folder: Path) -> dict[str, Any]:
    tasks: dict[str, Any] = to_marl_eval(groups(read_comparison(folder)))["rolecast"]
    return tasks


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_every_finished_run_has_its_steps_and_its_end(make_comparison: MakeComparison) -> None:
    lost = {"hopper-dense-sac-seed2": "failed"}
    tasks = exported(make_comparison(ENDS, lost=lost))
    assert {task: {name: [*runs] for name, runs in tasks[task].items()} for task in tasks} == {
        "hopper": {
            "dss_gp_ucb": ["seed_0", "seed_1", "seed_2"],
            "sac": ["seed_0", "seed_1"],
        },
        "hopper?sparse=5": {"sac": ["seed_0", "seed_1"]},
    }
    run = tasks["hopper"]["sac"]["seed_1"]
    assert run["step_4"] == {"step_count": 4001, "return": [50.0]}
    assert run["absolute_metrics"] == {"return": [50.0]}


def test_all_runs_of_a_task_have_the_same_steps(make_comparison: MakeComparison) -> None:
    """A method without reports at points 1 and 3: the first goes for all, the third is carried."""
    folder = make_comparison(ENDS, skipped={"dss_gp_ucb": [1, 3]})
    runs = exported(folder)["hopper"]
    counts = {tuple(run) for seeds in runs.values() for run in seeds.values()}
    assert counts == {("step_1", "step_2", "step_3", "absolute_metrics")}
    carried = runs["dss_gp_ucb"]["seed_0"]
    assert carried["step_2"]["return"] == carried["step_1"]["return"]


def test_what_is_written_is_read_again_as_the_same_figures(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    folder = make_comparison(ENDS)
    whole = groups(read_comparison(folder))
    file = write(tmp_path / "ours.json", to_marl_eval(whole))
    frame = results(with_others(whole, file))
    for method, reward in ENDS:
        mine = frame[frame["reward"] == reward]
        ours, again = (mine[mine["method"] == name] for name in (method, f"{method} (ours)"))
        assert again["mean"].tolist() == ours["mean"].tolist()
        assert again["seeds"].tolist() == ours["seeds"].tolist()


def test_runs_of_others_stand_beside_ours_by_their_last_step(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    file = write(tmp_path / "benchmarl.json", BENCHMARL)
    whole = with_others(groups(read_comparison(make_comparison(ENDS))), file)
    cell = whole.cells["hopper", "dense", "masac (benchmarl)"]
    np.testing.assert_array_equal(cell.finals, [2.0, 8.0])
    np.testing.assert_array_equal(cell.trials[0].reports["env_steps"], [0.0, 2000.0])


def test_no_run_stands_for_another_of_its_name(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    """Files of one name, and environments of one file with a task of one name."""
    for folder, name in (("a", "gym"), ("b", "pettingzoo")):
        (tmp_path / folder).mkdir()
        both = {"other": BENCHMARL["pettingzoo"], name: BENCHMARL["pettingzoo"]}
        write(tmp_path / folder / "results.json", both)
    whole = groups(read_comparison(make_comparison(ENDS)))
    for folder in ("a", "b"):
        whole = with_others(whole, tmp_path / folder / "results.json")
    cell = whole.cells["hopper", "dense", "masac (results)"]
    np.testing.assert_array_equal(cell.finals, [2.0, 8.0] * 4)


def test_a_run_is_one_seed_of_its_method_in_all_tasks(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    """Of runs 0 and 1 under dense and 1 and 2 under sparse reward, run 1 alone has both."""
    steps = BENCHMARL["pettingzoo"]["hopper"]["masac"].values()
    runs = [next(iter(steps))] * 2
    dense, sparse = (
        {"masac": dict(zip((f"seed_{first}", f"seed_{first + 1}"), runs, strict=True))}
        for first in (0, 1)
    )
    tasks = {"swimmer": dense, "swimmer?sparse=5": sparse}
    whole = with_others(
        groups(read_comparison(make_comparison(ENDS))),
        write(tmp_path / "runs.json", {"pettingzoo": tasks}),
    )
    seeds = {
        reward: [trial.seed for trial in whole.cells["swimmer", reward, "masac (runs)"].trials]
        for reward in ("dense", "sparse=5")
    }
    assert seeds == {"dense": [0, 1], "sparse=5": [1, 2]}
    settings = [("swimmer", reward) for reward in seeds]
    assert [len(each) for each in whole.complete_strata(settings, "masac (runs)")] == [1, 1]


def test_a_run_is_one_seed_in_the_tasks_of_two_environments(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    runs = BENCHMARL["pettingzoo"]["hopper"]
    both = {"mujoco": {"swimmer": runs}, "vmas": {"ant": runs}}
    file = write(tmp_path / "runs.json", both)
    whole = with_others(groups(read_comparison(make_comparison(ENDS))), file)
    settings = [(task, "dense") for task in ("swimmer", "ant")]
    assert [len(each) for each in whole.complete_strata(settings, "masac (runs)")] == [2, 2]


def test_the_noise_of_a_causal_task_is_read_as_its_nodes(
    make_comparison: MakeComparison, tmp_path: Path
) -> None:
    runs = {"ours": {"causal:dropwave?noise=1&sparse=5": BENCHMARL["pettingzoo"]["hopper"]}}
    file = write(tmp_path / "ours.json", runs)
    whole = with_others(groups(read_comparison(make_comparison(ENDS))), file)
    assert ("causal:dropwave?noise=1", "sparse=5", "masac (ours)") in whole.cells


def test_the_report_shows_them(make_comparison: MakeComparison, tmp_path: Path) -> None:
    folder = make_comparison(ENDS)
    file = write(tmp_path / "benchmarl.json", BENCHMARL)
    page = write_comparison_report(folder, beside=[file])
    text = page.read_text()
    assert "From files: masac (benchmarl), 2,000 env steps. Their budget, episodes and" in text
    trials = len(read_comparison(folder).experiment["trials"])
    assert f"{trials} of {trials} trials finished" in text
    assert "From files" not in write_comparison_report(folder).read_text()


def test_the_command_writes_the_file_and_refuses_what_is_none(
    make_comparison: MakeComparison, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = make_comparison(ENDS)
    assert main(["report", str(folder), "--format", "marl-eval", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["report"]
    assert json.loads(Path(written).read_text()) == {"rolecast": exported(folder)}
    assert main(["report", str(folder), "--format", "marleval"]) == 2
    assert "did you mean 'marl-eval'" in capsys.readouterr().err
    assert main(["report", str(folder), "--format", "marl-eval", "--trials", "3"]) == 2
    assert "--trials is for the page; expected none with --format" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "--format", "marl-eval"]) == 2
    assert "--format marl-eval is for the folder of a comparison" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "is no file"),
        ("[1]", "is not marl-eval's JSON"),
        ('{"env": {"task": {"sac": {"run": {"step_0": {"step_count": 1}}}}}}', "KeyError"),
        ('{"env": {"task": {"sac": {"run": {}}}}}', "a run has no step"),
        (
            '{"env": {"task": {"sac": {"run": {"step_0": {"step_count": 1, "return": [null]}}}}}}',
            "a return is no number",
        ),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(
    make_comparison: MakeComparison, tmp_path: Path, text: str | None, sentence: str
) -> None:
    whole = groups(read_comparison(make_comparison(ENDS)))
    file = tmp_path / "others.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(RequestError, match=sentence):
        with_others(whole, file)
