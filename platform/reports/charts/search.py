"""Charts of a run: its learning curve, and the returns of single held-out episodes."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from markupsafe import Markup

from rolecast.core.rounding import ROUNDING_SHARE
from rolecast.core.types import Float
from rolecast.platform.reports.charts.chart import SMALL_CHART, Series, chart, levels
from rolecast.platform.reports.curves import Curve
from rolecast.platform.reports.incumbents import Incumbents
from rolecast.platform.reports.style import BLUE, GREY, VERMILION
from rolecast.platform.search.records.measurements import Yardstick

BARS_WANTED: Final = 20
"""Bars of a histogram, at most twice as many."""

ROUND_WIDTHS: Final = (1.0, 2.0, 5.0, 10.0)
"""Widths of a bar, times a power of ten."""


def learning_chart(
    seen: Curve, incumbents: Incumbents, yardsticks: Sequence[Yardstick], picture: Markup
) -> Markup:
    """Return the learning curve: evaluations, means of batches, incumbents, yardsticks.

    Args:
        seen: all evaluations.
        incumbents: drawn under their name.
        yardsticks: horizontal lines.
        picture: for browsers without scripts.
    """
    starts = np.flatnonzero(np.diff(seen.batches, prepend=seen.batches[:1] - 1))
    counts = np.diff(np.append(starts, len(seen.batches)))
    means = np.add.reduceat(seen.returns, starts) / counts
    curves = [
        Series(
            name="evaluation", at=seen.env_steps, values=seen.returns, form="dots", colour=GREY
        ),
        Series(
            name="mean of the batch", at=seen.env_steps[starts + counts - 1], values=means,
            colour=BLUE,
        ),
        Series(
            name=incumbents.name, at=incumbents.curve.env_steps, values=incumbents.curve.returns,
            errors=incumbents.curve.stderrs, form="points", colour=VERMILION,
        ),
    ]  # fmt: skip
    drawn = [*curves, *levels([(each.name, each.mean) for each in yardsticks], curves)]
    return chart(
        drawn,
        description="Return against environment steps",
        across="environment steps",
        up="episode return",
        picture=picture,
    )


def histogram(returns: Float) -> Markup:
    """Return the distribution of the returns [E] of single episodes."""
    counts, edges = np.histogram(returns, bins=_round_edges(returns))
    bars = Series(
        name="episodes", at=(edges[1:] + edges[:-1]) / 2, values=counts, form="bars", colour=BLUE
    )
    return chart(
        [bars],
        description="Distribution of the returns of held-out episodes",
        across="return of an episode",
        up="episodes",
        height=SMALL_CHART,
    )


def _round_edges(returns: Float) -> Float:
    """Return edges of bars whose width is a round number."""
    low, high = float(returns.min()), float(returns.max())
    size = max(abs(low), abs(high))
    if high - low <= ROUNDING_SHARE * size:
        margin = max(0.5, ROUNDING_SHARE * size)
        return np.array([low - margin, high + margin])
    wanted = (high - low) / BARS_WANTED
    power = 10.0 ** np.floor(np.log10(wanted))
    # The logarithm of what is next to a power of ten may be rounded up: then no width fits.
    width = max((each for each in ROUND_WIDTHS if each * power <= wanted), default=1.0) * power
    edges: Float = np.arange(np.floor(low / width), np.floor(high / width) + 2) * width
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    return edges
