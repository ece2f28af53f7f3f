"""`rolecast bandit`: what it says when it is stopped, and of a name that it does not know."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rolecast.core.types import Float
from rolecast.platform.search.bandit.engine import QueryBlock
from rolecast.platform.search.bandit.folder import BanditFolder

Command = Callable[..., CompletedProcess[str]]


def test_a_stopped_run_says_how_to_go_on_and_so_does_its_resumption(
    rolecast_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, out = BanditFolder.append, tmp_path / "run"

    def stop(self: BanditFolder, first: int, block: QueryBlock, incumbent: Float) -> None:
        append(self, first, block, incumbent)
        raise KeyboardInterrupt

    small = ("bandit", "branin", "--agents", "4", "--rounds", "20", "--beta", "0.5")
    with monkeypatch.context() as patched:
        patched.setattr(BanditFolder, "append", stop)
        for words in ((*small, "--out", out), ("resume", out)):
            ended = rolecast_command(*words)
            assert ended.returncode == 130
            assert ended.stderr == f"stopped; go on with: rolecast resume {out}\n"
        ended = rolecast_command(*small)
    assert ended.returncode == 0
    assert "stopped" not in ended.stderr
    assert rolecast_command("resume", out).returncode == 0


def test_an_unknown_function_is_answered_with_all_kinds(rolecast_command: Command) -> None:
    ended = rolecast_command("bandit", "nosuch")
    assert ended.returncode == 2
    for kind in ("branin", "python:MODULE:FUNCTION", "task:TASK"):
        assert kind in ended.stderr
