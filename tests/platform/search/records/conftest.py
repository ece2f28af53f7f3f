"""Batches as a search writes them."""

import numpy as np

from rolecast.platform.search.records.history import Batch, Kind


def batch_of(index: int, *, dimension: int = 2, episodes: int = 4) -> Batch:
    """Return a batch of three candidates, two of which share their episodes."""
    rng = np.random.default_rng(index)
    return Batch(
        index=index,
        kind=Kind.SEARCH,
        first=3 * index,
        spent=index / 20,
        candidates=rng.random((3, dimension)),
        episodes_of=3 * index + np.array([0, 0, 2]),
        episode_returns=rng.random((3, episodes)),
        observed_returns=rng.random((3, episodes)),
        env_steps=100 * index + np.array([10, 20, 30]),
        wall_time_s=float(index),
        incumbent=rng.random(dimension),
    )
