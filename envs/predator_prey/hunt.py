"""Frames of a predator-prey episode: positions, trails and returns."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image

from rolecast.core.types import Float

FRAME_PIXELS: Final = 480
TRAIL_STEPS: Final = 10
"""Past steps in a trail."""

PREDATOR_COLOUR: Final = "#0072B2"
PREY_COLOUR: Final = "#D55E00"
TITLE_COLOUR: Final = "#222222"
CAPTION_COLOUR: Final = "#7A7A7A"

ARENA_HALF_WIDTH: Final = 1.3
"""Minimum half width of the view; starts lie within 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Hunt:
    """Data of one episode of T steps for its picture."""

    predators: Float
    """Positions [T + 1, n, 2] of the predators."""

    prey: Float
    """Positions [T + 1, k, 2] of the prey."""

    landmarks: Float
    """Positions [l, 2] of the landmarks."""

    rewards: Float
    """Team reward [T] of each step; of a single state none, and no caption tells them."""

    sizes: tuple[float, float, float]
    """Radii of a predator, a prey and a landmark."""


def draw_frame(hunt: Hunt, step: int, title: str) -> Image.Image:
    """Return a picture of the state after `step` steps.

    Args:
        hunt: the episode.
        step: 0 to T.
        title: first line of the caption.
    Returns:
        An RGB image, FRAME_PIXELS wide.
    """
    drawing = Figure(figsize=(4.8, 5.2), dpi=FRAME_PIXELS / 4.8)
    canvas = FigureCanvasAgg(drawing)
    axes = drawing.add_axes((0.02, 0.02, 0.96, 0.96 * 4.8 / 5.2))
    moving = np.concatenate([hunt.predators.reshape(-1, 2), hunt.prey.reshape(-1, 2)])
    half = max(ARENA_HALF_WIDTH, float(np.abs(moving).max()) + 0.1)
    axes.set(xlim=(-half, half), ylim=(-half, half), xticks=[], yticks=[], aspect="equal")
    for spine in axes.spines.values():
        spine.set_color("#CCCCCC")
    predator_size, prey_size, landmark_size = hunt.sizes
    for place in hunt.landmarks:
        axes.add_artist(Circle(tuple(place), landmark_size, color="#D9D9D9", zorder=1))
    for paths, colour in ((hunt.predators, PREDATOR_COLOUR), (hunt.prey, PREY_COLOUR)):
        _draw_trails(axes, paths[max(step - TRAIL_STEPS, 0) : step + 1], colour)
    for place in hunt.prey[step]:
        axes.add_artist(Circle(tuple(place), prey_size, color=PREY_COLOUR, zorder=4))
    for place in hunt.predators[step]:
        axes.add_artist(
            Circle(tuple(place), predator_size, fc=PREDATOR_COLOUR, ec="white", lw=0.8, zorder=3)
        )
    earned = float(hunt.rewards[step - 1]) if step else 0.0
    total = float(hunt.rewards[:step].sum())
    if earned > 0:
        axes.patch.set_facecolor("#FFF6E0")
    drawing.text(0.02, 0.965, title, color=TITLE_COLOUR, size=9, weight="bold")
    if len(hunt.rewards):
        steps = f"step {step} of {len(hunt.rewards)}"
        caption = f"{steps}    reward {earned:+.0f}    return {total:.0f}"
        drawing.text(0.02, 0.935, caption, color=CAPTION_COLOUR, size=9, family="monospace")
    canvas.draw()  # type: ignore[no-untyped-call]  # matplotlib's canvases have no types
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]  # as above
    return Image.fromarray(pixels[..., :3])


def _draw_trails(axes: Axes, paths: Float, colour: str) -> None:
    """Add the last steps of each path [S, a, 2], older ones fainter."""
    if len(paths) < 2:
        return
    alphas = np.linspace(0.05, 0.7, len(paths) - 1)
    colours = [(*to_rgb(colour), float(alpha)) for alpha in alphas]
    for agent in range(paths.shape[1]):
        segments = np.stack([paths[:-1, agent], paths[1:, agent]], axis=1)
        axes.add_artist(LineCollection(list(segments), colors=colours, linewidths=2, zorder=2))
