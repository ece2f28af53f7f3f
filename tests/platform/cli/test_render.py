"""`rolecast render` draws runs and scripted policies, and refuses before it computes."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rolecast.platform.cli.render import LINE_INTERVAL_S, lines_about_frames

Command = Callable[..., CompletedProcess[str]]
CHASE = ("--policy", "chase", "--task", "pred_prey_3")


def test_a_scripted_policy_is_drawn_without_a_run(
    rolecast_command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "chase.mp4"
    words = ("--episodes", "3", "--steps", "4", "--stride", "2", "--out", out, "--json")
    ended = rolecast_command("render", *CHASE, *words)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["frames"] == 3
    assert told["description"].startswith("pred_prey_3, chase: return ")
    assert told["description"].endswith("percentile 50 of 3 episodes")
    assert out.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "expected either the folder of a run or --policy NAME"),
        (("runs/hunt", *CHASE), "expected either the folder of a run or --policy NAME"),
        (("--policy", "chase"), "expected --policy NAME and --task ID together"),
        (("runs/hunt", "--task", "pred_prey_3"), "a run has its own task"),
        ((*CHASE, "--out", "chase.avi"), "has ending '.avi'; expected .gif, .mp4 or .png"),
        ((*CHASE, "--stride", "0"), "render.stride is 0; expected an integer >= 1"),
        ((*CHASE, "--seed", "-1"), "seed is -1; expected an integer >= 0"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_no_file(
    rolecast_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = rolecast_command("render", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert sentence in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_environment_that_takes_no_render_mode_is_told_what_is_wanted(
    rolecast_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain_pendulum.py").write_text(
        "import gymnasium\n\n\ndef make():\n    return gymnasium.make('Pendulum-v1')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run = tmp_path / "run"
    words = ("--evaluations", "4", "--episodes", "1", "--batch-size", "2", "--workers", "0")
    task = "python:plain_pendulum:make"
    searched = rolecast_command(
        "search", task, *words, "--optimizer", "random", "--test-episodes", "2", "--out", run
    )
    assert searched.returncode == 0, searched.stderr
    ended = rolecast_command("render", run)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"task {task!r} cannot be drawn; expected an environment that takes " in ended.stderr
    assert 'render_mode="rgb_array" (' in ended.stderr


def test_long_drawing_tells_how_far_it_is_now_and_then() -> None:
    told: list[str] = []
    times = iter([0.0, *(0.4 * LINE_INTERVAL_S * step for step in range(1, 7))])
    progress = lines_about_frames(told.append, lambda: next(times))
    for drawn in range(1, 7):
        progress(drawn, 6)
    assert told == ["frame 3 of 6"]
