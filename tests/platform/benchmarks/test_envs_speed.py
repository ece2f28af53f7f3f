"""The speed table compares both sides in one run and says by how much."""

import statistics

import pytest

from rolecast.platform.benchmarks.envs_speed import REPEATS, measure_all, simple_tag_steps


def test_every_side_has_its_repeats_their_median_and_a_ratio() -> None:
    told: list[str] = []
    results = measure_all(quick=True, note=told.append)
    assert len(told) == REPEATS * len(results["sides"])
    base = results["sides"]["mpe2 simple_tag_v3 without a policy"]["median"]
    for name, ratio in results["ratio_to_mpe2"].items():
        side = results["sides"][name]
        assert side["median"] == statistics.median(side["repeats"])
        assert ratio == pytest.approx(side["median"] / base, rel=0.01)
        assert ratio > 1


def test_an_episode_of_simple_tag_has_25_steps() -> None:
    assert simple_tag_steps(2)() == 50
