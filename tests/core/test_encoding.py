from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rolecast.core.encoding import from_bytes, to_bytes

ARRAYS = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint64, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
# Hypothesis tries the texts of the modules that it tests, too: two are those of arrays and tuples.
KEYS = st.text().filter(lambda key: not key.startswith("__"))
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
NESTED = st.recursive(
    PLAIN | ARRAYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(state=st.dictionaries(KEYS, NESTED, max_size=4))
def test_states_survive_the_way_through_bytes(state: dict[str, Any]) -> None:
    assert_same(from_bytes(to_bytes(state)), state)


def test_tuples_stay_tuples() -> None:
    assert from_bytes(to_bytes({"a": (1, (2.5, "x"))})) == {"a": (1, (2.5, "x"))}


@pytest.mark.parametrize("value", [object(), {1: 2}, np.array([object()]), {"__array__": 1}])
def test_what_is_not_data_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot be saved"):
        to_bytes({"value": value})


@pytest.mark.parametrize("data", [b"", b"abc", b"\x00" * 64])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a saved state"):
        from_bytes(data)


def assert_same(one: Any, other: Any) -> None:
    if isinstance(other, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in other:
            assert_same(one[key], other[key])
    elif isinstance(other, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other
        assert type(one) is type(other)
