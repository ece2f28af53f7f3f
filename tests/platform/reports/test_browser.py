"""Reports in a browser: no error, charts drawn, nothing wider than the page, no text on another.

The page runs in a frame of the width to be tested, and tells what it measures of itself.
"""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.reports.run import write_report
from rolecast.platform.reports.several import write_report_of_several

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")

PROBE_SCRIPT: Final = """
<script>
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));
addEventListener("load", () => setTimeout(() => {
  const seen = "h1, h2, h3, p, .u-series, table, pre";
  const boxes = [...document.querySelectorAll(seen)]
    .filter((each) => each.offsetParent && !each.closest("details:not([open])"))
    .map((each) => [each, each.getBoundingClientRect()])
    .filter(([, box]) => box.width && box.height);
  const overlaps = [];
  boxes.forEach(([one, a], index) => boxes.slice(index + 1).forEach(([other, b]) => {
    if (one.contains(other) || other.contains(one)) return;
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 1) overlaps.push([one.textContent, other.textContent]);
  }));
  const inked = [...document.querySelectorAll("canvas")].filter((canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return pixels.some((value, at) => at % 4 === 3 && value > 0);
  });
  const hidden = document.querySelectorAll(".u-series.u-off").length;
  document.querySelectorAll("figure.chart")[0].querySelectorAll(".u-series th")[1].click();
  parent.postMessage({
    errors, overlaps,
    wider: document.documentElement.scrollWidth - innerWidth,
    charts: document.querySelectorAll("figure.chart").length,
    drawn: inked.length,
    toggled: document.querySelectorAll(".u-series.u-off").length - hidden,
  }, "*");
}, 300));
</script>
"""


@pytest.fixture(scope="session")
def browser() -> str:
    """Return the browser's program; the skip ends where one is installed."""
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        pytest.skip("no Chromium here: apt-get install chromium")
    return found[0]


Look = Callable[[Path, int], dict[str, Any]]


@pytest.fixture
def look(browser: str, tmp_path: Path) -> Look:
    """Return a function that opens a page in a frame of a width, and returns what it measured."""

    def run(page: Path, width: int) -> dict[str, Any]:
        probed = tmp_path / "probed.html"
        probed.write_text(page.read_text().replace("<body>", f"<body>{PROBE_SCRIPT}", 1))
        frame = tmp_path / "frame.html"
        frame.write_text(
            "<!doctype html><body><pre>waiting</pre><script>addEventListener('message', (event) =>"
            " { document.querySelector('pre').textContent = JSON.stringify(event.data); });"
            f"</script><iframe src='probed.html' width={width} height=900></iframe></body>"
        )
        words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/user"]
        command = [browser, *words, "--virtual-time-budget=8000", "--dump-dom", frame.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        (told,) = re.findall(r"<pre>(.*?)</pre>", done.stdout, re.DOTALL)
        assert told != "waiting", done.stderr
        measured: dict[str, Any] = json.loads(html.unescape(told))
        return measured

    return run


def assert_sound(measured: Mapping[str, Any], *, least_charts: int) -> None:
    assert measured["errors"] == []
    assert measured["overlaps"] == []
    assert measured["wider"] <= 0
    assert measured["charts"] == measured["drawn"] >= least_charts
    assert measured["toggled"] >= 1


@pytest.mark.parametrize("width", [1280, 400])
def test_the_report_of_a_run_is_sound_in_a_browser(
    small_run: Path, tmp_path: Path, look: Look, width: int
) -> None:
    copy = shutil.copytree(small_run, tmp_path / "run")
    page = write_report(copy)
    assert page.stat().st_size < 3_000_000
    assert_sound(look(page, width), least_charts=4)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_report_of_a_comparison_is_sound_in_a_browser(
    make_comparison: Callable[..., Path],
    noisy_ends: Mapping[tuple[str, str], Sequence[float]],
    look: Look,
    width: int,
) -> None:
    page = write_comparison_report(make_comparison(noisy_ends))
    assert_sound(look(page, width), least_charts=3)


def test_the_report_of_several_runs_is_sound_in_a_browser(
    small_run: Path, tmp_path: Path, look: Look
) -> None:
    other = shutil.copytree(small_run, tmp_path / "other")
    page = write_report_of_several([small_run, other], tmp_path / "both.html")
    assert_sound(look(page, 400), least_charts=1)
