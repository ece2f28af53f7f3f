"""The loop of the tables of functions: every evaluation is told, and marks are evenly spaced."""

import numpy as np
import pytest

from rolecast.benchmarks.functions.runs import incumbents
from rolecast.core.types import Float
from rolecast.platform.optimizers.registry import make_optimizer


@pytest.mark.parametrize(
    ("evaluations", "marks", "expected"),
    [(40, 4, [10, 20, 30, 40]), (45, 2, [20, 40]), (20, 10, [10, 20]), (30, 1, [30])],
)
def test_marks_are_spaced_evenly_over_the_whole_batches(
    evaluations: int, marks: int, expected: list[int]
) -> None:
    optimizer = make_optimizer("random", dimension=3, seed=0)
    found = incumbents(
        optimizer, lambda points: points[:, 0], evaluations=evaluations, batch=10, marks=marks
    )
    assert [each.evaluations for each in found] == expected


@pytest.mark.parametrize("after_each", [False, True])
def test_what_was_told_says_the_greatest_value_and_the_incumbent(after_each: bool) -> None:
    """Of random search, whose incumbent is the point of the greatest value."""
    told: list[Float] = []

    def value(points: Float) -> Float:
        told.append(points)
        return np.asarray(-np.square(points - 0.4).sum(1))

    optimizer = make_optimizer("random", dimension=3, seed=1)
    found = list(
        incumbents(optimizer, value, evaluations=30, batch=5, marks=3, after_each=after_each)
    )
    assert len(told) == 6
    for place, each in zip((2, 4, 6), found, strict=True):
        points = np.concatenate(told[:place])
        worths = -np.square(points - 0.4).sum(1)
        assert each.greatest == pytest.approx(worths.max())
        np.testing.assert_array_equal(each.point, points[int(np.argmax(worths))])
    assert 0.0 <= found[0].seconds <= found[1].seconds <= found[2].seconds
