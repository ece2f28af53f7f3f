"""A chart as data: what it shows, and how it becomes part of a page.

`templates/charts.js` draws it with uPlot (Leon Sorokin, MIT), whose code a page holds once: hover
shows values, a drag zooms, a double click resets, and a click on a name hides its series.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike

from rolecast.core.types import Float
from rolecast.platform.reports.page import figure
from rolecast.platform.reports.style import (
    BLUE,
    COLOUR_CYCLE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
)

Form = Literal["line", "dashed", "dots", "points", "level", "bars", "band"]
"""How a series is drawn: `level` is a dashed horizontal line, `band` an edge of a filled band."""

COLOUR_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        BLUE: "blue",
        ORANGE: "orange",
        GREEN: "green",
        VERMILION: "vermilion",
        PURPLE: "purple",
        SKY: "sky",
        GREY: "grey",
        INK: "ink",
    }
)
"""Colour of pictures to the CSS variable that a page gives for light and for dark."""

CHART_HEIGHT: Final = 340
SMALL_CHART: Final = 170
"""Heights in CSS pixels."""

MOST_POINTS: Final = 4000
"""Most points of a series; of longer ones every k-th is shown."""

STRETCH_LIMIT: Final = 1.0
"""A level is shown at first if it lies at most this many ranges of the curves beyond them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """One named series of a chart."""

    name: str
    """Name in the legend."""

    at: ArrayLike = ()
    """[N], places on the horizontal axis, rising."""

    values: ArrayLike = ()
    """[N], values at these places; NaN where there is none."""

    errors: ArrayLike | None = None
    """[N], standard errors, drawn twice up and down; None: no bars."""

    level: float | None = None
    """Value of a horizontal line, in place of `at` and `values`."""

    form: Form = "line"
    """How it is drawn."""

    colour: str = BLUE
    """One of the palette of `style`."""

    shown: bool = True
    """Whether it is drawn before a reader has chosen."""


def chart(
    series: Sequence[Series],
    *,
    description: str,
    across: str,
    up: str,
    bands: Sequence[tuple[int, int]] = (),
    height: int = CHART_HEIGHT,
    picture: Markup | str = "",
) -> Markup:
    """Return a chart as a part of a page.

    Args:
        series: in the order of the legend.
        description: for readers who do not see it.
        across: label of the horizontal axis.
        up: label of the vertical axis.
        bands: pairs of series, upper and lower edge, between which the colour of the first fills.
        height: in CSS pixels.
        picture: shown where a browser runs no scripts.
    """
    at, columns = aligned(series)
    told = {
        "at": [_number(value) for value in at],
        "across": across,
        "up": up,
        "height": height,
        "bands": [[high, low, COLOUR_NAMES[series[high].colour]] for high, low in bands],
        "series": [
            {
                "name": each.name,
                "form": each.form,
                "colour": COLOUR_NAMES[each.colour],
                "shown": each.shown,
                **column,
            }
            for each, column in zip(series, columns, strict=True)
        ],
    }
    # "<" could end the script element that holds the numbers.
    numbers = Markup(json.dumps(told, separators=(",", ":")).replace("<", "\\u003c"))
    return figure(description, numbers, picture)


def aligned(series: Sequence[Series]) -> tuple[Float, list[dict[str, Any]]]:
    """Return all places of the series, and of each its values at these places as JSON has them."""
    thinned = [_thinned(each) for each in series]
    places = np.unique(np.concatenate([at for at, *_ in thinned] or [np.zeros(0)]))
    columns: list[dict[str, Any]] = []
    for each, (at, values, errors) in zip(series, thinned, strict=True):
        if each.level is not None:
            columns.append({"level": _number(each.level)})
            continue
        column = {"values": _spread(places, at, values)}
        if errors is not None:
            column["errors"] = _spread(places, at, errors)
        columns.append(column)
    return places, columns


def _thinned(series: Series) -> tuple[Float, Float, Float | None]:
    """Return places, values and errors of a series, of a long one every k-th."""
    at, values = (np.asarray(each, dtype=float) for each in (series.at, series.values))
    errors = None if series.errors is None else np.asarray(series.errors, dtype=float)
    step = -(-len(at) // MOST_POINTS) or 1
    return at[::step], values[::step], None if errors is None else errors[::step]


def _spread(places: Float, at: Float, values: Float) -> list[float | None]:
    """Return values at all places, None where the series has none."""
    spread = np.full(len(places), np.nan)
    spread[np.searchsorted(places, at)] = values
    return [_number(value) for value in spread]


def _number(value: float) -> float | None:
    """Return a number with six digits; None where it is none."""
    return float(f"{value:.6g}") if isfinite(value) else None


def levels(named: Sequence[tuple[str, float]], curves: Sequence[Series]) -> list[Series]:
    """Return horizontal lines; hidden at first where they would flatten the curves.

    Args:
        named: name and value of each.
        curves: the series to which the vertical axis is to fit.
    """
    values = np.concatenate([np.asarray(each.values, dtype=float) for each in curves])
    low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.0, 0.0)
    reach = STRETCH_LIMIT * (high - low)
    return [
        Series(
            name=name,
            level=value,
            form="level",
            colour=COLOUR_CYCLE[(place + 2) % len(COLOUR_CYCLE)],
            shown=bool(low - reach <= value <= high + reach) or not reach,
        )
        for place, (name, value) in enumerate(named)
    ]
