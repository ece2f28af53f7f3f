"""A comparison begins with who leads, in its own numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rolecast.platform.reports.comparison.page import write_comparison_report
from rolecast.platform.reports.style import figure, literal, png


def said(page: Path) -> str:
    (found,) = re.findall(r'<p class="verdict">(.*?)</p>', page.read_text())
    return str(found)


def test_the_first_sentence_names_the_highest_mean_of_each_setting(
    make_comparison: Callable[..., Path], noisy_ends: Mapping[tuple[str, str], Sequence[float]]
) -> None:
    text = said(write_comparison_report(make_comparison(noisy_ends)))
    for reward in ("dense", "sparse=100", "delay=100"):
        means = {name: np.mean(ends) for (name, of), ends in noisy_ends.items() if of == reward}
        first = max(means, key=lambda name: means[name])
        assert f"hopper, {reward}: {first} ({means[first]:,.4g}), then" in text


def test_a_comparison_without_an_end_has_no_leader(make_comparison: Callable[..., Path]) -> None:
    ends = {("sac", "dense"): [40.0]}
    folder = make_comparison(ends, lost={"hopper-dense-sac-seed0": "running"})
    assert 'class="verdict"' not in write_comparison_report(folder).read_text()


def test_a_leader_of_fewer_seeds_says_of_how_many(make_comparison: Callable[..., Path]) -> None:
    ends = {("sac", "dense"): [40.0, 900.0], ("ddpg", "dense"): [30.0, 30.0]}
    folder = make_comparison(ends, lost={"hopper-dense-sac-seed0": "failed"})
    text = said(write_comparison_report(folder))
    assert "hopper, dense: sac (900.0, 1 of 2 seeds), then ddpg (30.0)" in text


def test_names_are_drawn_letter_by_letter() -> None:
    """What is between two `$` would be mathematics; a first underscore hides a legend's line."""
    drawing, axes = figure()
    names = [r"cost $\foo$", "_ours"]
    for name in names:
        axes.plot([0.0, 1.0], label=literal(name))
    axes.legend()
    assert png(drawing).startswith(b"\x89PNG")
    legend = axes.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == len(names)
