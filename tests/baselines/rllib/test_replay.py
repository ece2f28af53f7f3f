import numpy as np
import pytest

from rolecast.baselines.rllib.replay import ReplayBuffer
from rolecast.baselines.rllib.transitions import COLUMN_NAMES, Transitions, joined
from rolecast.core.errors import ConfigError, RequestError


def numbered(first: int, count: int) -> Transitions:
    """Transitions of two agents whose every number is the transition's own."""
    column = np.arange(first, first + count, dtype=np.float32)
    wide = np.broadcast_to(column[:, None, None], (count, 2, 3)).copy()
    return Transitions(
        observations=wide,
        actions=wide[..., :1],
        rewards=wide[..., 0],
        next_observations=wide,
        states=wide[:, 0],
        next_states=wide[:, 0],
        terminated=column,
    )


def kept(buffer: ReplayBuffer) -> set[int]:
    return {int(number) for number in buffer.sample(4000)["terminated"]}


@pytest.mark.parametrize("sizes", [[3], [3, 4], [3, 4, 5], [10], [9, 9], [25], [1] * 23, [7, 30]])
def test_the_newest_transitions_are_kept(sizes: list[int]) -> None:
    """False alarm below 1e-150: 4000 draws from at most 10 miss one."""
    buffer, count = ReplayBuffer(10, seed=1), 0
    for size in sizes:
        buffer.add(numbered(count, size))
        count += size
    assert len(buffer) == min(count, 10)
    assert kept(buffer) == set(range(max(count - 10, 0), count))


def test_the_columns_of_a_drawn_transition_belong_together() -> None:
    buffer = ReplayBuffer(50, seed=1)
    for first in range(0, 90, 9):
        buffer.add(numbered(first, 9))
    drawn = buffer.sample(64)
    assert set(drawn) == set(COLUMN_NAMES)
    for name, column in drawn.items():
        assert column.dtype == np.float32
        rows = column.reshape(64, -1)
        np.testing.assert_array_equal(
            rows, np.repeat(drawn["terminated"][:, None], rows.shape[1], 1)
        )
        assert name in COLUMN_NAMES


def test_draws_are_uniform() -> None:
    """False alarm: 1e-6, the 99.9999 % quantile of chi-square with 19 degrees of freedom, 66.6."""
    buffer = ReplayBuffer(20, seed=5)
    buffer.add(numbered(0, 20))
    counts = np.bincount(buffer.sample(20_000)["terminated"].astype(int), minlength=20)
    assert ((counts - 1000.0) ** 2 / 1000.0).sum() < 66.6


def test_a_restored_ring_draws_and_overwrites_as_the_original_would_have() -> None:
    original, restored = ReplayBuffer(12, seed=3), ReplayBuffer(12, seed=8)
    original.add(numbered(0, 17))
    original.sample(5)
    restored.set_state(original.get_state())
    for buffer in (original, restored):
        buffer.add(numbered(17, 3))
    one, other = original.sample(40), restored.sample(40)
    for name in COLUMN_NAMES:
        np.testing.assert_array_equal(one[name], other[name])
    assert kept(original) == kept(restored) == set(range(8, 20))


@pytest.mark.parametrize(("saved", "capacity"), [(17, 18), (12, 30), (9, 20), (9, 9)])
def test_a_replay_restored_in_another_capacity_keeps_the_newest(saved: int, capacity: int) -> None:
    """Of a ring of 12, which 17 transitions have come round. False alarm as above."""
    original, restored = ReplayBuffer(12, seed=3), ReplayBuffer(capacity, seed=8)
    original.add(numbered(100, saved))
    restored.set_state(original.get_state())
    held = list(range(100, 100 + saved))[-12:]
    for first in (200, 207):
        restored.add(numbered(first, 7))
        held += range(first, first + 7)
        assert kept(restored) == set(held[-capacity:])


def test_a_saved_state_is_not_changed_by_what_comes_after() -> None:
    buffer = ReplayBuffer(4, seed=3)
    buffer.add(numbered(0, 4))
    state = buffer.get_state()
    buffer.add(numbered(4, 4))
    np.testing.assert_array_equal(state["columns"]["terminated"], [0, 1, 2, 3])


def test_memory_grows_with_what_is_kept() -> None:
    buffer = ReplayBuffer(10**9, seed=0)
    buffer.add(numbered(0, 3000))
    assert kept(buffer) <= set(range(3000))
    assert len(buffer) == 3000


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(ConfigError, match="replay_capacity is 0; expected an integer >= 1"):
        ReplayBuffer(0, seed=0)
    with pytest.raises(RequestError, match="empty"):
        ReplayBuffer(3, seed=0).sample(1)
    big = ReplayBuffer(9, seed=0)
    big.add(numbered(0, 9))
    with pytest.raises(RequestError, match="9 transitions; expected at most replay_capacity"):
        ReplayBuffer(3, seed=0).set_state(big.get_state())


def test_transitions_count_steps_and_join_in_order() -> None:
    both = joined([numbered(0, 2), numbered(2, 3)])
    assert (both.env_steps(), both.agent_steps()) == (5, 10)
    np.testing.assert_array_equal(both.terminated, np.arange(5))
    np.testing.assert_array_equal(both.rewards[:, 1], np.arange(5))
