"""Points asked for are told apart, and found again with their tags when they are told."""

import numpy as np

from rolecast.baselines.hdbo.record import FOREIGN_TAG, Record


def test_equal_points_become_different_ones_in_the_cube() -> None:
    record = Record(3, 0)
    corners = np.zeros((50, 3))
    corners[25:] = 1.0
    batches = [record.asked(corners, record.generator()) for _ in range(2)]
    asked = np.concatenate(batches)
    assert len(np.unique(asked, axis=0)) == 100
    assert asked.min() >= 0.0
    assert asked.max() <= 1.0
    np.testing.assert_allclose(asked, np.tile(corners, (2, 1)), atol=1e-8)


def test_points_in_a_corner_differ_from_seed_to_seed() -> None:
    asked = []
    for seed in (0, 1):
        record = Record(2, seed)
        asked.append(record.asked(np.ones((20, 2)), record.generator()))
    assert not (asked[0][:, None] == asked[1]).all(-1).any()


def test_a_point_told_in_any_order_has_the_tag_it_was_asked_with() -> None:
    record = Record(2, 0)
    rng = np.random.default_rng(0)
    asked = record.asked(rng.random((4, 2)), rng, np.array([7, 8, 9, 10]))
    record.told(asked[[2, 0]], np.zeros(2), None)
    record.told(np.concatenate([rng.random((1, 2)), asked[[3]]]), np.zeros(2), None)
    np.testing.assert_array_equal(record.tags, [9, 7, FOREIGN_TAG, 10])
    np.testing.assert_array_equal(record.pending, asked[[1]])
    np.testing.assert_array_equal(record.pending_tags, [8])
