"""The curves of a comparison as charts that a reader zooms, reads off and thins out."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from rolecast.platform.reports.charts.chart import Form, Series, chart, levels
from rolecast.platform.reports.comparison.groups import Groups
from rolecast.platform.reports.comparison.method_styles import METHOD_DASHES, method_styles
from rolecast.platform.reports.comparison.pictures import Pictures, statistics
from rolecast.platform.reports.page import details, heading, paragraph, section
from rolecast.platform.search.records.measurements import Yardstick
from rolecast.platform.tuning.yardsticks import TaskYardsticks

PICTURES_TEXT: Final = (
    "Against env steps, against the candidates that searches evaluated, where there are several "
    "searches, and against wall time of training alone (held-out scoring left out); trials that "
    "ran side by side shared the machine. Dotted where some seeds have not come as far."
)


def efficiency_section(
    whole: Groups,
    drawn: Mapping[tuple[str, str], Pictures],
    yardsticks: Mapping[str, TaskYardsticks],
) -> Markup:
    """Return the curves of all tasks as charts, and as pictures for readers who want those.

    Args:
        whole: the comparison.
        drawn: pictures by task and statistic.
        yardsticks: of each task.
    """
    parts = [
        paragraph(
            "Held-out return against env steps; bands are intervals over seeds, from five seeds "
            "on. Point at a chart for values, drag to zoom, double-click to reset, click a name "
            "to hide it. Yardsticks far from the curves are hidden at first."
        )
    ]
    main, *others = statistics(whole)
    for task in whole.tasks:
        known = yardsticks[task]
        for reward in whole.rewards(task):
            drawing = efficiency_chart(
                whole, task, reward, statistic=main, yardsticks=known.yardsticks
            )
            parts += [heading(f"{task}, learned on {reward}"), drawing]
        pictures = [picture.image for each in (main, *others) for picture in drawn[task, each]]
        label = f"{task}: pictures, also against candidates evaluated and wall time"
        parts.append(details(label, paragraph(PICTURES_TEXT), *pictures))
        if known.missing:
            parts.append(paragraph(f"No scripted policy is shown: {known.missing}."))
    return section("Sample efficiency", *parts)


def efficiency_chart(
    whole: Groups, task: str, reward: str, *, statistic: str, yardsticks: Sequence[Yardstick]
) -> Markup:
    """Return held-out return against env steps of all methods on a task under one reward.

    Args:
        whole: the comparison.
        task: one of its tasks.
        reward: one of the task's rewards.
        statistic: over the seeds, one of `SUMMARY_STATISTICS`.
        yardsticks: horizontal lines.
    """
    series: list[Series] = []
    bands: list[tuple[int, int]] = []
    for method, style in method_styles(whole.methods).items():
        cell = whole.cells.get((task, reward, method))
        if cell is None or not cell.traces:
            continue
        trace = cell.traces[statistic]
        look: dict[str, Any] = {"at": trace.env_steps, "colour": style.colour}
        form: Form = "line" if style.dash == METHOD_DASHES[0] else "dashed"
        series.append(Series(name=f"{method}, {cell.seeds}", values=trace.value, form=form, **look))
        if np.isfinite(trace.low).any():
            bands.append((len(series), len(series) + 1))
            series += [
                Series(name=method, values=edge, form="band", **look)
                for edge in (trace.high, trace.low)
            ]
    if not series:
        return paragraph("No trial has reported yet.")
    lines = levels([(each.name, each.mean) for each in yardsticks], series)
    return chart(
        [*series, *lines],
        description=f"{task}, learned on {reward}: {statistic} of the held-out return",
        across="environment steps of training",
        up="held-out return, as earned",
        bands=bands,
    )
