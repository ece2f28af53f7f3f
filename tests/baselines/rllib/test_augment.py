"""Transitions mapped by symmetries: the world does the same with mapped actions."""

from typing import Any

import numpy as np
import pytest

from rolecast.baselines.rllib.augment import SymmetryAugmentation
from rolecast.baselines.rllib.replay import ReplayBuffer
from rolecast.baselines.rllib.transitions import Transitions
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float32
from rolecast.envs.registry import make_task
from rolecast.envs.symmetry import Symmetry

QUARTER_TURN = Symmetry(name="turn", observation=(-2, 1, 3), action=(-2, 1))
EXCHANGE = Symmetry(name="exchange", observation=(2, 1, 3), action=(1, 2), exchanges_agents=True)


def batch_of(observations: Any, actions: Any) -> dict[str, Float32]:
    seen, acted = (np.asarray(each, dtype=np.float32) for each in (observations, actions))
    return {
        "observations": seen,
        "next_observations": 2.0 * seen,
        "actions": acted,
        "rewards": np.ones(acted.shape[:2], dtype=np.float32),
    }


def test_a_quarter_turn_makes_a_group_of_four_and_agents_turn_together() -> None:
    augment = SymmetryAugmentation([QUARTER_TURN, EXCHANGE], (3, 2))
    assert augment.order == 4
    count = 4000
    seen = np.broadcast_to(np.array([[1.0, 2.0, 9.0], [3.0, 4.0, 9.0]]), (count, 2, 3))
    acted = np.broadcast_to(np.array([[5.0, 6.0], [7.0, 8.0]]), (count, 2, 2))
    found = augment(batch_of(seen, acted), np.random.default_rng(0))
    turns = {
        (1.0, 2.0): (3.0, 4.0, 5.0, 6.0),
        (-2.0, 1.0): (-4.0, 3.0, -6.0, 5.0),
        (-1.0, -2.0): (-3.0, -4.0, -5.0, -6.0),
        (2.0, -1.0): (4.0, -3.0, 6.0, -5.0),
    }
    drawn: dict[tuple[float, ...], int] = {}
    for first, second, action in zip(
        found["observations"][:, 0, :2],
        found["observations"][:, 1, :2],
        found["actions"][:, 0],
        strict=True,
    ):
        assert turns[tuple(first)] == (*second, *action)
        drawn[tuple(first)] = drawn.get(tuple(first), 0) + 1
    # Each of four with probability 1/4; 5 standard deviations are 137.
    assert all(abs(times - count / 4) < 137 for times in drawn.values())
    np.testing.assert_array_equal(found["next_observations"], 2.0 * found["observations"])
    assert (found["observations"][..., 2] == 9.0).all()


def test_predator_prey_has_those_of_a_square_and_of_two_teammates_in_a_view() -> None:
    task = make_task("pred_prey_3")
    spec = task.spec
    task.close()
    augment = SymmetryAugmentation(spec.symmetries, (spec.observation_size, spec.action_size))
    assert augment.order == 8 * 2


@pytest.mark.parametrize("symmetries", [(), (EXCHANGE,)])
def test_a_task_without_such_symmetries_is_refused(symmetries: tuple[Symmetry, ...]) -> None:
    with pytest.raises(ConfigError, match=r"symmetries is True; expected False: .* declares none"):
        SymmetryAugmentation(symmetries, (3, 2))


def test_a_restored_buffer_maps_as_the_original_would_have() -> None:
    def buffer() -> ReplayBuffer:
        return ReplayBuffer(50, 3, SymmetryAugmentation([QUARTER_TURN], (3, 2)))

    random = np.random.default_rng(0)
    columns = batch_of(random.normal(size=(20, 2, 3)), random.normal(size=(20, 2, 2)))
    none = np.zeros((20, 0), dtype=np.float32)
    original = buffer()
    original.add(
        Transitions(
            **columns, states=none, next_states=none, terminated=np.zeros(20, dtype=np.float32)
        )
    )
    original.sample(8)
    state = original.get_state()
    restored = buffer()
    restored.set_state(state)
    wanted, found = original.sample(8), restored.sample(8)
    for name, rows in wanted.items():
        np.testing.assert_array_equal(found[name], rows)
