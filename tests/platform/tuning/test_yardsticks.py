"""Scripted policies of a comparison's tasks: of robots and users' environments few episodes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import rolecast
from rolecast.platform.search.records.measurements import SLOW_EPISODES
from rolecast.platform.tuning.comparison_folder import ComparisonFolder
from rolecast.platform.tuning.yardsticks import (
    TaskYardsticks,
    complete_comparison,
    read_yardsticks,
)

FAILING_ENVIRONMENT = """
import gymnasium
import numpy as np


class Failing(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        return np.zeros(1, dtype=np.float32), {}

    def step(self, action):
        raise RuntimeError("no step today")
"""


def measured(folder: Path, *tasks: str) -> Mapping[str, TaskYardsticks]:
    comparison = ComparisonFolder(folder)
    settings: dict[str, Any] = {"tasks": list(tasks)}
    comparison.write_experiment({"experiment": settings})
    complete_comparison(folder, trust=True)
    return read_yardsticks(comparison)


def test_a_robot_is_held_against_random_actions_and_none_at_all(tmp_path: Path) -> None:
    task = "hopper?horizon=20"
    found = measured(tmp_path, task)[task]
    names = [each.name for each in found.yardsticks]
    assert (names, found.missing) == (["scripted random", "does not move"], "")
    for yardstick, policy in zip(found.yardsticks, ("random", "still"), strict=True):
        known = rolecast.evaluate(policy, task=task, episodes=SLOW_EPISODES)
        assert yardstick.mean == known.episode_return_mean
        assert yardstick.stderr == known.episode_return_stderr


def test_choices_are_held_against_random_ones_and_a_graph_against_nothing(tmp_path: Path) -> None:
    found = measured(tmp_path, "gym:CartPole-v1?horizon=5", "causal:toy")
    names = [[each.name for each in known.yardsticks] for known in found.values()]
    assert names == [["scripted random"], []]
    assert not any(known.missing for known in found.values())


def test_an_environment_that_fails_is_said_and_ends_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_yardstick.py").write_text(FAILING_ENVIRONMENT)
    monkeypatch.syspath_prepend(tmp_path)
    task = "python:failing_yardstick:Failing?horizon=5"
    assert "no step today" in measured(tmp_path, task)[task].missing
