from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rolecast
from rolecast.core.errors import RequestError
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.registry import make_task, task_specs, tasks_of_others
from rolecast.envs.spec import TaskSpec


@pytest.mark.parametrize("task_id", task_specs())
def test_every_listed_task_keeps_the_contract_and_is_built_again_from_its_id(task_id: str) -> None:
    task = make_task(task_id)
    spec = task.spec
    assert make_task(spec.id).spec == spec
    assert spec.id == task_id
    assert spec.summary
    seeds = np.arange(2, dtype=np.uint64)
    shape = (2, spec.agents, spec.observation_size)
    assert task.reset(seeds).shape == shape
    observations, reward, done, _ = task.step(np.zeros((2, spec.agents, spec.action_size)))
    assert observations.shape == shape
    assert reward.shape == done.shape == (2,)


@pytest.mark.parametrize(
    ("task_id", "options", "expected"),
    [
        ("pred_prey_6", {"observation": "full"}, "pred_prey_6?observation=full"),
        ("pred_prey_6?observation=full", {"observation": "nearest16"}, "pred_prey_6"),
        ("het_pred_prey_3?task_seed=2", {}, "het_pred_prey_3?task_seed=2"),
        ("gym:Pendulum-v1", {"g": 9.81, "horizon": 50}, "gym:Pendulum-v1?g=9.81&horizon=50"),
    ],
)
def test_the_id_of_a_task_holds_its_options(
    task_id: str, options: dict[str, Any], expected: str
) -> None:
    task = rolecast.make_task(task_id, **options)
    assert task.spec.id == expected
    assert make_task(expected).spec == task.spec


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("pred_pray_3", "task 'pred_pray_3' does not exist; did you mean 'pred_prey_3'?"),
        ("pred_prey", "did you mean 'pred_prey_"),
        ("pred_prey_4", "N is 4; expected a positive multiple of 3"),
        ("pred_prey_0", "N is 0; expected a positive multiple of 3"),
        ("pred_prey_-3", "N is -3; expected a positive multiple of 3"),
        ("pred_prey_3?obs=full", "option of task 'pred_prey_3': 'obs' does not exist"),
        ("pred_prey_3?observation=ful", "'ful' does not exist; did you mean 'full'"),
        ("pred_prey_3?observation=3", "observation variant '3' does not exist"),
        ("het_pred_prey_3?task_seed=x", "task_seed is 'x'; expected an integer >= 0"),
        ("./sub/mine.py:make", "is no id; expected python:sub.mine:make"),
        ("/mine.py:make", "is no id; expected python:MODULE:NAME of a file below the working"),
        ("gymm:Pendulum-v1", "kind of task 'gymm' does not exist; did you mean 'gym'"),
        ("", "expected a name"),
    ],
)
def test_a_wrong_id_is_refused_in_one_sentence(task_id: str, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        make_task(task_id)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@settings(deadline=None)
@given(
    n=st.integers(-50, 50).filter(lambda n: n < 3 or n % 3),
    family=st.sampled_from(["pred_prey", "het_pred_prey"]),
)
def test_no_other_number_of_predators_is_accepted(n: int, family: str) -> None:
    with pytest.raises(RequestError, match="expected a positive multiple of 3"):
        make_task(f"{family}_{n}")


def test_what_is_neither_id_nor_function_is_refused() -> None:
    with pytest.raises(RequestError, match="task is a int; expected an id or a function"):
        make_task(3)  # type: ignore[arg-type]


def make_pendulum(**options: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make("Pendulum-v1", disable_env_checker=True, **options)


def test_a_function_that_makes_an_environment_is_a_task() -> None:
    task = make_task(make_pendulum, g=5.0, horizon=20)
    assert task.spec.horizon == 20
    assert task.spec.id == f"python:{__name__}:make_pendulum?g=5.0&horizon=20"


def test_a_function_may_return_a_batched_task() -> None:
    assert make_task(lambda n: PredatorPreyTask(n), n=6).spec.id == "pred_prey_6"


@pytest.mark.parametrize("option", [{"horizon": 50}, {"team_reward": "mean"}, {"team": "a"}])
def test_options_of_an_adapter_are_refused_where_there_is_none(option: dict[str, Any]) -> None:
    name = next(iter(option))
    with pytest.raises(RequestError, match=rf"option '{name}'.*expected env\.{name} for its own"):
        make_task("python:rolecast.baselines.games:ridge", **option)


def test_options_of_a_function_must_be_json_values() -> None:
    with pytest.raises(RequestError, match="expected a JSON value"):
        make_task(make_pendulum, g=object())


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution that offers a good and a broken task."""
    (tmp_path / "hunting_tasks.py").write_text(
        "from rolecast.envs.predator_prey.task import PredatorPreyTask\n"
        "def nine(**options):\n"
        "    return PredatorPreyTask(9, **options)\n"
    )
    info = tmp_path / "hunting_tasks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hunting-tasks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[rolecast.tasks]\nbig_hunt = hunting_tasks:nine\nbroken_hunt = hunting_tasks:gone\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("other_package")
def test_another_package_offers_tasks_by_entry_point() -> None:
    assert "big_hunt" in tasks_of_others()
    spec = make_task("big_hunt?observation=full").spec
    assert isinstance(spec, TaskSpec)
    assert (spec.agents, spec.observation_size) == (9, 44)
    with pytest.raises(RequestError, match="did you mean 'big_hunt'"):
        make_task("big_hunts")


@pytest.mark.usefixtures("other_package")
def test_a_task_of_another_package_that_fails_to_load_is_named() -> None:
    expected = "task 'broken_hunt' cannot be loaded from hunting_tasks:gone: AttributeError"
    with pytest.raises(RequestError, match=expected):
        make_task("broken_hunt")
