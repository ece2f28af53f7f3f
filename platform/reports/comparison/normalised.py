"""Returns of several tasks on one scale: interquartile mean, optimality gap, performance profile.

A score is 0 for the scripted random policy and 1 for the best return that is known of its task:
of a scripted policy, or the highest mean of a method in the comparison. Definitions are those of
Agarwal et al. (2021), sections 4.1 to 4.3. Differs: a seed is drawn once for all settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from markupsafe import Markup

from rolecast.core.types import Float
from rolecast.platform.reports.comparison.groups import Groups
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.pictures import Picture, Pictures
from rolecast.platform.reports.comparison.statistics import Estimate, estimate
from rolecast.platform.reports.page import paragraph, section, table
from rolecast.platform.reports.style import figure, literal, png
from rolecast.platform.tuning.yardsticks import TaskYardsticks

RANDOM_YARDSTICK: Final = "scripted random"

SCORE_LEVELS: Final = np.linspace(0.0, 1.0, 101)
"""Scores at which a profile is taken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MethodScores:
    """A method on the common scale, over all settings that have one."""

    method: str
    settings: int
    seeds: int
    """Trials over these settings, of the seeds that finished in each."""

    iqm: Estimate
    mean: Estimate
    gap: Estimate
    """Mean of what a score lacks of 1; scores above 1 lack nothing."""

    profile: Estimate
    """[T], share of trials whose score is above each of `SCORE_LEVELS`."""


def scales(
    whole: Groups, yardsticks: Mapping[str, TaskYardsticks]
) -> Mapping[str, tuple[float, float]]:
    """Return, of each task with a random policy, its return and the best that is known."""
    found = {}
    for task in whole.tasks:
        scripted = {each.name: each.mean for each in yardsticks[task].yardsticks}
        if RANDOM_YARDSTICK not in scripted:
            continue
        means = [
            float(cell.finals.mean())
            for cell in whole.cells.values()
            if cell.task == task and len(cell.finals)
        ]
        low, high = scripted[RANDOM_YARDSTICK], max([*scripted.values(), *means])
        if high > low:
            found[task] = low, high
    return found


def method_scores(
    whole: Groups, yardsticks: Mapping[str, TaskYardsticks]
) -> tuple[MethodScores, ...]:
    """Return the scores of methods on the scaled tasks, of seeds that finished in each setting."""
    known = scales(whole, yardsticks)
    settings = [(task, reward) for task, reward in whole.settings if task in known]
    if not settings:
        return ()
    return tuple(
        _scores(method, scaled)
        for method in whole.methods
        if (scaled := _scaled(whole, method, settings, known))
    )


def _scaled(
    whole: Groups,
    method: str,
    settings: Sequence[tuple[str, str]],
    known: Mapping[str, tuple[float, float]],
) -> list[Float]:
    strata = whole.complete_strata(settings, method)
    ends = [known[task] for task, _ in settings]
    return [(each - low) / (high - low) for each, (low, high) in zip(strata, ends, strict=False)]


def _scores(method: str, strata: Sequence[Float]) -> MethodScores:
    above = [(each > SCORE_LEVELS[:, None]).astype(np.float64) for each in strata]
    return MethodScores(
        method=method,
        settings=len(strata),
        seeds=sum(len(each) for each in strata),
        iqm=estimate(strata, "IQM"),
        mean=estimate(strata),
        gap=estimate([1.0 - np.minimum(each, 1.0) for each in strata]),
        profile=estimate(above),
    )


def scores_frame(found: Sequence[MethodScores]) -> pd.DataFrame:
    """Return one row a method, for the CSV file."""
    rows = []
    for each in found:
        row = {"method": each.method, "settings": each.settings, "seeds": each.seeds}
        for name in ("iqm", "mean", "gap"):
            one: Estimate = getattr(each, name)
            row |= {
                name: float(one.value),
                f"{name}_low": np.nan if one.low is None else float(one.low),
                f"{name}_high": np.nan if one.high is None else float(one.high),
            }
        rows.append(row)
    return pd.DataFrame(rows)


def profile_pictures(found: Sequence[MethodScores]) -> Pictures:
    """Draw the share of trials above each score, with its interval from five seeds on."""
    if not found:
        return ()
    drawing, axes = figure(7.2, 3.6)
    styles = method_styles([each.method for each in found])
    for each in found:
        style = styles[each.method].line(len(SCORE_LEVELS))
        axes.plot(SCORE_LEVELS, each.profile.value, label=literal(each.method), lw=1.6, **style)
        if each.profile.low is not None and each.profile.high is not None:
            axes.fill_between(
                SCORE_LEVELS,
                each.profile.low,
                each.profile.high,
                color=style["color"],
                alpha=0.16,
                lw=0,
            )
    axes.set_xlabel("score: 0 random, 1 best known", fontsize=9)
    axes.set_ylabel("share of trials above it", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    text = "Share of trials above each score, by method"
    return (Picture(name="profile", png=png(drawing), description=text),)


def scores_sections(
    found: Sequence[MethodScores], drawn: Pictures, methods: Sequence[str]
) -> list[Markup]:
    """Return the part of the page; none where no task has a scale.

    Args:
        found: scores of the methods that have all settings.
        drawn: the profiles.
        methods: all methods of the comparison.
    """
    if not found:
        return []
    head = ("method", "settings", "trials", "IQM", "mean", "optimality gap")
    rows = [
        (
            each.method,
            each.settings,
            each.seeds,
            *(one.text for one in (each.iqm, each.mean, each.gap)),
        )
        for each in found
    ]
    note = (
        "Scores: 0 is the scripted random policy, 1 the best return that is known of the task, of "
        "a scripted policy or a method here. Of the seeds that have finished in each setting of "
        "the tasks with a random policy. The optimality gap is the mean of what a score lacks of "
        "1. Intervals (95 %, from five seeds on) take a drawn seed in all settings."
    )
    left_out = [method for method in methods if method not in {each.method for each in found}]
    if left_out:
        note += f" Left out, as no seed finished in each setting: {', '.join(left_out)}."
    images = [picture.image for picture in drawn]
    return [section("On one scale", paragraph(note), table(head, rows), *images)]
