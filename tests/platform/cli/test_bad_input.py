"""Whatever a user gets wrong is one sentence and the right exit code, and nothing is lost."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from rolecast.platform.search.records.frames import read_history

Command = Callable[..., CompletedProcess[str]]
SMALL = ("--evaluations", "30", "--episodes", "2", "--batch-size", "5", "--workers", "0")
GYM_ENV = """
import gymnasium
import numpy as np

class Lever(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def __init__(self, trouble):
        self.trouble = trouble

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        self.cursed = self.np_random.random() < 0.1
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.left -= 1
        reward = float(-abs(action[0] - 0.5))
        if self.cursed and self.trouble == "nan":
            reward = float("nan")
        if self.cursed and self.trouble == "infinity":
            reward = float("inf")
        if self.cursed and self.trouble == "raise":
            raise OSError("the lever broke")
        return np.zeros(2, np.float32), reward, self.left == 0, False, {}


def make(trouble):
    return Lever(trouble)
"""


@pytest.fixture
def lever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Begin of the task id of an environment that fails in one episode of ten."""
    name = f"lever_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(GYM_ENV)
    monkeypatch.syspath_prepend(tmp_path)
    return f"python:{name}:make?horizon=5&trouble="


def one_sentence(text: str) -> str:
    """Return the only line of a text, without the program's name."""
    (line,) = text.splitlines()
    assert line.startswith("rolecast: ")
    return line.removeprefix("rolecast: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pred_pray_3"], "did you mean 'pred_prey_3'?"),
        (["pred_prey_3", "--policy", "hon"], "policy 'hon' does not exist; did you mean 'hom'?"),
        (["pred_prey_3", "--optimizer", "cma"], "did you mean 'cmaes'?"),
        (["pred_prey_3", "--set", "windo=3"], "did you mean 'window'?"),
        (["pred_prey_3", "--set", "policy.sise=sm"], "did you mean 'size'?"),
        (["pred_prey_3", "--set", "task.observations=full"], "did you mean 'observation'?"),
        (["pred_prey_3", "--set", "policy.size=xl"], "'xl'"),
        (["pred_prey_3", "--set", "window"], "expected key=value"),
        (["pred_prey_3", "--set", "polcy.size=sm"], "expected key=value"),
        (["pred_prey_3", "--set", "window=60", "--set", "window=70"], "given twice"),
        (["pred_prey_4"], "expected a positive multiple of 3"),
        (["pred_prey_0"], "expected a positive multiple of 3"),
        (["pred_prey_3", "--env-steps", "0"], "env_steps is 0; expected"),
        (["pred_prey_3", "--env-steps", "-5"], "env_steps is -5; expected"),
        (["pred_prey_3", "--evaluations", "0"], "evaluations is 0; expected"),
        (["pred_prey_3", "--env-steps", "7"], "env_steps is 7; expected"),
        (["pred_prey_3", "--env-steps", "9000", "--evaluations", "9"], "expected only one"),
        (["pred_prey_3", "--episodes", "0"], "episodes is 0; expected"),
        (["pred_prey_3", "--batch-size", "-1"], "batch_size is -1; expected"),
        (["pred_prey_3", "--workers", "-1"], "workers is -1; expected"),
        (["pred_prey_3", "--seed", "-1"], "seed is -1; expected"),
        (["pred_prey_3", "--sparse", "0"], "sparse is 0; expected an integer >= 1"),
        (["pred_prey_3", "--delay", "-1"], "delay is -1; expected an integer >= 0"),
        (["pred_prey_3", "--noise", "nan"], "noise is nan; expected a number from 0 to 1e30"),
        (["pred_prey_3", "--noise", "1e308"], "noise is 1e+308; expected a number from 0 to 1e30"),
        (["pred_prey_3", "--flip", "2"], "flip is 2.0; expected a probability in [0, 1]"),
        (["pred_prey_3", "--drop", "-0.1"], "drop is -0.1; expected a probability in [0, 1]"),
        (["pred_prey_3", "--sparse", "5", "--set", "task.sparse=6"], "expected one of them"),
        (["pred_prey_3?delay=x"], "delay is 'x'; expected an integer >= 0"),
        (["gym:Pendulum-v1?horizon=0"], "is 0; expected an integer >= 1"),
        (["gym:NoSuchEnvironment-v0"], "NoSuchEnvironment"),
        (["python:no_such_module:make"], "no_such_module"),
        (["pettingzoo:no.such.module"], "no"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_search_is_refused_in_one_sentence(
    rolecast_command: Command, tmp_path: Path, words: list[str], sentence: str
) -> None:
    ended = rolecast_command("search", *words, "--out", tmp_path / "run")
    assert ended.returncode == 2
    assert sentence in one_sentence(ended.stderr)
    assert ended.stdout == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["evaluate", "no_such_folder"], "is no folder"),
        (["evaluate"], "expected either the folder of a run or --policy"),
        (["evaluate", "--policy", "chase"], "needs a task"),
        (["evaluate", "--policy", "chas", "--task", "pred_prey_3"], "chas"),
        (["evaluate", "--policy", "chase", "--task", "gym:Pendulum-v1"], "predator-prey"),
        (["evaluate", "--policy", "random", "--task", "pred_prey_3", "--episodes", "0"], "is 0"),
        (["evaluate", "--policy", "random", "--task", "pred_prey_3", "--seed", "-1"], "is -1"),
        (["ablate", "no_such_folder"], "is no folder"),
        (["ablate", "chase"], "scripted policy 'chase' has no nets"),
        (["ablate", "chase", "--at", "middle"], "ablate.at is 'middle'; expected one of"),
        (["resume", "no_such_folder"], "no_such_folder"),
        (["report", "no_such_folder"], "no_such_folder"),
        (["render", "no_such_folder"], "no_such_folder"),
        (["check-task", "pred_prey_7"], "multiple of 3"),
        (["optimizers", "dss_gp"], "did you mean 'dss_gp_ucb'?"),
        (["policies", "mpl"], "did you mean 'mlp'?"),
        (["bench", "main", "--only", "colour=red"], "expected one of task=VALUE"),
        (["bench", "main", "--only", "task=chess"], "'chess' does not exist; known: ant"),
        (["bench", "structure", "--part", "stabilty"], "stability"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_other_wrong_requests_are_refused_in_one_sentence(
    rolecast_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = rolecast_command(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert sentence in one_sentence(ended.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [["serch"], ["search"], ["search", "pred_prey_3", "--workers", "two"], ["render", "x", "--no"]],
    ids=" ".join,
)
def test_a_line_that_cannot_be_parsed_exits_with_2(
    rolecast_command: Command, words: list[str]
) -> None:
    ended = rolecast_command(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr


def test_an_existing_out_is_refused_and_left_alone(
    rolecast_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    ended = rolecast_command("search", "pred_prey_3", *SMALL, "--out", tmp_path)
    assert ended.returncode == 2
    assert "exists; expected a path that does not" in one_sentence(ended.stderr)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_an_out_that_holds_a_run_is_refused_with_the_way_to_resume(
    rolecast_command: Command, small_run: Path
) -> None:
    before = (small_run / "history.parquet").read_bytes()
    ended = rolecast_command("search", "pred_prey_3", *SMALL, "--out", small_run)
    assert ended.returncode == 2
    assert f"rolecast resume {small_run}" in one_sentence(ended.stderr)
    assert (small_run / "history.parquet").read_bytes() == before


def test_an_out_that_cannot_be_written_is_refused(
    rolecast_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = rolecast_command("search", "pred_prey_3", *SMALL, "--out", tmp_path / "file" / "run")
    assert ended.returncode == 2
    assert "cannot be made" in one_sentence(ended.stderr)


def test_an_unreachable_cluster_is_one_sentence_and_no_folder(
    rolecast_command: Command, tmp_path: Path
) -> None:
    words = ("--workers", "1", "--address", "127.0.0.1:1", "--out", tmp_path / "run")
    ended = rolecast_command("search", "pred_prey_3", "--evaluations", "30", *words)
    assert ended.returncode == 2
    assert "127.0.0.1:1" in one_sentence(ended.stderr)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("trouble", "told"),
    [("nan", "nan"), ("infinity", "inf"), ("raise", "OSError (the lever broke)")],
)
def test_a_failing_environment_stops_the_search_with_everything_saved(
    rolecast_command: Command, lever: str, tmp_path: Path, trouble: str, told: str
) -> None:
    out = tmp_path / "run"
    words = ("--policy", "mlp", "--optimizer", "random", "--seed", "3", "--out", out)
    ended = rolecast_command("search", f"{lever}{trouble}", *SMALL, *words)
    assert (ended.returncode, ended.stdout) == (1, "")
    *_, last = ended.stderr.splitlines()
    named = re.search(r"evaluation (\d+), episode of seed (\d+)", one_sentence(last))
    assert named
    assert told in last
    assert "Traceback" not in ended.stderr
    failed = int(named[1])
    history = read_history(out)
    assert len(history) == failed - failed % 5
    assert np.isfinite(history["return_mean"]).all()


def test_a_mended_environment_goes_on_from_where_it_failed(
    rolecast_command: Command, lever: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("--policy", "mlp", "--optimizer", "random", "--seed", "3", "--out", out)
    assert rolecast_command("search", f"{lever}nan", *SMALL, *words).returncode == 1
    before = read_history(out)
    record = json.loads((out / "run.json").read_text())
    record["search"]["task"] = f"{lever}none"
    (out / "run.json").write_text(json.dumps(record))
    assert rolecast_command("resume", out).returncode == 0
    after = read_history(out)
    assert len(after) == 30
    assert after["return_mean"][: len(before)].tolist() == before["return_mean"].tolist()


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("run.json", "{", "is damaged"),
        ("run.json", '{"schema": 999}', "was written by a newer rolecast"),
        ("history.parquet", "nonsense", "is damaged"),
    ],
)
@pytest.mark.parametrize("command", ["resume", "report", "render"])
def test_a_damaged_or_newer_folder_is_refused(
    rolecast_command: Command,
    small_run: Path,
    tmp_path: Path,
    command: str,
    file: str,
    content: str,
    sentence: str,
) -> None:
    copy = tmp_path / "run"
    copy.mkdir()
    for name in ("run.json", "history.parquet", "incumbents.parquet"):
        (copy / name).write_bytes((small_run / name).read_bytes())
    (copy / file).write_text(content)
    ended = rolecast_command(command, copy)
    assert ended.returncode == 2
    assert sentence in one_sentence(ended.stderr)


def test_debug_shows_the_traceback(rolecast_command: Command) -> None:
    ended = rolecast_command("--debug", "search", "pred_prey_4")
    assert ended.returncode == 2
    assert "Traceback" in ended.stderr
    assert "ConfigError" in ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("search", "pred_prey_3?sparse=4", "--sparse", "5", *SMALL),
        ("check-task", "pred_prey_3?sparse=4", "--sparse", "5"),
        ("evaluate", "--policy", "chase", "--task", "pred_prey_3?sparse=4", "--sparse", "5"),
    ],
    ids=lambda words: words[0],
)
def test_a_reward_setting_of_the_id_and_another_value_beside_it_are_refused(
    rolecast_command: Command, words: tuple[str, ...]
) -> None:
    ended = rolecast_command(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert one_sentence(ended.stderr) == (
        "--sparse is 5 and the task is 'pred_prey_3?sparse=4'; expected one value of sparse"
    )


def test_an_option_of_the_id_may_be_said_twice_but_not_changed_by_set(
    rolecast_command: Command,
) -> None:
    same = rolecast_command("check-task", "pred_prey_3?sparse=4", "--sparse", "4", "--json")
    assert same.returncode == 0, same.stderr
    other = rolecast_command("check-task", "pred_prey_3?capture=2", "--set", "capture=1")
    assert other.returncode == 2
    assert "capture by --set is 1 and the task is 'pred_prey_3?capture=2'" in other.stderr
