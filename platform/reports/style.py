"""How every picture of the project looks: one palette, one size of type, no global state.

Colours are those of Okabe and Ito (2008), which readers of any colour vision can tell apart.
"""

import base64
import io
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
GREEN: Final = "#009E73"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
SKY: Final = "#56B4E9"
GREY: Final = "#7A7A7A"
INK: Final = "#222222"
CYCLE: Final = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, INK, GREY)

DPI: Final = 110


def figure(width: float = 8.0, height: float = 4.5) -> tuple[Figure, Axes]:
    """Return an empty figure of a size in inches, and its axes without a box round them."""
    drawing = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    axes = drawing.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=9)
    return drawing, axes


def png(drawing: Figure) -> bytes:
    """Return a figure as the bytes of a PNG file, the same bytes for the same figure."""
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


MEDIA_TYPES: Final[Mapping[str, str]] = MappingProxyType({"png": "image/png", "gif": "image/gif"})


def inline_image(data: bytes, kind: str, description: str) -> str:
    """Return an `<img>` that holds its own data, so that a page needs no other file.

    Args:
        data: the bytes of the image file.
        kind: "png" or "gif".
        description: for readers who do not see the image.
    """
    text = base64.b64encode(data).decode("ascii")
    return f'<img alt="{description}" src="data:{MEDIA_TYPES[kind]};base64,{text}">'
