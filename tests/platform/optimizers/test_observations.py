"""What was told is kept in order, and generators survive as text."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
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
