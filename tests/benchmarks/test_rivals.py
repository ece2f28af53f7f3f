"""The rival that a method leads by least, of those that share enough seeds with it."""

import statistics

from rolecast.benchmarks.rivals import best_rival

OURS = {seed: 100.0 + 10.0 * seed for seed in range(10)}


def test_a_rival_is_chosen_and_measured_on_shared_seeds() -> None:
    """The weak one has the higher mean by its own seeds alone, which ours found easy too."""
    strong = {seed: value - 1.0 for seed, value in OURS.items() if seed < 5}
    weak = {seed: value - 20.0 for seed, value in OURS.items() if seed >= 5}
    assert statistics.fmean(weak.values()) > statistics.fmean(strong.values())
    found = best_rival(OURS, {"weak": weak, "strong": strong})
    assert found is not None
    assert (found.name, found.differences) == ("strong", [1.0] * 5)
    assert found.ours == [OURS[seed] for seed in range(5)]


def test_a_rival_of_one_lucky_seed_does_not_hide_one_of_five() -> None:
    five = {seed: OURS[seed] - 2.0 for seed in range(5)}
    found = best_rival(OURS, {"lucky": {3: 900.0}, "five": five})
    assert found is not None
    assert found.name == "five"


def test_where_none_has_enough_seeds_those_of_the_most_count() -> None:
    two = {seed: OURS[seed] - 2.0 for seed in range(2)}
    found = best_rival(OURS, {"lucky": {3: 900.0}, "two": two})
    assert found is not None
    assert found.name == "two"
    assert best_rival(OURS, {"other": {77: 1.0}}) is None
    assert best_rival({}, {"two": two}) is None
