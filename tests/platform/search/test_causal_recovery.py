"""Causal searches: one killed, one on workers, and several where a node fails."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rolecast
from rolecast.platform.cli.app import main
from rolecast.platform.search.records.frames import read_history

SameHistory = Callable[[Path, Path], None]
AwaitBatch = Callable[..., bool]

SETTINGS: dict[str, Any] = {
    "policy": "constant",
    "confirm_share": 0.0,
    "seed": 3,
    "optimizer_settings": {"raw_samples": 8, "samples": 4, "starts": 2, "steps": 3},
}
"""A search whose acquisition is climbed a few steps."""

EVALUATIONS = 60


def test_a_killed_causal_search_resumes_to_the_same_history(
    tmp_path: Path, same_history: SameHistory, await_batch: AwaitBatch
) -> None:
    """Tests of each optimiser prove that its state is enough to go on."""
    task = "causal:dropwave?noise=1"
    settings = SETTINGS | {"optimizer": "mcbo", "evaluations": EVALUATIONS}
    settings |= {"batch_size": 3, "workers": 0}
    rolecast.search(task, out=tmp_path / "whole", **settings)
    out = tmp_path / "killed"
    script = f"from rolecast import search; search({task!r}, out={str(out)!r}, **{settings!r})"
    driver = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    try:
        # Beyond the initial design, of 5 evaluations.
        waited = await_batch(out, lambda: driver.poll() is not None, batches=5)
        assert waited, "ended before it could be killed"
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert 15 <= len(read_history(out)) < EVALUATIONS
    rolecast.resume(out)
    same_history(out, tmp_path / "whole")


@pytest.mark.usefixtures("ray_cluster")
def test_a_causal_search_is_the_same_on_workers(tmp_path: Path, same_history: SameHistory) -> None:
    settings = SETTINGS | {"optimizer": "mcbo", "evaluations": 20, "batch_size": 4}
    rolecast.search("causal:toy", out=tmp_path / "here", workers=0, **settings)
    begun = settings | {"evaluations": 16}
    rolecast.search("causal:toy", out=tmp_path / "there", workers=0, **begun)
    rolecast.resume(tmp_path / "there", workers=2, evaluations=20)
    same_history(tmp_path / "here", tmp_path / "there")


BROKEN = """
import numpy as np

from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode
from rolecast.envs.causal.problem import CausalProblem

graph = CausalGraph(
    nodes=(CausalNode(name="x", actions=("a",)), CausalNode(name="y", parents=("x",))),
    actions=(ActionRange(name="a"),),
)
mechanisms = {"x": lambda v: v["a"], "y": lambda v: 1.0 / (1.0 + v["x"])}
sound = mechanisms[NODE]
mechanisms[NODE] = lambda v: np.where(v["a"] < 0.3, sound(v), np.nan)
problem = CausalProblem(graph, mechanisms)
"""


@pytest.mark.parametrize("method", ["mcbo", "gp_ucb", "eifn", "random"])
@pytest.mark.parametrize("node", ["x", "y"])
def test_a_mechanism_that_gives_no_number_is_refused_and_what_was_before_is_kept(
    method: str,
    node: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"broken_{node}_{method}.py").write_text(BROKEN.replace("NODE", repr(node)))
    words = [f"broken_{node}_{method}.py:problem", "--method", method, "--rounds", "9"]
    # With this seed the first point of the design is 0.26, the second 0.34.
    assert main(["causal", *words, "--out", "run", "--seed", "5", "--workers", "0", "-q"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert f"node '{node}' is nan; expected a finite number" in line
    assert len(read_history("run")) == 1
