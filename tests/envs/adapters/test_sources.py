import sys
from pathlib import Path

import gymnasium
import pytest

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("gym:Pendulm-v1", "'Pendulm-v1' does not exist; did you mean 'Pendulum-v1'?"),
        ("gym:Hopper-v9", "did you mean 'Hopper-v"),
        ("gym:Pendulum-v1?foo=1", "cannot be made: TypeError"),
        ("pettingzoo:json", "module 'json' has no parallel_env"),
        ("pettingzoo:mpe2.simple_spred_v3", "cannot be imported"),
        ("python:json", "is incomplete; expected python:MODULE:FACTORY"),
        ("python:no_such_module:make", "cannot be imported (No module named 'no_such_module')"),
        ("python:json:dumpz", "'dumpz' does not exist; did you mean 'dump'?"),
        ("python:json:__name__", "is no function; expected a factory"),
        ("python:collections:OrderedDict", "made a OrderedDict; expected a gymnasium.Env"),
    ],
)
def test_a_source_that_does_not_exist_is_refused_in_one_sentence(
    task_id: str, message: str
) -> None:
    with pytest.raises(RequestError) as refused:
        make_task(task_id)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys; sys.exit(0)", "its module raises SystemExit (0)"),
        ("1 / 0", "its module raises ZeroDivisionError (division by zero)"),
        ("import nowhere_at_all", "cannot be imported (No module named 'nowhere_at_all')"),
        ("def make(): raise SystemExit(0)", "cannot be made: SystemExit (0)"),
    ],
)
def test_a_module_that_fails_on_import_is_named(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_env.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "failing_env", raising=False)
    with pytest.raises(RequestError) as refused:
        make_task("python:failing_env:make")
    sys.modules.pop("failing_env", None)
    assert "'python:failing_env:make'" in str(refused.value)
    assert message in str(refused.value)


def test_a_factory_in_the_working_directory_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_env.py").write_text(
        "import gymnasium\n"
        "class Makers:\n"
        "    @staticmethod\n"
        "    def pendulum(g=10.0):\n"
        "        return gymnasium.make('Pendulum-v1', g=g, disable_env_checker=True)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    task = make_task("python:my_own_env:Makers.pendulum?g=3.5&horizon=7")
    assert task.spec.horizon == 7
    assert make_task(task.spec.id).spec == task.spec


def test_an_environment_registered_by_the_user_is_found() -> None:
    gymnasium.register(
        id="OwnPendulum-v0",
        entry_point="gymnasium.envs.classic_control:PendulumEnv",
        max_episode_steps=30,
    )
    try:
        assert make_task("gym:OwnPendulum-v0").spec.horizon == 30
    finally:
        del gymnasium.registry["OwnPendulum-v0"]
