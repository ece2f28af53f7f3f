import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.core.types import LANE_COUNT
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.chunks import ChunkResult, cut, join
from rolecast.platform.rollout.local_evaluator import LocalEvaluator
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.rollout.sizes import (
    CALL_SECONDS,
    COMPILED_LANES,
    LEAST_EPISODES,
    MOST_EPISODES,
)
from rolecast.policies.registry import make_policy


@given(
    q=st.integers(1, 70),
    episodes=st.integers(1, 300),
    compiled=st.booleans(),
    workers=st.integers(1, 3),
    record=st.integers(0, 50),
)
def test_chunks_cover_a_batch_exactly_once(
    q: int, episodes: int, compiled: bool, workers: int, record: int
) -> None:
    seeds = np.arange(q * episodes, dtype=np.uint64).reshape(q, episodes)
    candidates = np.arange(q, dtype=float)[:, None]
    labels = [str(row) for row in range(q)]
    chunks = cut(candidates, seeds, labels, compiled=compiled, workers=workers, record=record)
    results = [
        ChunkResult(
            returns=chunk.seeds.astype(float),
            observed_returns=-chunk.seeds.astype(float),
            lengths=chunk.seeds.astype(np.int64),
        )
        for chunk in chunks
    ]
    joined = join(chunks, results, (q, episodes))
    np.testing.assert_array_equal(joined.returns, seeds)
    np.testing.assert_array_equal(joined.observed_returns, -seeds.astype(float))
    np.testing.assert_array_equal(joined.lengths, seeds)
    assert all(len(chunk.labels) == len(chunk.candidates) for chunk in chunks)
    limit = 1.5 * COMPILED_LANES + episodes if compiled else MOST_EPISODES
    assert max(chunk.seeds.size for chunk in chunks) <= limit
    assert sum(chunk.record for chunk in chunks) >= record


def test_what_is_recorded_does_not_depend_on_the_number_of_workers() -> None:
    seeds = np.arange(60, dtype=np.uint64).reshape(20, 3)
    args = np.zeros((20, 2)), seeds, ["x"] * 20
    alone, shared = (cut(*args, compiled=False, workers=w, record=9) for w in (1, 5))
    assert [(c.first, c.episode, c.record) for c in alone] == [
        (c.first, c.episode, c.record) for c in shared
    ]


@given(
    q=st.integers(1, 60),
    episodes=st.integers(1, 300),
    workers=st.integers(1, 64),
    episode_s=st.one_of(st.none(), st.floats(1e-6, 1e-3)),
)
def test_workers_of_a_compiled_task_have_chunks_of_about_one_size(
    q: int, episodes: int, workers: int, episode_s: float | None
) -> None:
    chunks = cut(
        np.zeros((q, 1)),
        np.zeros((q, episodes), dtype=np.uint64),
        ["x"] * q,
        compiled=True,
        workers=workers,
        episode_s=episode_s,
    )
    sizes = [chunk.seeds.size for chunk in chunks]
    wanted = max(COMPILED_LANES, int(CALL_SECONDS / episode_s) if episode_s else 0)
    assert max(sizes) <= 1.5 * wanted + max(LANE_COUNT, episodes)
    assert len(chunks) % workers == 0 or max(sizes) <= max(episodes, LANE_COUNT)
    if len(chunks) <= q:
        assert max(sizes) - min(sizes) <= episodes


def test_chunks_of_slow_episodes_last_as_long_as_is_aimed_at() -> None:
    seeds = np.zeros((60, 256), dtype=np.uint64)
    args = np.zeros((60, 1)), seeds, ["x"] * 60
    fast, slow = (cut(*args, compiled=True, workers=2, episode_s=s) for s in (1e-6, 1e-3))
    assert {chunk.seeds.size for chunk in fast} == {30 * 256}
    assert {chunk.seeds.size for chunk in slow} == {3 * 256, 4 * 256}
    assert len(slow) == 16


def test_other_chunks_shrink_towards_the_end_so_that_workers_end_together() -> None:
    seeds = np.zeros((60, 2), dtype=np.uint64)
    chunks = cut(np.zeros((60, 1)), seeds, ["x"] * 60, compiled=False, workers=2)
    sizes = [chunk.seeds.size for chunk in chunks]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (30, LEAST_EPISODES)


@pytest.mark.parametrize(("workers", "efficiency"), [(2, 0.95), (64, 0.6)])
def test_slow_episodes_are_computed_one_by_one_at_the_end(workers: int, efficiency: float) -> None:
    """Lengths of 1 to 3, taken in order by who is idle; four at a time give 0.37 of 64 workers."""
    seeds = np.zeros((30, 4), dtype=np.uint64)
    args = np.zeros((30, 1)), seeds, ["x"] * 30
    chunks = cut(*args, compiled=False, workers=workers, episode_s=1.0)
    assert chunks[-1].seeds.size == 1
    lengths = np.random.default_rng(0).uniform(1.0, 3.0, seeds.size)
    free, begin = [0.0] * workers, 0
    for size in (chunk.seeds.size for chunk in chunks):
        heapq.heapreplace(free, free[0] + lengths[begin : begin + size].sum())
        begin += size
    assert lengths.sum() / (workers * max(free)) > efficiency


@pytest.mark.parametrize(
    ("task_id", "episodes"),
    [("pred_prey_3", 8), ("pred_prey_3?sparse=5&noise=1", 200), ("gym:CartPole-v1?delay=3", 6)],
)
def test_a_batch_in_chunks_earns_what_it_earns_in_one_piece(task_id: str, episodes: int) -> None:
    task = make_task(task_id)
    policy = make_policy("mlp", task)
    rng = np.random.default_rng(0)
    candidates = rng.random((5, policy.space.size))
    seeds = rng.integers(0, 2**63, (5, episodes)).astype(np.uint64)
    chunks = cut(
        candidates, seeds, ["x"] * 5, compiled=hasattr(task, "lanes"), workers=3, record=10
    )
    result = join(chunks, LocalEvaluator(task, policy).evaluate(chunks), seeds.shape)
    whole = rollout(task, policy, policy.space.weights(candidates), seeds)
    np.testing.assert_array_equal(result.returns, whole.returns)
    np.testing.assert_array_equal(result.observed_returns, whole.observed_returns)
    np.testing.assert_array_equal(result.lengths, whole.lengths)
    assert result.observations is not None
    assert len(result.observations) >= 10
    alone = LocalEvaluator(task, policy).evaluate(
        cut(candidates, seeds, ["x"] * 5, compiled=hasattr(task, "lanes"))
    )
    assert sum(result.returns.sum() for result in alone) == whole.returns.sum()
