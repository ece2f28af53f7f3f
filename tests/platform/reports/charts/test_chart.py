"""A chart is its numbers: aligned, thinned, and unable to end the element that holds them."""

import json
import re
from typing import Any

import numpy as np

from rolecast.platform.reports.charts.chart import MOST_POINTS, Series, aligned, chart, levels
from rolecast.platform.reports.charts.search import histogram
from rolecast.platform.reports.style import COLOUR_CYCLE


def numbers(text: str) -> dict[str, Any]:
    (found,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    told: dict[str, Any] = json.loads(found)
    return told


def test_series_of_different_places_share_one_axis() -> None:
    one = Series(name="one", at=[1, 3], values=[10.0, 30.0])
    other = Series(name="other", at=[2, 3], values=[2.0, np.nan], errors=[0.5, 0.5])
    at, columns = aligned([one, other])
    assert at.tolist() == [1, 2, 3]
    assert columns[0] == {"values": [10.0, None, 30.0]}
    assert columns[1] == {"values": [None, 2.0, None], "errors": [None, 0.5, 0.5]}


def test_a_long_series_is_thinned() -> None:
    places = np.arange(10 * MOST_POINTS)
    at, _ = aligned([Series(name="long", at=places, values=places)])
    assert len(at) <= MOST_POINTS


def test_a_name_cannot_end_the_element_of_the_numbers() -> None:
    series = [Series(name="</script><b>", at=[1], values=[1.0])]
    text = chart(series, description='"d"', across="x", up="y")
    assert text.count("</script>") == 1
    assert numbers(text)["series"][0]["name"] == "</script><b>"
    assert 'aria-label="&#34;d&#34;"' in text


def test_a_yardstick_far_from_the_curves_is_hidden_at_first() -> None:
    curve = [Series(name="curve", at=[1, 2], values=[0.0, 10.0])]
    near, far = levels([("near", 15.0), ("far", 500.0)], curve)
    assert near.shown
    assert not far.shown


def test_every_colour_of_the_palette_has_a_name() -> None:
    drawn = [Series(name=each, at=[1], values=[1.0], colour=each) for each in COLOUR_CYCLE]
    told = numbers(chart(drawn, description="", across="", up=""))
    assert len({each["colour"] for each in told["series"]}) == len(COLOUR_CYCLE)


def test_a_histogram_counts_all_episodes() -> None:
    pairs = [
        (1.0, 1.2),
        (0.1, 0.3),
        (-0.3, -0.1),
        (0.3, 0.1 + 0.2),
        (1e6, 1e6 + 1e-9),
        (1e18, 1e18),
    ]
    for returns in (
        np.repeat([0.0, 10.0, 20.0, 390.0], 25),
        np.full(100, 7.0),
        *(np.repeat(pair, 50) for pair in pairs),
        *(np.linspace(low, low + span, 100) for low in (0.0, 0.3, -7.1) for span in (0.2, 2, 20)),
    ):
        told = numbers(histogram(returns))
        assert sum(told["series"][0]["values"]) == 100
