"""Play in which `check-task` looks for symmetries is watched as its other play is."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rolecast.envs import found_symmetries
from rolecast.platform.cli.app import app

STUCK_ENV = """
import time

import gymnasium
import numpy as np

STUCK = []


class Door(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return np.zeros(2, np.float32), {}

    def step(self, action):
        while STUCK:
            time.sleep(0.01)
        self.left -= 1
        return np.zeros(2, np.float32), float(action[0]), self.left == 0, False, {}
"""


def test_play_that_looks_for_symmetries_ends_after_the_step_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stuck_door.py").write_text(STUCK_ENV)
    monkeypatch.syspath_prepend(tmp_path)
    import stuck_door  # type: ignore[import-not-found]  # written above

    look = found_symmetries.find_symmetries

    def get_stuck(task: Any, **options: Any) -> Any:
        stuck_door.STUCK.append(True)
        return look(task, **options)

    monkeypatch.setattr(found_symmetries, "find_symmetries", get_stuck)
    command = ["check-task", "python:stuck_door:Door?horizon=5", "--find-symmetries"]
    done = CliRunner().invoke(app, [*command, "--step-timeout", "0.5"])
    assert done.exit_code == 1
    assert "--step-timeout" in str(done.exception)
