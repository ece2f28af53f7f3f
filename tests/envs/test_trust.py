"""What a folder names is made only if it is trusted; nothing that a stranger writes is run."""

import ast
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from gymnasium.envs.classic_control.pendulum import PendulumEnv as Pendulum

from rolecast.core.errors import RequestError
from rolecast.core.user_folders import settings_folder
from rolecast.envs import trust
from rolecast.envs.registry import make_task

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def nothing_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a module whose import leaves a mark."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "strangers_envs.py").write_text("open('mark', 'w').close()\nArena = None\n")
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize(
    "task",
    [
        "pred_prey_3",
        "pred_prey_3?sparse=5",
        "het_pred_prey_6?task_seed=3",
        "hopper",
        "manyagent_ant_4",
        "gym:Pendulum-v1",
        "gym:Pendulum-v1?delay=3&horizon=50",
        "causal:alpine2?noise=1",
    ],
)
def test_tasks_that_are_built_in_need_no_trust(task: str) -> None:
    trust.require_trust(task)


@pytest.mark.parametrize(
    "task",
    [
        "python:os:system?command=touch mark",
        "python:strangers_envs:Arena",
        "pettingzoo:strangers_envs",
        "gym:strangers_envs:Arena-v0",
        "gym:Hopper-v5?xml_file=/etc/passwd",
        "gym:GymV26Environment-v0?env_id=strangers_envs:Arena-v0",
        "pettingzoo:",
        "python:",
        "nobody_has_this",
    ],
)
def test_other_tasks_are_refused_by_name_and_nothing_of_theirs_is_run(
    task: str, stranger: Path
) -> None:
    with pytest.raises(RequestError) as refused:
        trust.make_stored_task(task)
    assert task.partition("?")[0] in str(refused.value)
    assert "--trust" in str(refused.value)
    assert not (stranger / "mark").exists()


def test_a_task_is_trusted_once_it_was_made_here() -> None:
    trust.remember_task("python:json:loads?s=1&sparse=5")
    trust.require_trust("python:json:loads?s=1&delay=2")
    trust.require_trust("python:json:loads", {"s": 2})
    with pytest.raises(RequestError, match="json:dumps"):
        trust.require_trust("python:json:dumps?s=1")


def test_a_task_that_the_caller_names_is_made_and_remembered() -> None:
    named = "python:gymnasium.envs.classic_control.pendulum:PendulumEnv?horizon=5"
    with pytest.raises(RequestError, match="--trust"):
        trust.make_wanted_task(None, named)
    trust.make_wanted_task(named, "hopper").close()
    assert trust.make_wanted_task(None, named).spec.horizon == 5


def test_trust_that_is_given_is_remembered() -> None:
    trust.require_trust("python:json:loads", trust=True)
    trust.require_trust("python:json:loads")


@pytest.mark.parametrize("make", [partial(Pendulum, g=9.0), lambda: Pendulum()])
def test_a_callable_that_no_id_names_is_asked_for_again(make: Callable[[], Pendulum]) -> None:
    task_id = make_task(make, horizon=5).spec.id
    with pytest.raises(RequestError, match=r"was a Python callable, .*; expected a function"):
        trust.make_stored_task(task_id, trust=True)


def test_a_function_of_a_script_is_found_in_the_script_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(RequestError, match=r"was a Python callable, .*; expected a function"):
        trust.make_stored_task("python:__main__:make_pendulum?horizon=5", trust=True)
    monkeypatch.setattr(sys.modules["__main__"], "make_pendulum", Pendulum, raising=False)
    task = trust.make_stored_task("python:__main__:make_pendulum?horizon=5", trust=True)
    assert task.spec.horizon == 5


def test_the_same_id_of_another_place_is_another_task(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust.remember_task("python:strangers_envs:Arena")
    trust.require_trust("python:strangers_envs:Arena")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.raises(RequestError, match=f"its module is not found from {elsewhere}; expected"):
        trust.require_trust("python:strangers_envs:Arena")
    (elsewhere / "strangers_envs.py").write_text("open('mark', 'w').close()\n")
    with pytest.raises(RequestError, match=r"it runs code of .*strangers_envs\.py; expected --t"):
        trust.require_trust("python:strangers_envs:Arena")


def test_a_damaged_trust_list_trusts_nothing_more_and_harms_nothing() -> None:
    trust.remember_use("cluster", "one:1")
    file = settings_folder() / trust.TRUST_LIST
    file.write_bytes(b"\xff{\n[" + b"[" * 9 + b"\n" + file.read_bytes())
    trust.require_trusted("cluster", "one:1")
    with pytest.raises(RequestError, match=r"cluster 'two:2'.*--trust"):
        trust.require_trusted("cluster", "two:2")


def test_a_home_that_cannot_be_written_fails_no_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    trust.remember_use("cluster", "one:1")
    with pytest.raises(RequestError, match="cluster"):
        trust.require_trusted("cluster", "one:1")


LOADERS = (
    "platform/search/records/evaluate.py",
    "platform/search/records/ablation.py",
    "platform/search/run.py",
    "platform/search/records/measurements.py",
    "platform/search/records/run_folder.py",
    "platform/reports/run.py",
    "platform/reports/folder.py",
    "platform/reports/film/render.py",
    "platform/reports/comparison/page.py",
    "platform/deployment/certify.py",
    "platform/deployment/export.py",
    "platform/tuning/yardsticks.py",
    "platform/tuning/comparison_folder.py",
    "platform/cli/top.py",
    "policies/artefact.py",
)
"""Every file that begins to read a folder."""

EXECUTES = {
    "import_module", "__import__", "exec", "eval", "compile", "load_source", "run_path",
    "run_module", "loads", "Unpickler", "torch.load", "joblib.load", "run", "Popen", "system",
    "check_output", "check_call", "CDLL", "load_library", "yaml.load", "point.load", "entry.load",
    "exec_module", "subprocess.run",
}  # fmt: skip
"""Calls that can run what a name or some bytes say."""

AMBIGUOUS = {"run", "compile"}
"""Of these, names that harmless methods have, too."""

ALLOWED = {
    "core/encoding.py: json.loads": "JSON",
    "core/files.py: json.loads": "JSON",
    "envs/ids.py: json.loads": "JSON",
    "envs/trust.py: json.loads": "JSON",
    "envs/adapters/sources.py: import_module": "behind make_task",
    "core/lazy_table.py: import_module": "an entry of a table in the code",
    "core/lazy_table.py: json.loads": "JSON of a file of this package",
    "core/lazy_table.py: entry.load": "an installed package",
    "platform/search/planning/request.py: tomllib.loads": "TOML",
    "envs/registry.py: point.load": "behind make_task; an installed package",
    "envs/mujoco/render.py: import_module": "one of two names",
    "envs/mujoco/render.py: ctypes.CDLL": "a library of the installed package triton",
    "envs/mujoco/render.py: platform.system": "the name of this machine's kernel",
    "envs/mujoco/simulator_fused.py: ctypes.CDLL": "the extension of the installed package mujoco",
    "platform/tuning/experiment.py: json.loads": "JSON",
    "platform/tuning/methods.py: json.loads": "JSON",
    "platform/deployment/onnx.py: import_module": "a constant",
    "platform/deployment/compiler.py: ctypes.CDLL": "what was compiled of templates just before",
    "platform/deployment/compiler.py: subprocess.run": "the compiler that the caller named",
    "platform/search/backend.py: import_module": "a constant",
    "platform/reports/film/encode.py: import_module": "a constant",
    "platform/reports/film/encode.py: subprocess.run": "ffmpeg, of the user's own path",
}
"""What may execute on the way, with the reason why no folder decides what."""


def test_nothing_on_the_way_of_loading_a_folder_runs_what_the_folder_says() -> None:
    found = set()
    for file in _reached():
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in EXECUTES or called.rpartition(".")[2] in EXECUTES - AMBIGUOUS:
                found.add(f"{file}: {called}")
    assert found - set(ALLOWED) == set()


def test_no_loader_makes_a_task_that_a_file_names_without_asking() -> None:
    """`make_task` is called in these files only for what the caller named."""
    calls = {
        file: sum(
            isinstance(node, ast.Call) and ast.unparse(node.func) == "make_task"
            for node in ast.walk(ast.parse((ROOT / file).read_text()))
        )
        for file in LOADERS
    }
    assert {file: count for file, count in calls.items() if count} == {
        "platform/reports/film/render.py": 1,  # render_scripted
        "platform/tuning/yardsticks.py": 1,  # after require_trust
    }


def _reached() -> set[str]:
    """Return the files that loaders import, over any number of steps."""
    reached, waiting = set(), list(LOADERS)
    while waiting:
        file = waiting.pop()
        if file in reached:
            continue
        reached.add(file)
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rolecast."):
                place = (node.module or "").split(".")[1:]
                for parts in (place, *([*place, alias.name] for alias in node.names)):
                    path = "/".join(parts) + ".py"
                    if (ROOT / path).is_file():
                        waiting.append(path)
    return reached
