"""Causal searches of each kind of model: killed with their process, and on workers, they agree."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rolecast
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.frames import read_history

SameHistory = Callable[[Path, Path], None]

SETTINGS: dict[str, Any] = {"policy": "constant", "confirm_share": 0.0, "seed": 3}
EVALUATIONS = 60

METHODS = ("mcbo", "eicbo", "causal_gp_ucb")
"""A process a node, a set and the reward; `eifn` searches as the first, `cbo` as the second."""


def request(optimizer: str) -> tuple[str, dict[str, Any]]:
    """Return a task that a method can search, and its settings: climbs of a few steps."""
    task = "causal:dropwave?noise=1" if optimizer == "causal_gp_ucb" else "causal:toy"
    small = {"starts": 2, "raw_samples": 8, "steps": 3, "samples": 4}
    return task, SETTINGS | {"optimizer": optimizer, "optimizer_settings": small}


@pytest.mark.parametrize("optimizer", METHODS)
def test_a_killed_causal_search_resumes_to_the_same_history(
    optimizer: str, tmp_path: Path, same_history: SameHistory
) -> None:
    task, settings = request(optimizer)
    settings |= {"evaluations": EVALUATIONS, "batch_size": 1, "workers": 0}
    rolecast.search(task, out=tmp_path / "whole", **settings)
    out = tmp_path / "killed"
    script = f"from rolecast import search; search({task!r}, out={str(out)!r}, **{settings!r})"
    driver = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    deadline = time.monotonic() + 120.0
    try:
        # Beyond the initial design, of 14 evaluations at most.
        while len(journal.read(out / "checkpoint" / "journal.bin")) < 16:
            assert driver.poll() is None, "ended before it could be killed"
            assert time.monotonic() < deadline, "no 16 batches after two minutes"
            time.sleep(0.002)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert 16 <= len(read_history(out)) < EVALUATIONS
    rolecast.resume(out)
    same_history(out, tmp_path / "whole")


@pytest.mark.usefixtures("ray_cluster")
@pytest.mark.parametrize("optimizer", METHODS)
def test_causal_searches_are_the_same_on_workers(
    optimizer: str, tmp_path: Path, same_history: SameHistory
) -> None:
    task, settings = request(optimizer)
    settings |= {"evaluations": 20, "batch_size": 4}
    rolecast.search(task, out=tmp_path / "here", workers=0, **settings)
    rolecast.search(task, out=tmp_path / "there", workers=2, **settings)
    same_history(tmp_path / "here", tmp_path / "there")
