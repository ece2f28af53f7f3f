"""`rolecast tasks` tells what can be asked of every task before it is made."""

import json
from collections.abc import Callable
from dataclasses import asdict
from subprocess import CompletedProcess

import pytest

from rolecast.envs.registry import FAMILIES, make_task, task_specs
from tests.platform.cli.conftest import heavy_modules

Command = Callable[..., CompletedProcess[str]]


def test_every_task_is_listed_with_agents_sizes_steps_and_source(rolecast_command: Command) -> None:
    lines = rolecast_command("tasks").stdout.splitlines()
    rows = {line.split()[0]: line.rstrip().split(maxsplit=5) for line in lines if line.strip()}
    for task_id in task_specs():
        spec = make_task(task_id).spec
        sizes = (spec.agents, spec.observation_size, spec.action_size, spec.horizon)
        assert rows[task_id][1:5] == [*map(str, sizes)]
        assert rows[task_id][5] == spec.source


@pytest.mark.parametrize("command", ["tasks", "policies", "optimizers"])
def test_a_listing_loads_nothing_that_computes(command: str) -> None:
    assert heavy_modules([command]) == set()


def test_numbers_of_every_family_are_told(rolecast_command: Command) -> None:
    text = rolecast_command("tasks").stdout
    for name, family in FAMILIES.items():
        (line,) = (line for line in text.splitlines() if line.split()[:1] == [f"{name}_N"])
        assert f" {family.numbers} " in line


def test_programs_get_the_same_numbers_by_name(rolecast_command: Command) -> None:
    told = json.loads(rolecast_command("tasks", "--json").stdout)
    assert told["tasks"].keys() == task_specs().keys()
    for task_id, told_of in told["tasks"].items():
        spec = json.loads(json.dumps(asdict(make_task(task_id).spec)))
        assert told_of == {name: value for name, value in spec.items() if name != "id"}
    assert told["families"]["het_pred_prey"] == {
        "numbers": "N a multiple of 3",
        "options": ["observation", "task_seed", "capture", "view", "scout"],
    }
    assert told["others"] == {}
    assert "gym:ID" in told["own"]


def test_a_learner_by_name_answers_for_a_task(rolecast_command: Command) -> None:
    words = ("learners", "mappo", "--task", "hopper")
    told = rolecast_command(*words)
    assert told.returncode == 0, told.stderr
    (listed,) = (
        row["this task"]
        for name, row in json.loads(
            rolecast_command("learners", "--task", "hopper", "--json").stdout
        )["learners"].items()
        if name == "mappo"
    )
    assert f"Takes hopper: {listed}.\n" in told.stdout
    assert json.loads(rolecast_command(*words, "--json").stdout)["this task"] == listed
    assert "this task" not in json.loads(rolecast_command("learners", "mappo", "--json").stdout)
    wrong = rolecast_command("learners", "mappo", "--task", "hoper")
    assert (wrong.returncode, wrong.stdout) == (2, "")
