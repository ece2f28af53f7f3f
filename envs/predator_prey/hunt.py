"""Frames of a predator-prey episode: positions, trails and returns."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from rolecast.core.types import Float

ARENA_PIXELS: Final = 460
"""Width and height of the arena in a frame."""

MARGIN_PIXELS: Final = 10
"""Beside and below the arena."""

TITLE_PIXELS: Final = 50
"""Height of title and caption above the arena."""

DRAWN_SCALE: Final = 3
"""An arena is drawn so many times as large and reduced, which smooths its edges."""

FONT_PIXELS: Final = 12.5
TRAIL_STEPS: Final = 10
"""Past steps in a trail."""

TRAIL_OPACITIES: Final = (0.05, 0.7)
"""Of the oldest step of a trail and of the last one."""

TRAIL_PIXELS: Final = 3
RIM_PIXELS: Final = 1

PREDATOR_COLOUR: Final = (0, 114, 178)
PREY_COLOUR: Final = (213, 94, 0)
LANDMARK_COLOUR: Final = (217, 217, 217)
TITLE_COLOUR: Final = (34, 34, 34)
CAPTION_COLOUR: Final = (122, 122, 122)
FRAME_COLOUR: Final = (204, 204, 204)
GROUND_COLOUR: Final = (255, 255, 255)
REWARDED_COLOUR: Final = (255, 246, 224)
"""Ground of a step that earned something."""

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


class _Arena:
    """A square of the plane about the origin, in which y points up."""

    def __init__(self, half: float, ground: tuple[int, int, int]) -> None:
        """Show [-half, half]^2."""
        side = ARENA_PIXELS * DRAWN_SCALE
        self.scale = side / (2.0 * half)
        """Pixels a unit of length."""
        self.half = half
        self.picture = Image.new("RGB", (side, side), ground)
        self.pen = ImageDraw.Draw(self.picture, "RGBA")

    def pixels(self, places: Float) -> list[tuple[float, float]]:
        """Return where places [p, 2] lie."""
        across, down = self.half + places[:, 0], self.half - places[:, 1]
        return list(zip(self.scale * across, self.scale * down, strict=True))

    def discs(
        self,
        places: Float,
        radius: float,
        colour: tuple[int, int, int],
        rim: tuple[int, int, int] | None = None,
    ) -> None:
        """Draw discs of a radius round places [p, 2]."""
        reach = self.scale * radius
        for x, y in self.pixels(places):
            box = (x - reach, y - reach, x + reach, y + reach)
            self.pen.ellipse(box, colour, rim, RIM_PIXELS * DRAWN_SCALE)

    def trails(self, paths: Float, colour: tuple[int, int, int]) -> None:
        """Draw paths [S, a, 2], older steps fainter."""
        if len(paths) < 2:
            return
        opacities = np.round(255 * np.linspace(*TRAIL_OPACITIES, len(paths) - 1)).astype(int)
        for agent in range(paths.shape[1]):
            corners = self.pixels(paths[:, agent])
            for start, end, opacity in zip(corners, corners[1:], opacities, strict=False):
                ink = (*colour, int(opacity))
                self.pen.line([start, end], ink, TRAIL_PIXELS * DRAWN_SCALE)


def draw_frame(hunt: Hunt, step: int, title: str) -> Image.Image:
    """Return a picture of the state after `step` steps.

    Args:
        hunt: the episode.
        step: 0 to T.
        title: first line of the caption.
    Returns:
        An RGB image; all of an episode have one size.
    """
    moving = np.concatenate([hunt.predators.reshape(-1, 2), hunt.prey.reshape(-1, 2)])
    half = max(ARENA_HALF_WIDTH, float(np.abs(moving).max()) + 0.1)
    earned = float(hunt.rewards[step - 1]) if step else 0.0
    arena = _Arena(half, REWARDED_COLOUR if earned > 0 else GROUND_COLOUR)
    predator_size, prey_size, landmark_size = hunt.sizes
    arena.discs(hunt.landmarks, landmark_size, LANDMARK_COLOUR)
    for paths, colour in ((hunt.predators, PREDATOR_COLOUR), (hunt.prey, PREY_COLOUR)):
        arena.trails(paths[max(step - TRAIL_STEPS, 0) : step + 1], colour)
    arena.discs(hunt.predators[step], predator_size, PREDATOR_COLOUR, GROUND_COLOUR)
    arena.discs(hunt.prey[step], prey_size, PREY_COLOUR)
    return _captioned(arena.picture.reduce(DRAWN_SCALE), _captions(hunt, step, title))


def _captions(hunt: Hunt, step: int, title: str) -> list[str]:
    """Return the lines above a state: a title and, of an episode, what was earned."""
    if not len(hunt.rewards):
        return [title]
    earned = float(hunt.rewards[step - 1]) if step else 0.0
    told = f"reward {earned:+.0f}    return {float(hunt.rewards[:step].sum()):.0f}"
    return [title, f"step {step} of {len(hunt.rewards)}    {told}"]


def _captioned(arena: Image.Image, lines: list[str]) -> Image.Image:
    """Return an arena in its frame, with lines above it."""
    size = (ARENA_PIXELS + 2 * MARGIN_PIXELS, TITLE_PIXELS + ARENA_PIXELS + MARGIN_PIXELS)
    frame = Image.new("RGB", size, GROUND_COLOUR)
    frame.paste(arena, (MARGIN_PIXELS, TITLE_PIXELS))
    pen = ImageDraw.Draw(frame)
    low, high = MARGIN_PIXELS, MARGIN_PIXELS + ARENA_PIXELS - 1
    pen.rectangle((low, TITLE_PIXELS, high, TITLE_PIXELS + ARENA_PIXELS - 1), None, FRAME_COLOUR)
    fonts = ("DejaVuSans-Bold.ttf", TITLE_COLOUR), ("DejaVuSansMono.ttf", CAPTION_COLOUR)
    for line, (font, colour), y in zip(lines, fonts, (7, 26), strict=False):
        pen.text((MARGIN_PIXELS, y), line, colour, _font(font))
    return frame


@cache
def _font(name: str) -> ImageFont.FreeTypeFont:
    """Return one of the fonts that come with matplotlib."""
    return ImageFont.truetype(
        Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, FONT_PIXELS
    )
