"""--quiet leaves results and errors, --verbose adds versions, and long loading is told."""

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rolecast.platform.cli import output, verbosity
from rolecast.platform.cli.verbosity import saying, split_flags

Command = Callable[..., CompletedProcess[str]]
SMALL = ("--evaluations", "8", "--episodes", "2", "--batch-size", "4", "--workers", "0")


def test_flags_may_stand_anywhere() -> None:
    assert split_flags(["search", "-q", "hopper"]) == (["search", "hopper"], "quiet")
    assert split_flags(["tasks", "--verbose"]) == (["tasks"], "verbose")
    assert split_flags(["tasks"]) == (["tasks"], "normal")


def test_a_quiet_search_says_nothing_and_a_quiet_error_is_told(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ("search", "pred_prey_3", "--optimizer", "random", *SMALL, "--out", tmp_path / "run")
    ended = rolecast_command(*words, "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    again = rolecast_command(*words, "--quiet")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)


def test_lines_of_json_that_were_asked_for_are_told_by_a_quiet_search_too(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ("search", "pred_prey_3", "--optimizer", "random", *SMALL, "--out", tmp_path / "run")
    ended = rolecast_command(*words, "--quiet", "--log-json")
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert len(lines) > 2


def test_a_verbose_command_ends_with_versions_and_seconds(rolecast_command: Command) -> None:
    ended = rolecast_command("optimizers", "-v")
    assert ended.stderr.startswith("rolecast 0.")
    assert ended.stderr.endswith(" s\n")


@pytest.mark.parametrize(
    ("words", "verbose", "told"),
    [
        (["search", "hopper"], "normal", True),
        (["search", "hopper"], "quiet", False),
        (["search", "--help"], "normal", False),
        (["search", "hopper", "--log-json"], "normal", False),
        (["tasks"], "normal", False),
    ],
)
def test_loading_that_takes_long_is_told(
    monkeypatch: pytest.MonkeyPatch, words: list[str], verbose: verbosity.Verbosity, told: bool
) -> None:
    monkeypatch.setattr(verbosity, "PATIENCE_S", 0.01)
    stream = io.StringIO()
    with saying(verbose, words, stream):
        time.sleep(0.3)
    assert ("loading" in stream.getvalue()) == told


@pytest.mark.parametrize("quiet", [True, False])
def test_work_that_takes_long_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], quiet: bool
) -> None:
    monkeypatch.setattr(output, "LONG_WORK_S", 0.01)
    with saying("quiet" if quiet else "normal", [], io.StringIO()), output.patience("comparing"):
        time.sleep(0.3)
    assert capfd.readouterr().err == ("" if quiet else "rolecast: comparing\n")


@pytest.mark.parametrize("compiled", [True, False])
def test_only_the_first_use_is_told_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    monkeypatch.setattr(verbosity, "PATIENCE_S", 0.01)
    monkeypatch.setattr(verbosity, "_has_compiled", lambda: compiled)
    stream = io.StringIO()
    with saying("normal", ["search", "hopper"], stream):
        time.sleep(0.3)
    assert ("compiles" in stream.getvalue()) != compiled
