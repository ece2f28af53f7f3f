"""How alike the edges of two searches are."""

import pytest

from rolecast.benchmarks.structure.stability import (
    EDGE_CAPS,
    QUICK_CASES,
    edges_by_cap,
    jaccard,
    markdown,
    measure_all,
)
from rolecast.core.errors import ConfigError


def test_the_index_is_the_share_of_what_both_have() -> None:
    one, other = frozenset({(0, 1), (1, 2), (2, 3)}), frozenset({(1, 2), (2, 3), (3, 4), (4, 5)})
    assert jaccard(one, other) == jaccard(other, one) == 2 / 5
    assert jaccard(one, one) == jaccard(frozenset(), frozenset()) == 1.0
    assert jaccard(one, frozenset({(7, 8)})) == 0.0


def test_edges_repeat_with_the_seed_and_the_strongest_are_among_the_more() -> None:
    (case,) = QUICK_CASES
    found = edges_by_cap(case, 4, 0)
    assert edges_by_cap(case, 4, 0) == found
    assert edges_by_cap(case, 4, 1) != found
    few, many = (found[cap] for cap in EDGE_CAPS)
    assert few <= many
    assert all(a < b for a, b in many)


def test_every_number_of_policies_is_compared() -> None:
    (case,) = QUICK_CASES
    told: list[str] = []
    results = measure_all(quick=True, seeds=3, note=told.append)
    assert len(told) == len(case.policies)
    assert [(row["cap"], row["policies"]) for row in results["rows"]] == [
        (cap, count) for cap in EDGE_CAPS for count in case.policies
    ]
    for row in results["rows"]:
        assert 0.0 <= row["between_seeds"] < 1.0
        assert row["with_most_policies"] == 1.0 or row["policies"] != case.policies[-1]
    assert markdown(results).count("pred_prey_3, mlp of 4") == len(results["rows"])


def test_one_seed_is_too_few() -> None:
    with pytest.raises(ConfigError, match="seeds is 1; expected an integer >= 2"):
        measure_all(quick=True, seeds=1, note=print)
