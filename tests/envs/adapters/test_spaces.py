from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.errors import RequestError
from rolecast.envs.adapters.spaces import action_codec, observation_codec

FLOAT_LIMIT, SINGLE_LIMIT = (float(np.finfo(kind).max) for kind in (np.float64, np.float32))

SPACES = {
    "bounded box": (spaces.Box(-2.0, 5.0, (2, 3), np.float32), 6),
    "half-bounded box": (spaces.Box(0.0, np.inf, (2,), np.float64), 2),
    "unbounded box": (spaces.Box(-np.inf, np.inf, (4,), np.float32), 4),
    "integer box": (spaces.Box(0, 255, (3,), np.uint8), 3),
    "integers from 0": (spaces.Box(0, np.inf, (3,), np.int64), 3),
    "integers to 5": (spaces.Box(-np.inf, 5, (3,), np.int32), 3),
    "short integers from 0": (spaces.Box(0, np.inf, (3,), np.int16), 3),
    "all integers": (spaces.Box(-(2**63), 2**63 - 1, (3,), np.int64), 3),
    "unsigned integers": (spaces.Box(0, 2**64 - 1, (3,), np.uint64), 3),
    "integers of 63 bits": (spaces.Box(-(2**63) + 1, 2**63 - 2, (3,), np.int64), 3),
    "far integers": (spaces.Box(2**60 + 1, 2**60 + 3, (3,), np.int64), 3),
    "all floats": (spaces.Box(-FLOAT_LIMIT, FLOAT_LIMIT, (3,), np.float64), 3),
    "floats to a limit": (spaces.Box(0.0, FLOAT_LIMIT, (3,), np.float64), 3),
    "nearly all floats": (spaces.Box(-1.5e308, 1.5e308, (3,), np.float64), 3),
    "single floats": (spaces.Box(-SINGLE_LIMIT, SINGLE_LIMIT, (3,), np.float32), 3),
    "bools": (spaces.Box(0, 1, (3,), np.bool_), 3),  # type: ignore[arg-type]  # Gymnasium takes it
    "short discrete": (spaces.Discrete(5, start=-2, dtype=np.int32), 5),
    "discrete": (spaces.Discrete(5, start=-2), 5),
    "multi-discrete": (spaces.MultiDiscrete([3, 2, 4]), 9),
    "multi-binary": (spaces.MultiBinary(4), 4),
    "tuple": (spaces.Tuple([spaces.Discrete(2), spaces.Box(-1.0, 1.0, (1,))]), 3),
    "dict": (spaces.Dict({"steer": spaces.Box(0.0, 9.0, (1,)), "gear": spaces.Discrete(3)}), 4),
}


@pytest.mark.parametrize("name", SPACES)
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_every_action_is_an_element_of_its_space(name: str, seed: int) -> None:
    space, size = SPACES[name]
    codec = action_codec(space)
    assert codec.size == size
    numbers = np.random.default_rng(seed).uniform(-1.0, 1.0, size).round(1)
    assert space.contains(codec.decode(numbers))


@pytest.mark.parametrize(
    ("name", "numbers", "action"),
    [
        ("bounded box", [-1, 1, 0, -1, 1, 0.5], [[-2, 5, 1.5], [-2, 5, 3.25]]),
        ("unbounded box", [-1, 0.25, 0, 1], [-1, 0.25, 0, 1]),
        ("half-bounded box", [-1, 0.25], [0, 1.25]),
        ("integer box", [-1, 1, 0.5], [0, 255, 191]),
        ("integers from 0", [-1, 0, 1], [0, 1, 2]),
        ("integers to 5", [-1, 0, 1], [3, 4, 5]),
        ("short integers from 0", [-1, 0, 1], [0, 1, 2]),
        ("all integers", [-1, 0, 1], [-1, 0, 1]),
        ("unsigned integers", [-1, 0, 1], [0, 1, 2]),
        ("all floats", [-1, 0, 0.5], [-1, 0, 0.5]),
        ("floats to a limit", [-1, 0, 0.5], [0, 1, 1.5]),
        ("nearly all floats", [-1, 0, 0.5], [-1.5e308, 0, 0.75e308]),
        ("single floats", [-1, 0, 0.5], [-1, 0, 0.5]),
        ("bools", [-1, 0.1, -0.1], [False, True, False]),
        ("short discrete", [0.1, 0.9, 0.2, 0.9, -1], -1),
        ("discrete", [0.1, 0.9, 0.2, 0.9, -1], -1),
        ("multi-discrete", [0, 0, 1, 1, 0, 0, 0, 0, 0], [2, 0, 0]),
        ("multi-binary", [-1, 1, 0, 0.1], [0, 1, 0, 1]),
    ],
)
def test_numbers_become_actions(name: str, numbers: list[float], action: object) -> None:
    decoded = action_codec(SPACES[name][0]).decode(np.array(numbers, dtype=np.float64))
    np.testing.assert_array_equal(decoded, action)


def test_parts_of_a_composite_space_take_their_numbers_in_turn() -> None:
    # Gymnasium sorts the keys of a Dict: gear before steer
    action = action_codec(SPACES["dict"][0]).decode(np.array([0.0, 0.0, 1.0, 1.0]))
    assert action == {"gear": 2, "steer": np.array([9.0])}


@pytest.mark.parametrize("name", SPACES)
def test_observations_become_rows_of_numbers(name: str) -> None:
    space, size = SPACES[name]
    codec = observation_codec(space)
    element = action_codec(space).decode(np.linspace(-1.0, 1.0, size))
    numbers = codec.encode(element)
    assert numbers.shape == (codec.size,)
    assert numbers.dtype == np.float64


def test_a_discrete_observation_is_one_hot() -> None:
    codec = observation_codec(SPACES["discrete"][0])
    np.testing.assert_array_equal(codec.encode(0), [0, 0, 1, 0, 0])


@pytest.mark.parametrize(
    ("space", "wrong"),
    [
        (spaces.Discrete(3), -1),
        (spaces.Discrete(3, start=5), 8),
        (spaces.MultiDiscrete([3, 3]), np.array([3, 0])),
        (spaces.MultiDiscrete([3, 3]), np.array([2, -1])),
        (spaces.MultiDiscrete([3, 3], start=[1, 1]), np.array([1, 0])),
        (spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3)]), (1, -1)),
        (spaces.Dict({"room": spaces.Discrete(3)}), {"room": -3}),
        (spaces.Tuple([spaces.Box(0, 9, (1,), dtype=np.int32)]), (np.array([0.7]),)),
    ],
    ids=str,
)
def test_a_choice_that_is_not_in_its_space_is_no_other_one(space: Any, wrong: Any) -> None:
    with pytest.raises(ValueError, match="is not in"):
        observation_codec(space).encode(wrong)


@pytest.mark.parametrize(
    ("space", "discrete"),
    [
        (spaces.Discrete(3), True),
        (spaces.MultiDiscrete([3, 3]), True),
        (spaces.Tuple([spaces.MultiBinary(3), spaces.Discrete(2)]), True),
        (spaces.Box(0, 9, (1,), dtype=np.int64), False),
        (spaces.Dict({"gear": spaces.Discrete(3), "steer": spaces.Box(-1, 1, (1,))}), False),
    ],
    ids=str,
)
def test_actions_are_discrete_where_every_number_serves_a_choice(
    space: Any, discrete: bool
) -> None:
    assert action_codec(space).discrete is discrete


@pytest.mark.parametrize("space", [spaces.Dict(), spaces.Tuple([])], ids=str)
def test_a_space_without_parts_is_refused(space: Any) -> None:
    with pytest.raises(RequestError, match="cannot be acted in; expected at least one part"):
        action_codec(space)


def test_spaces_without_a_fixed_size_are_refused() -> None:
    sequence = spaces.Sequence(spaces.Discrete(3))
    with pytest.raises(RequestError, match="cannot be acted in; expected Box"):
        action_codec(sequence)
    with pytest.raises(RequestError, match="cannot be flattened; expected one of fixed size"):
        observation_codec(sequence)
