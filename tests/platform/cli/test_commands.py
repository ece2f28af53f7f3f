"""The commands do what they say: one JSON object, the same as Python, the same for one seed."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import rolecast
from rolecast.envs.rewards.settings import REWARD_OPTIONS
from rolecast.platform.search.records.frames import read_history

Command = Callable[..., CompletedProcess[str]]
SMALL = ("--evaluations", "30", "--episodes", "2", "--batch-size", "5", "--workers", "0")


def only_json(ended: CompletedProcess[str]) -> dict[str, object]:
    """Return the one JSON object that is all of stdout."""
    assert ended.returncode == 0, ended.stderr
    (line,) = ended.stdout.splitlines()
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


def test_evaluate_prints_what_python_returns(rolecast_command: Command, small_run: Path) -> None:
    told = only_json(rolecast_command("evaluate", small_run, "--episodes", "50", "--json"))
    assert told == asdict(rolecast.evaluate(str(small_run), episodes=50))
    assert {"episode_return_mean", "episode_return_stderr", "episodes"} <= told.keys()


def test_ablate_prints_what_python_returns(rolecast_command: Command, small_run: Path) -> None:
    told = only_json(rolecast_command("ablate", small_run, "--episodes", "50", "--json"))
    assert told == rolecast.ablate(small_run, episodes=50).to_json()
    ended = rolecast_command("ablate", small_run, "--episodes", "50", "--at", "zero")
    assert [line.split()[0] for line in ended.stdout.splitlines()[1:5]] == [
        "none",
        "edge",
        "message",
        "update",
    ]


@pytest.mark.parametrize("named", [("chase",), ("--policy", "chase")])
def test_a_scripted_policy_is_evaluated_by_name(
    named: tuple[str, ...], rolecast_command: Command
) -> None:
    words = (*named, "--task", "pred_prey_3", "--episodes", "100", "--json")
    told = only_json(rolecast_command("evaluate", *words))
    assert told["policy"] == "chase"
    assert told["env_steps"] == 2500


def test_a_search_prints_one_object_with_its_folder(
    rolecast_command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("--set", "window=60", "--set", "policy.size=sm", "--set", "task.observation=full")
    told = only_json(
        rolecast_command("search", "pred_prey_3", *SMALL, *words, "--out", out, "--json")
    )
    assert told["out"] == str(out)
    assert told["policy_evaluations"] == 30
    record = json.loads((out / "run.json").read_text())
    assert record["search"]["optimizer_settings"] == {"window": 60}
    assert record["policy"]["options"]["size"] == "sm"
    assert record["task"]["id"] == "pred_prey_3?observation=full"


REWARDS = ("--sparse", "4", "--delay", "2", "--noise", "0.5", "--flip", "0.1", "--drop", "0.2")
REWARDS_ID = "pred_prey_3?delay=2&drop=0.2&flip=0.1&flush_on_end=true&noise=0.5&sparse=4"


def test_every_reward_setting_is_an_option_of_three_commands(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = (*REWARDS, "--flush-on-end")
    options = {f"--{name.replace('_', '-')}" for name in REWARD_OPTIONS}
    assert options <= {*words, "--survival"}  # of robots alone: the test below
    out = tmp_path / "run"
    searched = ("search", "pred_prey_3", *SMALL, *words, "--optimizer", "random", "--out", out)
    assert only_json(rolecast_command(*searched, "--json"))["task"] == REWARDS_ID
    told = only_json(rolecast_command("check-task", "pred_prey_3", *words, "--json"))
    assert told["id"] == REWARDS_ID
    told = only_json(rolecast_command("evaluate", out, "--episodes", "50", "--json"))
    assert told["task"] == REWARDS_ID
    assert told["observed_return_mean"] != told["episode_return_mean"]
    other = only_json(
        rolecast_command("evaluate", out, "--episodes", "50", "--sparse", "5", "--json")
    )
    assert other["task"] == REWARDS_ID.replace("sparse=4", "sparse=5")
    assert other["episode_return_mean"] == told["episode_return_mean"]
    ended = rolecast_command("evaluate", out, "--episodes", "50")
    assert "paid as" in ended.stdout
    assert rolecast_command("render", out, "--out", tmp_path / "hunt.png").returncode == 0


def test_the_survival_bonus_is_an_option_of_three_commands(
    rolecast_command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("--evaluations", "4", "--episodes", "1", "--batch-size", "2", "--workers", "0")
    searched = ("search", "hopper", "--policy", "linear", *words, "--optimizer", "random")
    told = only_json(rolecast_command(*searched, "--survival", "0", "--out", out, "--json"))
    assert told["task"] == "hopper?survival=0.0"
    told = only_json(rolecast_command("evaluate", out, "--episodes", "3", "--json"))
    paid, earned = told["observed_return_mean"], told["episode_return_mean"]
    assert isinstance(paid, float)
    assert isinstance(earned, float)
    assert paid < earned
    told = only_json(
        rolecast_command("evaluate", out, "--episodes", "3", "--survival", "1", "--json")
    )
    assert told["observed_return_mean"] == told["episode_return_mean"]
    told = only_json(rolecast_command("check-task", "hopper", "--survival", "0", "--json"))
    assert told["id"] == "hopper?survival=0.0"
    refused = rolecast_command("check-task", "pred_prey_3", "--survival", "0")
    assert refused.returncode == 2
    assert "survival" in refused.stderr


def test_a_single_episode_is_told_without_an_error(rolecast_command: Command) -> None:
    words = ("--policy", "random", "--task", "pred_prey_3", "--episodes", "1")
    ended = rolecast_command("evaluate", *words)
    assert ended.returncode == 0
    assert "+-" not in ended.stdout


def test_check_task_tells_the_share_of_the_reward_that_is_paid(rolecast_command: Command) -> None:
    ended = rolecast_command("check-task", "pred_prey_3", "--sparse", "50", "--delay", "20")
    assert ended.returncode == 1
    assert "FAILED payment: with sparse=50, delay=20 nothing is ever paid in 25" in ended.stdout
    ended = rolecast_command("check-task", "gym:Pendulum-v1", "--sparse", "50", "--delay", "20")
    assert ended.returncode == 0
    assert "with sparse=50, delay=20 a learner is paid 9" in ended.stdout


def test_the_command_line_and_python_find_the_same(
    rolecast_command: Command,
    tmp_path: Path,
    same_history: Callable[[Path, Path], None],
) -> None:
    typed, called = tmp_path / "typed", tmp_path / "called"
    assert rolecast_command("search", "pred_prey_3", *SMALL, "--out", typed).returncode == 0
    rolecast.search(
        "pred_prey_3", evaluations=30, episodes=2, batch_size=5, workers=0, out=str(called)
    )
    same_history(typed, called)


def test_resume_extends_a_finished_search(rolecast_command: Command, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("--optimizer", "random", "--out", out)
    assert rolecast_command("search", "pred_prey_3", *SMALL, *words).returncode == 0
    told = only_json(rolecast_command("resume", out, "--evaluations", "+20", "--json"))
    assert told["policy_evaluations"] == 50


def test_the_same_command_begins_goes_on_and_extends(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ["search", "pred_prey_3", "--optimizer", "random", "--policy", "mlp", "--seed", "3"]
    words += ["--episodes", "2", "--batch-size", "4", "--workers", "0", "--resume"]
    words += ["--out", str(tmp_path / "run")]
    first = rolecast_command(*words, "--evaluations", "8", "--json")
    assert first.returncode == 0, first.stderr
    again = rolecast_command(*words, "--evaluations", "8", "--json")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    longer = rolecast_command(*words, "--evaluations=12", "--threads", "1", "--log-json")
    assert longer.returncode == 0, longer.stderr
    assert len(read_history(tmp_path / "run")) == 12
    assert json.loads((tmp_path / "run" / "run.json").read_text())["search"]["threads"] == 1
    words[1] = "pred_prey_6"
    refused = rolecast_command(*words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines()[-1].startswith(
        "rolecast: task is 'pred_prey_6'; expected the run's, 'pred_prey_3'"
    )
    assert len(read_history(tmp_path / "run")) == 12


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["tasks"], ("tasks", "families", "others", "own")),
        (["policies"], ("policies",)),
        (["policies", "hom"], ("name", "settings")),
        (["optimizers"], ("optimizers",)),
        (["optimizers", "dss_gp_ucb"], ("name", "settings")),
        (["check-task", "pred_prey_3"], ("id", "checks", "ok", "learners")),
    ],
    ids=str,
)
def test_every_listing_has_a_json_form(
    rolecast_command: Command, words: list[str], keys: tuple[str, ...]
) -> None:
    assert only_json(rolecast_command(*words, "--json")).keys() == set(keys)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["tasks"], "pettingzoo:MODULE"),
        (["policies"], "hom"),
        (["optimizers"], "cmaes"),
        (["policies", "hom"], "policy.role_assignment"),
        (["--version"], rolecast.__version__),
        (["--help"], "rolecast demo"),
        (["search", "--help"], "[default: hom]"),
    ],
    ids=str,
)
def test_listings_name_what_there_is(
    rolecast_command: Command, words: list[str], text: str
) -> None:
    ended = rolecast_command(*words)
    assert ended.returncode == 0
    assert text in ended.stdout


def test_no_help_has_markup_that_would_vanish() -> None:
    """Rich takes `[default: x]` for a style; `option_text` writes it so that it stays."""
    from typer.main import get_command

    from rolecast.platform.cli.app import app

    def helps(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
        for each in command.params:
            yield (*words, each.name), getattr(each, "help", None) or ""
        for name, part in getattr(command, "commands", {}).items():
            yield from helps(part, (*words, name))

    found = list(helps(get_command(app), ()))
    assert len(found) > 200
    wrong = [words for words, text in found if re.search(r"(?<!\\)\[[a-z]", text)]
    assert wrong == []


def test_render_writes_a_moving_and_a_still_picture(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    for name, begin in (("hunt.gif", b"GIF8"), ("hunt.png", b"\x89PNG")):
        told = only_json(rolecast_command("render", small_run, "--out", tmp_path / name, "--json"))
        assert "percentile 60 of 101 episodes" in str(told["description"])
        assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_demo_is_found_again_and_not_searched_again(
    rolecast_command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "demo"
    words = ("demo", "--out", out, "--env-steps", "5000", "--workers", "0")
    first = rolecast_command(*words)
    assert first.returncode == 0, first.stderr
    assert f"Open {out / 'report.html'}" in first.stdout
    assert "   The policy found is below (by " in first.stdout
    assert all((out / name).is_file() for name in ("hunt.gif", "hunt.png", "report.html"))
    before = (out / "history.parquet").read_bytes()
    again = rolecast_command(*words)
    assert again.returncode == 0
    assert "its search has ended" in again.stdout
    assert (out / "history.parquet").read_bytes() == before
    other = rolecast_command("demo", "--out", out, "--env-steps", "7500", "--workers", "0")
    assert other.returncode == 2
    assert "env_steps 5000; expected 7500" in other.stderr


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_its_code_and_the_way_to_resume(
    sent: signal.Signals,
    code: int,
    tmp_path: Path,
    await_batch: Callable[[Path, Callable[[], bool]], bool],
) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "rolecast", "search", "pred_prey_3"]
    command += ["--optimizer", "random", "--env-steps", "400000000", "--workers", "0"]
    process = subprocess.Popen(
        [*command, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert await_batch(out, lambda: process.poll() is not None)
    process.send_signal(sent)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == code
    assert stdout == ""
    assert f"go on with: rolecast resume {out}" in stderr
    assert "Traceback" not in stderr
    assert len(read_history(out)) > 0
