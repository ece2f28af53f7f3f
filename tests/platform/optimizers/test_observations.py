"""What was told is kept in order, and generators survive as text."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
)


@settings(deadline=None, max_examples=50)
@given(sizes=st.lists(st.integers(0, 90), max_size=8))
def test_rows_stay_in_order_however_many_come_at_once(sizes: list[int]) -> None:
    rng, told = np.random.default_rng(0), Observations(3)
    points, returns = rng.random((sum(sizes), 3)), rng.normal(size=sum(sizes))
    for part in np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]) if sizes else []:
        told.add(points[part], returns[part], None)
    assert len(told) == sum(sizes)
    np.testing.assert_array_equal(told.candidates, points)
    np.testing.assert_array_equal(told.returns, returns)
    assert np.isnan(told.stderrs).all()


def test_a_standard_error_that_is_unknown_may_be_nan() -> None:
    told = Observations(1)
    told.add(np.zeros((2, 1)), np.zeros(2), np.array([np.nan, 0.5]))
    np.testing.assert_array_equal(told.stderrs, [np.nan, 0.5])


POINTS = [[0.1], [0.2]]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ((POINTS, ["a", "1"]), r"tell\.returns is \['a', '1'\]; expected an array of real numbers"),
        ((POINTS, np.array(["1", "2"])), r"tell\.returns is array\(.*expected an array of real"),
        ((POINTS, np.array([1, "2"], dtype=object)), "returns is .*expected an array of real"),
        ((POINTS, [1j, 2.0]), "tell.returns is .*expected an array of real numbers"),
        ((POINTS, [1.0, 10**400]), "tell.returns is .*expected an array of real numbers"),
        ((POINTS, [1.0, None]), r"tell.returns\[1\] is nan; expected a finite number"),
        (([[0.1, 0.2], [0.3]], [1, 2]), r"tell.candidates is \[\[0.1, 0.2\], \[0.3\]\]; expected"),
        ((POINTS, [1, 2], ["a", "b"]), "tell.stderrs is .*expected an array of real numbers"),
        ((POINTS, [1, 2], [1e200, 0.1]), "tell.stderrs has .* above 1e.100; expected >= 0"),
        ((POINTS, [1, -1.7e308]), r"tell.returns\[1\] is -1.7e.308; .*at most 1e.100 in size"),
        ((POINTS, [np.nan, 1]), "expected a finite number .* and a failed candidate left untold"),
    ],
)
def test_what_is_no_number_is_refused_in_one_sentence(told: Any, message: str) -> None:
    table, (points, returns, *errors) = Observations(1), told
    with pytest.raises(RequestError, match=message) as caught:
        table.add(points, returns, errors[0] if errors else None)
    assert "\n" not in str(caught.value)
    assert len(table) == 0


def test_none_among_standard_errors_is_unknown() -> None:
    told: Any = [0.1, None]
    table = Observations(1)
    table.add(np.array(POINTS), np.array([1.0, -1e100]), told)
    np.testing.assert_array_equal(table.stderrs, [0.1, np.nan])


@pytest.mark.parametrize("wrong", [True, False, 0, 2.0, "3", None, np.bool_(True)])
def test_a_batch_size_is_an_integer(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="expected an integer >= 1"):
        require_batch(wrong)


def test_a_restored_table_grows_on() -> None:
    told, restored = Observations(2), Observations(2)
    told.add(np.full((70, 2), 0.25), np.arange(70.0), np.ones(70))
    restored.load_state_dict(told.state_dict())
    for table in (told, restored):
        table.add(np.ones((1, 2)), np.array([7.0]), None)
    np.testing.assert_array_equal(restored.returns, told.returns)
    np.testing.assert_array_equal(restored.candidates, told.candidates)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**63), drawn=st.integers(0, 5))
def test_a_generator_goes_on_from_its_state(seed: int, drawn: int) -> None:
    rng = np.random.default_rng(seed)
    rng.integers(2**20, size=drawn, dtype=np.uint32)  # an odd number leaves half a word over
    restored = restored_generator(json.loads(json.dumps(generator_state(rng))))
    for each in (np.uint32, np.uint64):
        np.testing.assert_array_equal(
            rng.integers(2**20, size=3, dtype=each), restored.integers(2**20, size=3, dtype=each)
        )
    np.testing.assert_array_equal(rng.normal(size=4), restored.normal(size=4))
