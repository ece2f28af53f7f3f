"""Every policy of the registry passes the contract that plug-ins inherit."""

from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy
from rolecast.testing import PolicyContract

CASES: list[tuple[str, dict[str, Any]]] = [
    ("mlp", {}),
    ("mlp", {"hidden": []}),
    ("linear", {}),
    ("hom", {}),
    ("hom", {"role_assignment": False}),
    ("hom", {"role_interaction": False}),
    ("hom", {"size": "sm", "self_edges": True, "rounds": 3}),
]


@pytest.mark.parametrize("name_and_options", CASES, ids=lambda case: f"{case[0]}{sorted(case[1])}")
class TestRegistry(PolicyContract):
    """The shipped contract over all names and settings."""

    @pytest.fixture(autouse=True)
    def case(self, name_and_options: tuple[str, dict[str, Any]]) -> None:
        self._case = name_and_options

    def make(self, task: TaskSpec) -> Policy:
        name, options = self._case
        return make_policy(name, task, **options)


class Unbounded:
    """A policy that is wrong: its actions leave [-1, 1]."""

    def __init__(self, task: TaskSpec) -> None:
        self._true = make_policy("mlp", task)
        self.space = self._true.space

    def act(self, weights: Float, observations: Float) -> Float:
        return 3.0 * self._true.act(weights, observations)


def test_a_policy_whose_actions_leave_their_range_fails_the_contract() -> None:
    class Broken(PolicyContract):
        def make(self, task: TaskSpec) -> Any:
            return Unbounded(task)

    with pytest.raises(AssertionError):
        Broken().test_actions_have_their_shape_and_stay_in_bounds()


def test_the_contract_asks_for_make() -> None:
    with pytest.raises(NotImplementedError, match="define make"):
        PolicyContract().test_a_batch_equals_its_members_alone()
    assert np.isfinite(PolicyContract.task.horizon)
