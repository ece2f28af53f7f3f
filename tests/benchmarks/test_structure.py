"""How alike the edges of two searches are, and how much of a known graph is found."""

from pathlib import Path

import pytest

from rolecast.benchmarks.structure import (
    EDGE_CAPS,
    STRUCTURE_TABLE,
    RecoveryRun,
    StabilityRun,
    edges_by_cap,
    found_and_true,
    jaccard,
    markdown,
    quick_structure_runs,
    recovery,
    recovery_page,
    structure_runs,
    true_of_found,
)
from rolecast.core.errors import ConfigError

QUICK_SAMPLE = RecoveryRun(dimension=8, points=120, noise=0.0, seeds=2)


def quick_case() -> StabilityRun:
    case, _ = quick_structure_runs(3)
    assert isinstance(case, StabilityRun)
    return case


def test_the_index_is_the_share_of_what_both_have() -> None:
    one, other = frozenset({(0, 1), (1, 2), (2, 3)}), frozenset({(1, 2), (2, 3), (3, 4), (4, 5)})
    assert jaccard(one, other) == jaccard(other, one) == 2 / 5
    assert jaccard(one, one) == jaccard(frozenset(), frozenset()) == 1.0
    assert jaccard(one, frozenset({(7, 8)})) == 0.0


def test_edges_repeat_with_the_seed_and_the_strongest_are_among_the_more() -> None:
    case = quick_case()
    found = edges_by_cap(case, 4, 0)
    assert edges_by_cap(case, 4, 0) == found
    assert edges_by_cap(case, 4, 1) != found
    few, many = (found[cap] for cap in EDGE_CAPS)
    assert few <= many
    assert all(a < b for a, b in many)


def test_every_number_of_policies_is_compared_and_every_part_has_its_page(tmp_path: Path) -> None:
    case = quick_case()
    told: list[str] = []
    runs = quick_structure_runs(3)
    rows = STRUCTURE_TABLE.run_missing(runs, tmp_path, processes=1, note=told.append)
    assert [row["part"] for row in rows] == ["stability", "recovery"]
    assert [(found["cap"], found["policies"]) for found in rows[0]["compared"]] == [
        (cap, count) for cap in EDGE_CAPS for count in case.policies
    ]
    for found in rows[0]["compared"]:
        assert 0.0 <= found["between_seeds"] < 1.0
        assert found["with_most_policies"] == 1.0 or found["policies"] != case.policies[-1]
    text = markdown(rows)
    assert text.count("pred_prey_3, mlp of 4") == len(rows[0]["compared"])
    assert "| 8 | 120 | 0 |" in text
    told.clear()
    assert STRUCTURE_TABLE.run_missing(runs, tmp_path, processes=1, note=told.append) == rows
    assert told == ["2 of 2 cells are there; 0 to run"]


def test_of_runs_that_differ_in_their_seeds_the_page_shows_that_of_the_most() -> None:
    few, many = (
        {
            "key": f"recovery / D = 8, N = 120, noise 0 / {seeds} seeds",
            "part": "recovery",
            "seeds": seeds,
            "dimension": 8,
            "points": 120,
            "noise": 0.0,
            "found": [3] * seeds,
            "found_true": [2] * seeds,
            "true": [5] * seeds,
            "seconds": [0.5] * seeds,
        }
        for seeds in (2, 3)
    )
    assert "| 2 of 3, 2 of 3, 2 of 3 |" in markdown([few, many])
    assert markdown([few, many]) == markdown([many, few]) == markdown([many])


def test_one_seed_is_too_few() -> None:
    with pytest.raises(ConfigError, match="seeds is 1; expected an integer >= 2"):
        quick_structure_runs(1)


def test_runs_of_the_whole_table_differ() -> None:
    runs = structure_runs(5)
    assert len({run.key for run in runs}) == len(runs) == 17


def test_most_of_what_is_found_in_exact_values_is_true() -> None:
    found, true, seconds = found_and_true(QUICK_SAMPLE, 0)
    assert len(found) >= 3
    assert len(found & true) >= 0.75 * len(found)
    assert all(0 <= a < b < QUICK_SAMPLE.dimension for a, b in found | true)
    assert seconds > 0.0
    assert found_and_true(QUICK_SAMPLE, 0)[:2] == (found, true)


def test_every_seed_of_every_sample_is_counted() -> None:
    row = recovery(QUICK_SAMPLE)
    for seed in range(2):
        found, true, _ = found_and_true(QUICK_SAMPLE, seed)
        counts = (row["found"][seed], row["found_true"][seed], row["true"][seed])
        assert counts == (len(found), len(found & true), len(true))
    assert true_of_found(row).count(" of ") == 2


def test_the_page_tells_none_where_nothing_was_found() -> None:
    row = {
        "dimension": 20,
        "points": 1000,
        "noise": 0.2,
        "found": [0, 4],
        "found_true": [0, 3],
        "true": [28, 35],
        "seconds": [0.5, 0.7],
    }
    assert "| 20 | 1,000 | 0.2 | none, 3 of 4 | 28, 35 | 0.6 |" in recovery_page([row])
