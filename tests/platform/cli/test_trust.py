"""A folder of a stranger runs nothing of what it names, by any command that reads folders."""

import shutil
from pathlib import Path

import pytest

from rolecast.core.files import read_json, write_json
from rolecast.core.user_folders import settings_folder
from rolecast.platform.cli.app import main
from rolecast.platform.tuning.comparison import ComparisonResult
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.progress import Silent
from rolecast.platform.tuning.watch import Watch
from tests.platform.many_trials import many_trials

COMMANDS = (
    ("evaluate", "--episodes", "2"),
    ("resume", "--evaluations", "+20"),
    ("report",),
    ("render", "--out", "hunt.png"),
    ("ablate", "--episodes", "2"),
    ("certify", "--episodes", "20"),
    ("export", "--out", "firmware", "--weights", "int16"),
)


@pytest.fixture
def strangers_run(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose every task id makes a file where it is made."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "run"
    shutil.copytree(small_run, out)
    policy, run = read_json(out / "policy" / "policy.json"), read_json(out / "run.json")
    policy["task"]["id"] = run["task"]["id"] = "python:os:system?command=touch mark"
    run["search"] |= {"task": "python:os:system", "task_options": {"command": "touch mark"}}
    write_json(out / "policy" / "policy.json", policy)
    write_json(out / "run.json", run)
    (out / "measurements.json").unlink()
    return out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_no_command_makes_the_task_of_a_stranger(
    command: tuple[str, ...], strangers_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[0], str(strangers_run), *command[1:]]) == 2
    said = capsys.readouterr().err
    assert "'python:os:system?command=touch mark'" in said
    assert "--trust" in said
    assert len(said.splitlines()) == 1
    assert not Path("mark").exists()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_with_trust_the_task_is_made(command: tuple[str, ...], strangers_run: Path) -> None:
    assert main([command[0], str(strangers_run), *command[1:], "--trust"]) == 2  # it is no task
    assert Path("mark").exists()


def test_a_task_named_again_is_made(strangers_run: Path) -> None:
    words = ["resume", str(strangers_run), "--evaluations", "+20", "--task"]
    assert main([*words, "python:os:system?command=touch other"]) == 2
    assert not Path("mark").exists()
    assert main([*words, "python:os:system?command=touch mark"]) == 2
    assert Path("mark").exists()


def test_a_task_that_was_searched_here_is_made_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_own_envs.py").write_text(
        "import gymnasium\n\n\ndef pole():\n    return gymnasium.make('CartPole-v1')\n"
    )
    budget = ["--evaluations", "6", "--episodes", "2", "--batch-size", "3", "--workers", "0"]
    task = "python:my_own_envs:pole?horizon=20"
    assert main(["search", task, "--optimizer", "random", *budget, "--out", "run"]) == 0
    for command in (["evaluate", "run", "--episodes", "2"], ["resume", "run"], ["report", "run"]):
        assert main(command) == 0
    capsys.readouterr()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "of-someone-else"))
    assert main(["evaluate", "run"]) == 2
    assert "'python:my_own_envs:pole'" in capsys.readouterr().err


@pytest.fixture
def unnoted_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a task of the user's own, where the trust list cannot be written."""
    (tmp_path / "settings").write_text("a file, where the folder of the list would be")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_unnoted_envs.py").write_text(
        "import gymnasium\n\n\ndef pole():\n    return gymnasium.make('CartPole-v1')\n"
    )
    return "python:my_unnoted_envs:pole?horizon=20"


def test_a_search_whose_trust_cannot_be_noted_has_its_report(unnoted_task: str) -> None:
    budget = ["--evaluations", "6", "--episodes", "2", "--batch-size", "3", "--workers", "0"]
    assert main(["search", unnoted_task, "--optimizer", "random", *budget, "--out", "run"]) == 0
    assert Path("run", "report.html").is_file()


def test_a_comparison_whose_trust_cannot_be_noted_has_its_report(
    unnoted_task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    experiment = many_trials(out, seeds=1, tasks=(unnoted_task,))
    Watch(ComparisonFolder(out), experiment, experiment.trials(), 1, Silent()).look(last=True)
    ended = ComparisonResult(out=out, failures={})
    monkeypatch.setattr("rolecast.platform.tuning.comparison.compare", lambda *_, **__: ended)
    assert main(["compare", "quickstart", "--out", "out", "--resume"]) == 0
    assert Path("out", "report.html").is_file()


def test_a_folder_connects_nobody_to_a_cluster_that_it_names(
    small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shutil.copytree(small_run, out)
    run = read_json(out / "run.json")
    run["search"] |= {"address": "203.0.113.7:6379", "workers": 2}
    write_json(out / "run.json", run)
    assert main(["resume", str(out), "--evaluations", "+20"]) == 2
    assert "cluster '203.0.113.7:6379' is named by a folder" in capsys.readouterr().err


def test_pickles_of_a_strangers_comparison_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rolecast.platform.search.planning.plan import versions
    from rolecast.platform.tuning.loading import load_experiment

    experiment = load_experiment("quickstart").experiment.scaled(budget_fraction=1.0, seeds=None)
    folder = ComparisonFolder(tmp_path / "comparison")
    folder.write_experiment({"experiment": experiment.to_json(), "versions": versions()})
    assert main(["compare", "quickstart", "--out", str(folder.path), "--resume"]) == 2
    said = capsys.readouterr().err
    assert f"comparison {str(folder.path)!r}" in said
    assert "--trust" in said


def test_tests_leave_the_trust_list_of_who_runs_them_alone() -> None:
    assert not str(settings_folder()).startswith(str(Path.home() / ".config"))


def test_a_file_of_settings_runs_nothing_of_what_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    task = 'task = "python:os:system"\n'
    options = '[task_options]\ncommand = "touch mark"\n'
    Path("whole.toml").write_text(task + options)
    Path("options.toml").write_text(options)
    Path("cluster.toml").write_text('task = "pred_prey_3"\naddress = "1.2.3.4:6379"\n')
    for words in (["whole.toml"], ["options.toml", "python:os:system"], ["cluster.toml"]):
        assert main(["search", "--config", *words]) == 2
        said = capsys.readouterr().err
        assert "expected --trust" in said
        assert len(said.splitlines()) == 1
        assert not Path("mark").exists()
    assert main(["search", "--config", "whole.toml", "--trust"]) == 2  # it is no task
    assert Path("mark").exists()
