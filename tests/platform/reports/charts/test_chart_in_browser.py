"""What charts.js draws over uPlot, and what a page keeps when it reads itself again."""

from pathlib import Path
from typing import Any

import pytest

from rolecast.platform.reports.charts.chart import Series, chart
from rolecast.platform.reports.page import page, section

LINE = Series(name="line", at=[1, 2, 3], values=[1.0, 2.0, 3.0], errors=[0.1, 0.1, 0.1])
DASHED = Series(name="dashed", at=[1, 2, 3], values=[2.0, 2.0, 2.0], form="dashed")

RECORDED_BARS = """
<script>
const bars = [];
const drawn = CanvasRenderingContext2D.prototype.stroke;
let clipped = false;
const clip = CanvasRenderingContext2D.prototype.clip;
CanvasRenderingContext2D.prototype.clip = function (...words) {
  clipped = words.length === 0;
  return clip.apply(this, words);
};
CanvasRenderingContext2D.prototype.stroke = function (...words) {
  if (words.length === 0) bars.push([this.getLineDash().length, clipped]);
  clipped = false;
  return drawn.apply(this, words);
};
</script>
"""


@pytest.fixture
def chart_page(tmp_path: Path) -> Path:
    """A page of one chart that reads itself again, in a time too long for a test."""
    drawn = chart([LINE, DASHED], description="lines", across="x", up="y")
    target = tmp_path / "charts.html"
    target.write_text(page("charts", "", [section("One", drawn)], reload_s=1000))
    return target


def test_error_bars_are_whole_lines_inside_the_plot(chart_page: Path, browser: Any) -> None:
    chart_page.write_text(chart_page.read_text().replace("<body>", f"<body>{RECORDED_BARS}", 1))
    browser.open(chart_page)
    browser.wait_for("bars.length > 0")
    assert browser.value("bars.at(-1)") == [0, True]


def test_a_page_that_is_read_again_keeps_hidden_series_and_zoom(
    chart_page: Path, browser: Any
) -> None:
    drawn = "document.querySelectorAll('.u-series th').length === 3"
    picture = """new Promise((done) => setTimeout(
        () => done(document.querySelector('canvas').toDataURL()), 300))"""
    browser.open(chart_page)
    browser.wait_for(drawn)
    whole = browser.value(picture)
    browser.value("document.querySelectorAll('.u-series th')[2].click()")
    hidden = browser.value(picture)
    left, top, width = browser.value(
        "(({left, top, width}) => [left, top, width])"
        "(document.querySelector('.u-over').getBoundingClientRect())"
    )
    browser.mouse("mousePressed", left + 0.4 * width, top + 50)
    browser.mouse("mouseMoved", left + 0.6 * width, top + 50)
    browser.mouse("mouseReleased", left + 0.6 * width, top + 50)
    browser.mouse("mouseMoved", left, top + 400)
    zoomed = browser.value(picture)
    assert len({whole, hidden, zoomed}) == 3
    browser.open(chart_page)
    browser.wait_for(drawn)
    assert browser.value(picture) == zoomed
    off = "[...document.querySelectorAll('.u-series.u-off')].map((each) => each.textContent)"
    assert [each.startswith("dashed") for each in browser.value(off)] == [True]
