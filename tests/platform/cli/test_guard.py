"""What an environment does to the process changes neither exit code nor answer of a command."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rolecast.__main__ import main

Command = Callable[..., CompletedProcess[str]]
SMALL = ("--evaluations", "6", "--episodes", "2", "--batch-size", "3", "--workers", "0")

ENVIRONMENT = """
import sys
import gymnasium, numpy as np

class Env(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
    def reset(self, *, seed=None, options=None):
        return np.zeros(2), {}
    def step(self, action):
        STEP
        return np.zeros(2), float(action[0]), False, False, {}
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return a function that writes an environment with a statement in its step, and names it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(statement: str) -> str:
        sys.modules.pop("hostile_env", None)
        (tmp_path / "hostile_env.py").write_text(ENVIRONMENT.replace("STEP", statement))
        return "python:hostile_env:Env?horizon=3"

    return write


@pytest.mark.parametrize("code", ["0", "2", "", "'done'"])
def test_a_search_whose_task_exits_has_failed(
    code: str, environment: Callable[[str], str], rolecast_command: Command
) -> None:
    ended = rolecast_command("search", environment(f"sys.exit({code})"), *SMALL)
    assert ended.returncode == 1
    assert "raised SystemExit" in ended.stderr.splitlines()[-1]


def test_the_answer_is_alone_on_standard_output(
    environment: Callable[[str], str], rolecast_command: Command
) -> None:
    task = environment("print('a word of the environment')")
    ended = rolecast_command("search", task, *SMALL, "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["policy_evaluations"] == 6
    assert "a word of the environment" in ended.stderr


def test_a_command_that_is_ended_by_sys_exit_has_failed(
    rolecast_command: Command, monkeypatch: pytest.MonkeyPatch, small_run: Path
) -> None:
    def exits(*_: object, **__: object) -> None:
        sys.exit(0)

    monkeypatch.setattr("rolecast.platform.search.records.run_folder.RunFolder.read_run", exits)
    ended = rolecast_command("report", small_run)
    assert ended.returncode == 1
    assert ended.stderr == (
        "rolecast: the task or function called sys.exit(0); expected one that does not end its "
        "process\n"
    )


def test_a_reader_that_leaves_early_is_told_nothing() -> None:
    """As in `rolecast tasks | head -3`."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    words = [sys.executable, "-m", "rolecast", "tasks"]
    ended = subprocess.run(words, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert (ended.returncode, ended.stderr) == (1, "")


def test_an_interrupt_while_the_commands_load_is_told_as_any_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "rolecast.platform.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "rolecast.platform.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting, *sys.meta_path])
    assert main() == 130
    assert capsys.readouterr() == ("", "")
