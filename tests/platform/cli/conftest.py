"""Runs one command line in this process, and tells what it did."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Final

import pytest

from rolecast.platform.cli.app import main

RAY_NOTICE: Final = "(raylet)"
"""In lines of Ray's own listener."""


def own_lines(text: str) -> str:
    """Leave out what Ray tells, late and wherever, of actors that tests before have ended."""
    return "".join(line for line in text.splitlines(keepends=True) if RAY_NOTICE not in line)


def heavy_modules(words: Sequence[str], *, code: int = 0) -> set[str]:
    """Run a command line in a new process; return which of the heavy libraries it loads."""
    program = (
        "import sys\n"
        "from rolecast.platform.cli.app import main\n"
        f"assert main({list(words)!r}) == {code}\n"
        "print(*{'pandas', 'ray', 'torch', 'numba', 'mujoco'} & set(sys.modules))\n"
    )
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(told.stdout.splitlines()[-1].split())


@pytest.fixture
def rolecast_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., CompletedProcess[str]]:
    """Return a function that runs `rolecast WORDS...` and gives what a process would."""

    def run(*words: str | Path) -> CompletedProcess[str]:
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = (own_lines(text) for text in capsys.readouterr())
        return CompletedProcess(words, code, out, err)

    return run
