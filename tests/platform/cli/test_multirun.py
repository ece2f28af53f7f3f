"""Lists with commas on a command line, and a file of settings: one search for each combination."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json
from rolecast.platform.cli.app import app, main
from rolecast.platform.cli.multirun import (
    FLAGS_WITHOUT_VALUE,
    MULTIRUN_FLAGS,
    combinations,
    wants_several,
)
from rolecast.platform.cli.search import merged
from rolecast.platform.search.records.frames import read_history

Command = Callable[..., CompletedProcess[str]]
SMALL = ("--evaluations", "8", "--episodes", "2", "--batch-size", "4", "--workers", "0")


def test_every_combination_of_listed_values_is_one_search() -> None:
    found = combinations(
        [
            "search",
            "hopper",
            "--seed",
            "0,1",
            "--set",
            "policy.hidden=[8,8],[4]",
            "--optimizer=snes",
        ]
    )
    assert [each.name for each in found] == [
        "seed=0,policy.hidden=-8,8-",
        "seed=0,policy.hidden=-4-",
        "seed=1,policy.hidden=-8,8-",
        "seed=1,policy.hidden=-4-",
    ]
    assert found[2].words == [
        "search", "hopper", "--seed", "1", "--set", "policy.hidden=[8,8]", "--optimizer=snes"
    ]  # fmt: skip
    assert len({each.name for each in found}) == 4


def test_tasks_and_equals_signs_are_lists_too_and_folders_are_not() -> None:
    found = combinations(["search", "hopper,swimmer", "--json", "--policy=mlp,linear"])
    assert [each.name for each in found] == [
        "task=hopper,policy=mlp",
        "task=hopper,policy=linear",
        "task=swimmer,policy=mlp",
        "task=swimmer,policy=linear",
    ]
    with pytest.raises(RequestError, match="nothing to vary; expected a list with commas"):
        combinations(["search", "hopper", "--config", "a,b.toml"])


def test_every_flag_of_a_search_is_known_to_take_no_value() -> None:
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    options = [each for each in command.commands["search"].params if getattr(each, "is_flag", 0)]
    flags = {word for each in options for word in (*each.opts, *each.secondary_opts)}
    assert "--asynchronous" in flags
    assert flags <= {*FLAGS_WITHOUT_VALUE, *MULTIRUN_FLAGS}


def test_only_a_search_has_several() -> None:
    assert wants_several(["search", "hopper", "-m"])
    assert not wants_several(["search", "hopper", "-m", "--help"])
    assert not wants_several(["compare", "quickstart", "-m"])


def test_a_sweep_runs_each_once_and_goes_on(rolecast_command: Command, tmp_path: Path) -> None:
    words = ("search", "pred_prey_3", "-m", "--seed", "0,1", "--optimizer", "random", *SMALL)
    out = tmp_path / "sweep"
    ended = rolecast_command(*words, "--out", out)
    assert ended.returncode == 0, ended.stderr
    assert sorted(each.name for each in out.iterdir()) == ["multirun.json", "seed=0", "seed=1"]
    rows = [line.split() for line in ended.stdout.splitlines() if line.startswith("seed=")]
    summary = read_json(out / "seed=1" / "summary.json")
    assert rows[1][:2] == ["seed=1", f"{summary['test_return']:.4g}"]
    told = rolecast_command(*words, "--out", out, "--json", "--threads", "1")
    assert json.loads(told.stdout)["runs"]["seed=1"] == summary
    assert "1 of 2" not in told.stderr
    reported = rolecast_command("report", out)
    assert reported.returncode == 0, reported.stderr
    assert "seed=1" in (out / "report.html").read_text()


def test_a_sweep_refuses_the_folder_of_another_and_answers_alone(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ("search", "pred_prey_3", "-m", "--seed", "0,1", *SMALL, "--out", tmp_path)
    first = rolecast_command(*words, "--optimizer", "random", "--json")
    assert sorted(json.loads(first.stdout)["runs"]) == ["seed=0", "seed=1"]
    other = rolecast_command(*words, "--optimizer", "snes")
    assert (other.returncode, other.stdout) == (2, "")
    assert f"{tmp_path / 'seed=0'} is of another search (search pred_prey_3" in other.stderr
    assert other.stderr.count("\n") == 1


def test_a_sweep_refuses_a_wrong_logger_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sweep"
    words = ["search", "pred_prey_3", "-m", "--seed", "0,1", *SMALL, "--out", str(out)]
    assert main([*words, "--log", "wandbb"]) == 2
    assert "seed=0: logger 'wandbb' does not exist; did you mean 'wandb'" in capsys.readouterr().err
    assert not out.exists()


def test_how_a_search_runs_is_apart_from_what_it_finds() -> None:
    words = "search hopper --workers 2 --seed 0,1 --address=auto --trust --threads 1 --log-json"
    (first, _) = combinations([*words.split(), "--log", "wandb"])
    assert first.deciding == ["search", "hopper", "--seed", "0"]


def test_a_file_of_settings_and_the_command_line_together(
    rolecast_command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "search.toml"
    file.write_text('task = "pred_prey_3"\nenv_steps = 9999\noptimizer = "random"\nseed = 7\n')
    ended = rolecast_command("search", "--config", file, *SMALL, "--out", tmp_path / "run")
    assert ended.returncode == 0, ended.stderr
    assert len(read_history(tmp_path / "run")) == 8
    stored = json.loads((tmp_path / "run" / "run.json").read_text())["search"]
    assert (stored["seed"], stored["env_steps"], stored["optimizer"]) == (7, None, "random")
    refused = rolecast_command("search", "--seed", "1")
    assert (refused.returncode, refused.stderr) == (
        2,
        "rolecast: no task is given; expected TASK, or --config FILE with a task\n",
    )


def test_symmetries_found_for_one_search_are_kept_where_another_uses_them_alone() -> None:
    found = {"symmetries": [{"name": "a mirror"}], "size": "small"}
    file = {"task": "hopper", "policy": "mlp", "policy_options": found, "random_play_steps": 9}
    assert merged(file, {"seed": 1}) == file | {"seed": 1}
    assert "random_play_steps" not in merged(file, {"policy": "hom"})
    assert "random_play_steps" not in merged(file, {"policy_options": {"symmetries": []}})
    elsewhere = merged(file, {"task": "swimmer"})
    assert elsewhere["policy_options"] == {"symmetries": "found", "size": "small"}
    assert "random_play_steps" not in elsewhere
    nameless = {name: value for name, value in file.items() if name != "task"}
    assert merged(nameless, {"seed": 1}) == nameless | {"seed": 1}  # refused later: it has no task


def test_options_of_another_optimiser_are_left_out() -> None:
    file = {"task": "hopper", "optimizer": "snes", "optimizer_settings": {"mirrored": True}}
    assert merged(file, {"optimizer": "random", "task": None})["optimizer"] == "random"
    assert "optimizer_settings" not in merged(file, {"optimizer": "random"})
    kept = merged(file, {"optimizer": "snes", "optimizer_settings": {"rate": 1}})
    assert kept["optimizer_settings"] == {"mirrored": True, "rate": 1}


def test_two_searches_never_share_a_folder() -> None:
    with pytest.raises(RequestError, match=r"2 searches of --multirun would share the folder 'pol"):
        combinations(["search", "hopper", "--set", "policy.hidden=[4],{4}"])


def test_a_command_that_was_refused_does_not_stand_in_the_way_of_the_right_one(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ("search", "pred_prey_3", "-m", "--seed", "0,1", "--optimizer", "random")
    out = ("--out", tmp_path / "both")
    refused = rolecast_command(*words, "--env-steps", "10", *out)
    assert refused.returncode == 2
    assert "env_steps" in refused.stderr
    ended = rolecast_command(*words, *SMALL, *out)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--seed", "0,1,x"), "seed=x: Invalid value for '--seed': Input should be a valid int"),
        (("--optimizer", "random,rndom"), "optimizer=rndom: optimizer 'rndom' does not exist"),
        (("--policy", "linear,liner"), "policy=liner: policy 'liner' does not exist; did you"),
        (("--episodes", "2,0"), "episodes=0: SearchConfig.episodes is 0; expected an integer >= 1"),
        (("--set", "window=600,-1"), "window=-1: DssGpUcbConfig.window is -1; expected"),
        (("--sparse", "4,1", "--set", "task.sparse=2"), "sparse is given as --sparse and by --set"),
        (("--seed", "0,"), "seed has an empty value in '0,'; expected one after a comma"),
        (("--optimizer=random,,snes",), "optimizer has an empty value in 'random,,snes'"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[-1],
)
def test_a_sweep_finds_a_wrong_value_before_its_first_search(
    words: tuple[str, ...], told: str, rolecast_command: Command, tmp_path: Path
) -> None:
    given = [*SMALL, *words]
    if "--episodes" in words:
        given = ["--evaluations", "8", *words]
    ended = rolecast_command("search", "pred_prey_3", "-m", *given, "--out", tmp_path / "sweep")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert told in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "sweep").exists()


def test_a_sweep_of_no_task_is_refused_at_once(rolecast_command: Command, tmp_path: Path) -> None:
    file = tmp_path / "search.toml"
    file.write_text("seed = 3\n")
    words = ("search", "-m", "--config", file, "--optimizer", "random,snes", *SMALL)
    ended = rolecast_command(*words, "--out", tmp_path / "sweep")
    assert ended.returncode == 2
    assert "optimizer=random: no task is given; expected TASK" in ended.stderr


def test_a_file_that_says_something_else_asks_for_other_searches(
    rolecast_command: Command, tmp_path: Path
) -> None:
    """The same line was answered by the results of the file as it had been."""
    file, out = tmp_path / "small.toml", tmp_path / "both"
    file.write_text('task = "pred_prey_3"\nevaluations = 8\nepisodes = 2\nbatch_size = 4\n')
    small = ("--workers", "0", "--out", out)
    words = ("search", "-m", "--config", file, "--optimizer", "random,snes", *small)
    assert rolecast_command(*words).returncode == 0
    kept = out / "multirun.json"
    told = kept.read_text()
    kept.write_text(re.sub(r"#\w+", "", told))  # of a release that kept no digests
    assert rolecast_command(*words).returncode == 0
    kept.write_text(told)
    assert rolecast_command(*words).returncode == 0
    file.write_text(file.read_text().replace("= 8", "= 12"))
    refused = rolecast_command(*words)
    assert refused.returncode == 2
    assert "is of another search" in refused.stderr
