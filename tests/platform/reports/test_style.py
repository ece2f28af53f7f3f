"""Pictures as bytes."""

import io
from typing import Any

import pytest
from matplotlib.figure import Figure

from rolecast.platform.reports.style import figure, png


def drawing() -> Figure:
    drawn, axes = figure(4.0, 3.0)
    axes.plot([0.0, 1.0, 3.0], [1e6, 3e6, 2e6], label="a line")
    axes.set_ylabel("return")
    axes.legend()
    return drawn


def test_a_picture_is_drawn_once_as_matplotlib_saves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which draws twice: the first time to lay out alone."""
    saved = io.BytesIO()
    drawing().savefig(saved, format="png", metadata={"Software": None})
    drawn: list[Figure] = []
    draw = Figure.draw

    def counted(self: Figure, renderer: Any) -> None:
        drawn.append(self)
        draw(self, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    assert png(drawing()) == saved.getvalue()
    assert len(drawn) == 1
