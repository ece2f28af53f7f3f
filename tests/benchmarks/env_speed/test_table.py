"""The table shows every side, and the one that the others are compared with last."""

from typing import Any

from rolecast.benchmarks.env_speed.table import compared, markdown, rows


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
