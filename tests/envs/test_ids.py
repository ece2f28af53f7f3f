import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rolecast.core.errors import RequestError
from rolecast.envs.ids import format_id, parse_id

NAMES = st.text(string.ascii_letters + "_:.-", min_size=1, max_size=9)
TEXTS = st.text(string.printable + "äα", max_size=9)
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS


@example(name="task", options={"a": " ", "b": "\n"})
@given(
    name=NAMES,
    options=st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=3), max_size=3),
)
def test_a_formatted_id_reads_back(name: str, options: dict[str, object]) -> None:
    assert parse_id(format_id(name, options)) == (name, options)


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("true", True), ("full", "full"), ('"3"', "3"), ("[1,2]", [1, 2]), ("a=b", "a=b")],
)
def test_a_value_is_read_as_json_else_as_text(text: str, value: object) -> None:
    assert parse_id(f"task?key={text}") == ("task", {"key": value})


@pytest.mark.parametrize("text", ["", "?a=1", "task?a", "task?=1", "task?a=1&a=2"])
def test_a_malformed_id_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="expected"):
        parse_id(text)


def test_a_value_that_is_not_json_is_refused() -> None:
    with pytest.raises(RequestError, match=r"option 'a' of task 'task' .* expected a JSON value"):
        format_id("task", {"a": object()})
