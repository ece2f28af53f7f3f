"""How every picture of the project looks: one palette, one size of type, no global state.

Colours are those of Okabe and Ito (2008), which readers of any colour vision can tell apart.
"""

import io
from collections.abc import Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#7A7A7A"
INK: Final = "#222222"
COLOUR_CYCLE: Final = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, INK, GREY)
LINE_DASHES: Final = ("-", "--", ":", "-.")
"""Of lines beyond those that a colour each can tell apart."""

PICTURE_DPI: Final = 110


def literal(name: str) -> str:
    """Return a name as matplotlib draws it letter by letter.

    It takes what is between two `$` for mathematics, and leaves out of a legend what begins with
    an underscore.
    """
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


def figure(width: float = 8.0, height: float = 4.5) -> tuple[Figure, Axes]:
    """Return an empty figure of a size in inches, and its axes without a box round them."""
    drawing = Figure(figsize=(width, height), dpi=PICTURE_DPI, layout="constrained")
    axes = drawing.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=9)
    return drawing, axes


def panel_grid(
    count: int, columns: int, *, width: float, height: float, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of panels in rows, of some inches each, and the panels.

    Args:
        count: of panels; the rest of the last row is left empty.
        columns: panels in a row.
        width: of the whole figure.
        height: of a row.
        shared: what matplotlib's `subplots` takes besides.
    """
    rows = -(-count // columns)
    drawing = Figure(figsize=(width, height * rows), dpi=PICTURE_DPI, layout="constrained")
    panels = [*drawing.subplots(rows, columns, squeeze=False, **shared).ravel()]
    for spare in panels[count:]:
        spare.set_axis_off()
    return drawing, panels[:count]


def panel_style(axes: Axes, title: str, *, scale: str = "log") -> None:
    """Give one of many panels a title and a scale, without a box round it."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_yscale(scale)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)


def line_style(place: int, width: float = 1.4) -> dict[str, Any]:
    """Return colour, dashes and width of one line of many."""
    dashes = LINE_DASHES[place // len(COLOUR_CYCLE) % len(LINE_DASHES)]
    return {"color": COLOUR_CYCLE[place % len(COLOUR_CYCLE)], "ls": dashes, "lw": width}


def legend_lines(axes: Axes, names: Sequence[str], width: float = 1.4) -> list[Line2D]:
    """Return an empty line for each name, in the style of its place, for a legend."""
    return [
        axes.plot([], [], label=name, **line_style(place, width))[0]
        for place, name in enumerate(names)
    ]


def png(drawing: Figure) -> bytes:
    """Return a figure as the bytes of a PNG file, the same bytes for the same figure."""
    buffer = io.BytesIO()
    # Not by `savefig`, which draws twice: first to lay out, though each drawing does that itself.
    canvas: Any = FigureCanvasAgg(drawing)
    canvas.print_png(buffer, metadata={"Software": None})
    return buffer.getvalue()
