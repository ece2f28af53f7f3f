"""`rolecast export`: one JSON object, one sentence for what is refused, exit code 2."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

Command = Callable[..., CompletedProcess[str]]


def test_the_command_prints_its_manifest_and_refuses_with_code_2(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    words = ("export", small_run, "--target", "c99", "--out", tmp_path / "out", "--json")
    ended = rolecast_command(*words)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["target"] == "c99"
    again = rolecast_command(*words)
    assert (again.returncode, again.stdout) == (2, "")
    assert len(again.stderr.splitlines()) == 1
    wrong = rolecast_command(
        "export", small_run, "--one-agent", "--weights", "int8", "--out", tmp_path / "two"
    )
    assert wrong.returncode == 2
    assert not (tmp_path / "two").exists()


def test_a_folder_is_checked_against_its_manifest(
    rolecast_command: Command, small_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert rolecast_command("export", small_run, "--out", out).returncode == 0
    ended = rolecast_command("export", out, "--check")
    assert (ended.returncode, ended.stderr) == (0, "")
    (out / "main_test.c").unlink()
    ended = rolecast_command("export", out, "--check")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)


def test_a_folder_to_make_must_be_named(rolecast_command: Command, small_run: Path) -> None:
    ended = rolecast_command("export", small_run)
    assert ended.returncode == 2
    assert "expected --out" in ended.stderr
