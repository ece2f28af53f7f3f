"""A graph that moves with an episode: agents in the colours of their roles, and who hears whom."""

from math import atan2, cos, pi, sin
from typing import Final

from PIL import Image, ImageColor, ImageDraw, ImageFont

from rolecast.platform.reports.style import COLOUR_CYCLE, GREY, INK
from rolecast.platform.search.records.roles import RoleMeasures

FRAME_SIZE: Final = 320
"""Width and height of a frame, in pixels."""

CIRCLE_RADIUS: Final = 110
"""Of the circle on which agents stand."""

NODE_RADIUS: Final = 19

ARROW_SIZE: Final = 9
"""Length of an arrow's head."""

LEAST_EDGE: Final = 0.05
"""Weights below it are not drawn."""

OFF_AXIS: Final = 4
"""Distance of an arrow from the line between two agents, so that both directions are seen."""

TEXT_SIZE: Final = 15


def role_colour(role: int) -> str:
    """Return the colour of a role; that of the first again, after the last."""
    return COLOUR_CYCLE[role % len(COLOUR_CYCLE)]


def graph_frames(measured: RoleMeasures) -> list[Image.Image]:
    """Return a frame for each step of the episode that is shown."""
    return [graph_frame(measured, place) for place in range(len(measured.steps))]


def graph_frame(measured: RoleMeasures, place: int) -> Image.Image:
    """Draw one step: the darker an arrow, the more its head's agent hears of the other.

    Args:
        measured: what roles do.
        place: of the step among those shown.
    """
    frame = Image.new("RGB", (FRAME_SIZE, FRAME_SIZE), "white")
    pen, font = ImageDraw.Draw(frame), ImageFont.load_default(TEXT_SIZE)
    held, heard = measured.role_of_agent[place], measured.edges[place]
    spots = _spots(len(held))
    for hearer, role in enumerate(held):
        for sender, other in enumerate(held):
            if hearer != sender and heard[role][other] > LEAST_EDGE:
                _arrow(pen, spots[sender], spots[hearer], heard[role][other])
    for agent, (x, y) in enumerate(spots):
        box = (x - NODE_RADIUS, y - NODE_RADIUS, x + NODE_RADIUS, y + NODE_RADIUS)
        pen.ellipse(box, fill=role_colour(held[agent]))
        pen.text((x, y), str(agent), fill="white", font=font, anchor="mm")
    pen.text((8, 6), f"step {measured.steps[place]}", fill=INK, font=font)
    return frame


def _spots(agents: int) -> list[tuple[float, float]]:
    """Return the places of agents on a circle, the first on top."""
    middle = FRAME_SIZE / 2
    angles = [2.0 * pi * agent / agents - pi / 2 for agent in range(agents)]
    return [(middle + CIRCLE_RADIUS * cos(a), middle + CIRCLE_RADIUS * sin(a)) for a in angles]


def _arrow(
    pen: ImageDraw.ImageDraw,
    start: tuple[float, float],
    end: tuple[float, float],
    weight: float,
) -> None:
    """Draw an arrow between two nodes, paler for less weight."""
    angle = atan2(end[1] - start[1], end[0] - start[0])
    along, aside = (cos(angle), sin(angle)), (-sin(angle), cos(angle))

    def moved(spot: tuple[float, float], ahead: float, beside: float) -> tuple[float, float]:
        return (
            spot[0] + ahead * along[0] + beside * aside[0],
            spot[1] + ahead * along[1] + beside * aside[1],
        )

    dark = ImageColor.getrgb(GREY)
    colour = tuple(round(255 - min(weight, 1.0) * (255 - each)) for each in dark[:3])
    tip = moved(end, -NODE_RADIUS, OFF_AXIS)
    pen.line([moved(start, NODE_RADIUS, OFF_AXIS), tip], fill=colour, width=2)
    back = [moved(tip, -ARROW_SIZE, side * ARROW_SIZE / 2) for side in (-1, 1)]
    pen.polygon([tip, *back], fill=colour)
