"""Declared symmetries: what they are, and that wrong ones are told from right ones."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.envs import check
from rolecast.envs.check import check_task
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.envs.symmetry import Symmetry, apply_places, exchange, square_symmetries
from rolecast.envs.symmetry_check import GREATEST_DEVIATION, symmetry_deviations

SYMMETRIC_TASKS = (
    "pred_prey_3",
    "het_pred_prey_3",
    "pred_prey_6",
    "pred_prey_6?observation=full",
    "pred_prey_3?capture=2&scout=1&view=0.5",
    "drone_delivery_3",
    "drone_delivery_3?handover=1",
    "swimmer",
    "walker2d",
    "ant",
)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of steps per second may end at once."""
    monkeypatch.setattr(check, "MOST_SECONDS", 0.02)


@pytest.mark.parametrize("task_id", SYMMETRIC_TASKS)
def test_declared_symmetries_hold_for_random_policies(task_id: str) -> None:
    """False alarm: 1e-6 for all. A shift of an entry's mean by half a deviation is seen."""
    task = make_task(task_id)
    symmetries = task.spec.symmetries
    assert symmetries
    for symmetry, found in zip(symmetries, symmetry_deviations(task, symmetries), strict=True):
        assert found.standard_errors < GREATEST_DEVIATION, (symmetry.name, found)


WRONG = {
    "positions for velocities": Symmetry(
        name="w", observation=(3, 4, 1, 2, *range(5, 17)), action=(1, 2)
    ),
    "an action alone": Symmetry(name="w", observation=tuple(range(1, 17)), action=(-1, 2)),
    "the prey's velocity for its place": exchange("w", (12, 13), (14, 15), sizes=(16, 2)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_declaration_is_refused_by_name(name: str) -> None:
    class Declared(PredatorPreyTask):
        @property
        def spec(self) -> TaskSpec:
            return replace(super().spec, symmetries=(WRONG[name],))

    report = check_task(lambda: Declared(3))
    failed = [found for found in report.checks if not found.ok]
    assert [found.name for found in failed] == ["symmetries"]
    assert failed[0].detail.startswith("'w' is no symmetry: the ")
    assert "standard errors" in failed[0].detail


def test_check_task_names_the_symmetries_that_hold() -> None:
    (found,) = (each for each in check_task("pred_prey_3").checks if each.name == "symmetries")
    assert found.ok
    assert found.detail == (
        "hold for random policies: mirror x, exchange x and y, reverse landmarks, reverse predators"
    )
    names = [each.name for each in check_task("gym:Pendulum-v1").checks]
    assert "symmetries" not in names


def test_signed_places_move_signs_and_entries() -> None:
    np.testing.assert_array_equal(apply_places((-2, 1, 3), [[4.0, 5.0, 6.0]]), [[-5.0, 4.0, 6.0]])


def test_the_square_is_generated_by_two() -> None:
    """Products of the two give the eight symmetries of the square."""
    first, second = square_symmetries([0], 2)
    group: set[tuple[int, ...]] = {(1, 2)}
    while True:
        products = {
            tuple(int(x) for x in apply_places(one.action, apply_places(element, [1, 2])))
            for element in group
            for one in (first, second)
        }
        if products <= group:
            break
        group |= products
    assert len(group) == 8


@pytest.mark.parametrize("places", [(1, 1), (0, 1), (1, 3), (2,)])
def test_what_is_no_permutation_is_refused(places: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match=r"Symmetry.observation of 'odd' is .*each of 1..m once"):
        Symmetry(name="odd", observation=places, action=(1,))


def test_symmetries_of_other_sizes_are_refused() -> None:
    given: dict[str, Any] = {"agents": 1, "observation_size": 3, "action_size": 1, "horizon": 5}
    symmetry = Symmetry(name="odd", observation=(1, 2), action=(1,))
    with pytest.raises(ConfigError, match=r"symmetry 'odd' of task 'mine' is .*3 observed and 1"):
        TaskSpec(id="mine", symmetries=(symmetry,), **given)


def test_a_spec_comes_back_from_its_json_values() -> None:
    spec = make_task("pred_prey_3").spec
    stored = json.loads(json.dumps(asdict(spec)))
    assert TaskSpec.from_json(stored) == spec
    del stored["symmetries"]
    assert TaskSpec.from_json(stored) == replace(spec, symmetries=())


def test_reward_settings_keep_the_symmetries() -> None:
    plain, paid = make_task("pred_prey_3"), make_task("pred_prey_3?sparse=5&noise=1")
    assert paid.spec.symmetries == plain.spec.symmetries
