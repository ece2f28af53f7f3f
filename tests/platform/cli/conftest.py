"""Runs one command line in this process, and tells what it did."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rolecast.platform.cli import verbosity
from rolecast.platform.cli.app import main


@pytest.fixture
def rolecast_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., CompletedProcess[str]]:
    """Return a function that runs `rolecast WORDS...` and gives what a process would."""

    def run(*words: str | Path) -> CompletedProcess[str]:
        capsys.readouterr()
        code = main([str(word) for word in words])
        told = capsys.readouterr()
        return CompletedProcess(words, code, told.out, told.err)

    return run


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that fails tells one sentence, however slow the machine that loads it."""
    monkeypatch.setattr(verbosity, "PATIENCE_S", 600.0)
