"""Tasks as functions of a bandit: their values, trust, resumption, and refusals."""

from pathlib import Path

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.platform.cli.app import main
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.bandit.run import resume_bandit
from rolecast.platform.search.bandit.task_function import TaskPlay, task_function

SWIMMER = "task:ma_swimmer_2x1?horizon=20"
USERS_TASK = """
from rolecast.envs.registry import make_task

def pond():
    return make_task("ma_swimmer_2x1", horizon=5)
"""


def test_a_value_is_the_mean_return_over_the_same_episodes() -> None:
    play = TaskPlay(episodes=3, scale=10.0, offset=2.0)
    found = task_function(SWIMMER, play, seed=1, noise=None)
    assert found.domain.dimension == 7
    points = np.random.default_rng(0).random((4, 7))
    values = found.values(points)
    again = np.concatenate([found.values(point[None]) for point in points])
    np.testing.assert_array_equal(again, values)
    task = rolecast.make_task("ma_swimmer_2x1", horizon=20)
    policy = rolecast.make_policy("linear", task)
    seeds = found.value.seeds  # type: ignore[attr-defined]
    assert len(np.unique(seeds)) == 3
    returns = rollout(task, policy, policy.space.weights(points), seeds).returns
    np.testing.assert_array_equal(values, (returns.mean(1) - 2.0) / 10.0)


def test_a_value_is_what_the_task_pays() -> None:
    play = TaskPlay(episodes=3)
    points = np.random.default_rng(0).random((2, 7))
    dropped, flipped, earned = (
        task_function(f"{SWIMMER}{setting}", play, seed=1, noise=None).values(points)
        for setting in ("&drop=1.0", "&flip=1", "")
    )
    np.testing.assert_array_equal(dropped, np.zeros(2))
    np.testing.assert_allclose(flipped, -earned)
    assert (earned != 0.0).all()


def test_a_run_of_a_task_is_resumed_and_a_strangers_task_needs_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bandit", SWIMMER, "--agents", "2", "--rounds", "4", "--scale", "10", "--json"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert main(["resume", str(tmp_path / "run"), "--json"]) == 0
    assert capsys.readouterr().out == printed
    (tmp_path / "users_ponds.py").write_text(USERS_TASK)
    given = {"agents": 2, "rounds": 2, "out": tmp_path / "own"}
    found = rolecast.bandit_search("task:python:users_ponds:pond", **given)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another_user"))
    with pytest.raises(RequestError, match="--trust"):
        resume_bandit(tmp_path / "own")
    assert resume_bandit(tmp_path / "own", trust=True) == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["task:swimmer"], "parameters of policy 'linear' in task:swimmer is 18; expected at most"),
        (["task:swimer"], "did you mean 'swimmer'"),
        ([SWIMMER, "--policy", "liner"], "did you mean 'linear'"),
        ([SWIMMER, "--episodes", "0"], "TaskPlay.episodes is 0; expected an integer >= 1"),
        ([SWIMMER, "--scale", "0"], "scale is 0.0; expected a number > 0"),
        ([SWIMMER, "--offset", "nan"], "offset is nan; expected a finite number"),
        ([SWIMMER, "--noise", "-1"], "noise is -1.0; expected a number >= 0"),
        ([SWIMMER, "--bounds", "0:1"], "has bounds or an optimum; expected neither"),
        (["branin", "--scale", "2"], "'branin' has bounds, optimum and scale; expected none"),
        (["branin", "--offset", "2"], "'branin' has bounds, optimum and scale; expected none"),
        (["branin", "--episodes", "2"], "'branin' has episodes; expected those with task:TASK"),
    ],
)
def test_wrong_tasks_are_refused_in_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bandit", *words]) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1
    assert message in errors[0]


def test_a_scale_that_is_given_twice_is_refused() -> None:
    with pytest.raises(RequestError, match="scale is given twice; expected it once"):
        rolecast.bandit_search(SWIMMER, scale=2.0, task_play={"scale": 2.0})


def test_settings_of_a_task_that_do_not_exist_are_refused() -> None:
    with pytest.raises(RequestError, match="setting of a task 'polcy' does not exist; did you"):
        rolecast.bandit_search(SWIMMER, task_play={"polcy": "linear"})
