"""How much of a known graph is found: what is counted, and what the page tells."""

from rolecast.benchmarks.pair_recovery import (
    RecoveryRun,
    found_and_true,
    recovery,
    recovery_page,
    true_of_found,
)

QUICK_SAMPLE = RecoveryRun(dimension=8, points=120, noise=0.0, seeds=2)


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
