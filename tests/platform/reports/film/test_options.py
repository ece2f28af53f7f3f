"""What is drawn of an episode: its start, every k-th state, its end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.core.errors import RequestError
from rolecast.platform.reports.film.options import Shot


@given(length=st.integers(1, 2000), most=st.integers(2, 300))
def test_a_film_has_start_and_end_and_no_more_frames_than_allowed(length: int, most: int) -> None:
    states = Shot(most_frames=most).states(length)
    assert (states[0], states[-1]) == (0, length)
    assert len(states) <= most
    assert states == sorted(set(states))


def test_a_stride_is_taken_as_it_is() -> None:
    assert Shot(stride=4, most_frames=2).states(10) == [0, 4, 8, 10]


def test_an_episode_is_cut_after_the_steps_asked_for() -> None:
    assert Shot(steps=3).states(10) == [0, 1, 2, 3]
    assert Shot(steps=30).states(2) == [0, 1, 2]


def test_a_compiled_task_has_more_episodes_to_choose_from() -> None:
    assert [Shot().played(compiled=compiled) for compiled in (True, False)] == [101, 5]
    assert Shot(episodes=3).played(compiled=True) == 3


@pytest.mark.parametrize("name", ["episodes", "steps", "stride", "most_frames"])
@pytest.mark.parametrize("value", [0, -1, True, 2.0])
def test_what_is_no_count_is_refused(name: str, value: object) -> None:
    with pytest.raises(RequestError, match=rf"render.{name} is {value}; expected an integer >= 1"):
        Shot(**{name: value})  # type: ignore[arg-type]
