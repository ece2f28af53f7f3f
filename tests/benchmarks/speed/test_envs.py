"""The speed table compares all sides in one run and says by how much."""

import statistics
import time
from typing import Any

import pytest

from rolecast.benchmarks.speed.envs import (
    TIMING_ROUNDS,
    compared,
    markdown,
    measure_all,
    measure_group,
    rows,
)
from rolecast.benchmarks.timing import Group, Side


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
    assert len(told) == TIMING_ROUNDS * len(results["sides"])
    for side in results["sides"].values():
        assert len(side["repeats"]) == TIMING_ROUNDS
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


def nap() -> int:
    """Three steps that cost 20 ms of wall time and no processor time to speak of."""
    time.sleep(0.02)
    return 3


def test_a_ratio_is_of_the_same_clock() -> None:
    """By wall time the same nap is as fast as itself; by processor time it would be far faster."""
    base, other = Side(name="base", run=nap), Side(name="other", run=nap, clock="wall", cores=2)
    told: list[str] = []
    group = Group(title="Naps", sides=[other, base], base="base", ratio="ratio_to_base")
    sides, ratios = measure_group(group, 0.03, told.append)
    assert ratios["other"] == pytest.approx(1.0, abs=0.7)
    assert set(ratios) == {"other"}
    assert sides["other"]["clock"] == "wall time"
    assert sides["base"]["clock"] == "processor time"
    assert len(told) == 2 * TIMING_ROUNDS


def test_without_the_base_there_are_no_ratios() -> None:
    missing = {"base": "pip install base"}
    sides = [Side(name="nap", run=nap)]
    group = Group(title="Naps", sides=sides, base="base", ratio="to_base", missing=missing)
    found, ratios = measure_group(group, 0.001, lambda _: None)
    assert ratios == {}
    assert set(found) == {"nap"}


def side(median: float, clock: str = "processor time", cores: int = 1) -> dict[str, Any]:
    repeats = [0.5 * median, median, 2.0 * median]
    return {"median": median, "repeats": repeats, "clock": clock, "cores": cores}


GROUP = {"title": "Sticks", "base": "theirs", "ratio": "ratio_to_theirs", "sides": ["theirs", "us"]}
ALONE = {"title": "Stones", "base": None, "ratio": "", "sides": ["stones"]}
ABSENT = {"title": "Straws", "base": "gone", "ratio": "ratio_to_gone", "sides": ["straws"]}
RESULTS = {
    "machine": {"processor": "Abacus", "cores": 2, "python": "3.11.0", "versions": {"numpy": "2"}},
    "groups": [GROUP, ALONE, ABSENT],
    "sides": {
        "theirs": side(1000.0),
        "us": side(23_450.0, "wall time", 2),
        "stones": side(7.125),
        "straws": side(0.432),
    },
    "missing": {"gone": "pip install gone"},
    "ratio_to_theirs": {"us": 23.45},
    "ratio_to_gone": {},
}


def test_what_is_compared_with_comes_last() -> None:
    assert rows(RESULTS, GROUP) == [
        ("us", "23,450", "11,725 to 46,900", "wall time, 2 cores", "23"),
        ("theirs", "1,000", "500 to 2,000", "processor time, one core", "1"),
    ]


def test_a_side_without_a_base_has_no_ratio() -> None:
    assert rows(RESULTS, ALONE)[0][-1] == rows(RESULTS, ABSENT)[0][-1] == "-"
    assert compared(RESULTS, ALONE) == ""


def test_the_line_below_says_what_the_ratio_is_to_or_what_to_install() -> None:
    assert compared(RESULTS, GROUP) == "Ratio to theirs."
    assert compared(RESULTS, ABSENT) == "gone is not installed: pip install gone"


def test_markdown_has_every_table() -> None:
    text = markdown(RESULTS)
    assert "Abacus, 2 cores; Python 3.11.0, numpy 2." in text
    assert "| us | 23,450 | 11,725 to 46,900 | wall time, 2 cores | 23 |\n" in text
    assert "| straws | 0.43 | 0.22 to 0.86 | processor time, one core | - |\n" in text
    for title in ("Sticks", "Stones", "Straws"):
        assert f"## {title}\n\n| side |" in text
