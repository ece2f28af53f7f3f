"""The tables of a search hold its batches, also where these differ in size."""

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.search.records.history import (
    Batch,
    Kind,
    batches_of,
    history_table,
    incumbents_table,
)


def batches(shapes: list[tuple[int, int]]) -> list[Batch]:
    """Return batches of q candidates and E episodes each."""
    rng, first, steps, found = np.random.default_rng(0), 0, 0, []
    for index, (q, episodes) in enumerate(shapes):
        env_steps = steps + episodes * np.arange(1, q + 1)
        found.append(
            Batch(
                index=index,
                kind=Kind.SEARCH,
                first=first,
                spent=index / 10,
                candidates=rng.random((q, 3)),
                episodes_of=first + np.arange(q),
                episode_returns=rng.random((q, episodes)),
                observed_returns=rng.random((q, episodes)),
                env_steps=env_steps,
                wall_time_s=float(index),
                incumbent=rng.random(3),
            )
        )
        first, steps = first + q, int(env_steps[-1])
    return found


@pytest.mark.parametrize(
    "shapes", [[], [(4, 8)], [(5, 8), (2, 8)], [(3, 8), (3, 4), (2, 1), (4, 8)]]
)
def test_batches_come_back_from_the_tables(shapes: list[tuple[int, int]]) -> None:
    kept = batches(shapes)
    table, marks = history_table(kept), incumbents_table(kept)
    assert table.schema == history_table(batches([(1, 2)])).schema
    again = batches_of(table, marks)
    assert len(again) == len(kept)
    for one, other in zip(again, kept, strict=True):
        for name, value in vars(other).items():
            np.testing.assert_array_equal(getattr(one, name), value)


def test_tables_that_contradict_each_other_are_refused() -> None:
    kept = batches([(3, 2), (3, 2)])
    with pytest.raises(RequestError, match="batch 1 is not whole"):
        batches_of(history_table(kept).slice(0, 4), incumbents_table(kept))
