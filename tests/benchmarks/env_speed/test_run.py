"""The speed table compares all sides in one run and says by how much."""

import statistics
from typing import Any

import pytest

from rolecast.benchmarks.env_speed.run import measure_all
from rolecast.benchmarks.env_speed.timing import TIMING_REPEATS


@pytest.fixture(scope="module")
def told() -> list[str]:
    """What was told of the measurements."""
    return []


@pytest.fixture(scope="module")
def results(told: list[str]) -> dict[str, Any]:
    """All that is measured, quickly, once."""
    return measure_all(quick=True, note=told.append)


def test_every_side_has_its_repeats_and_their_median(
    results: dict[str, Any], told: list[str]
) -> None:
    assert len(told) == TIMING_REPEATS * len(results["sides"])
    for side in results["sides"].values():
        assert len(side["repeats"]) == TIMING_REPEATS
        assert side["median"] == statistics.median(side["repeats"]) > 0.0
    assert [name for group in results["groups"] for name in group["sides"]] == [*results["sides"]]


def test_ratios_are_to_the_base_of_the_group(results: dict[str, Any]) -> None:
    """Of sides that go by the base's clock; by another clock the base was timed as well."""
    for group in results["groups"]:
        base = results["sides"].get(group["base"])
        for name in group["sides"] if base else ():
            side = results["sides"][name]
            if name != group["base"] and side["clock"] == base["clock"]:
                ratio = results[group["ratio"]][name]
                assert ratio == pytest.approx(side["median"] / base["median"], rel=0.01, abs=0.01)


def test_compiled_episodes_with_their_policy_are_faster_than_those_of_mpe2(
    results: dict[str, Any],
) -> None:
    for policy in ("hom", "mlp"):
        assert results["ratio_to_mpe2"][f"pred_prey_3 with {policy}"] > 1.0


def test_every_task_is_measured(results: dict[str, Any]) -> None:
    tasks = ("pred_prey_3", "drone_delivery_3", "hopper", "ant", "ma_hopper_3x1", "ma_ant_4x2")
    for task in tasks:
        assert any(name.startswith(task) for name in results["sides"])


def test_the_machine_and_the_versions_are_named(results: dict[str, Any]) -> None:
    assert results["machine"]["cores"] >= 1
    assert {"numba", "torch", "mujoco", "gymnasium"} <= results["machine"]["versions"].keys()
