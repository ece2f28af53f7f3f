"""Vectors of an export: as many as are worth their time."""

import pytest

from rolecast.policies.export.vectors import vector_count


@pytest.mark.parametrize(
    ("most", "agents", "expected"),
    [
        (10_000, 1, 10_000),
        (10_000, 10, 10_000),
        (10_000, 50, 400),
        (800, 127, 100),
        (1000, 20, 250),
    ],
)
def test_large_teams_are_checked_on_fewer_vectors(most: int, agents: int, expected: int) -> None:
    assert vector_count(most, agents) == expected
