"""Picture of one moment of drone delivery, without a plotting library.

Every mark is a signed distance from its rim, negative inside, which gives smooth edges. It is
painted only within its reach.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float
from rolecast.envs.drone_delivery.physics import DroneDeliveryParameters, DroneState

Shape = Callable[[Float, Float], Float]
"""Signed distance [h, w] from x and y [h, w] relative to the middle of a mark."""

PICTURE_PIXELS: Final = 440
"""Width and height of the picture."""

HALF_WIDTH: Final = 1.25
"""The picture shows [-1.25, 1.25]^2; points lie in [-1, 1)^2."""

DRONE_COLOURS: Final = (
    (0.12, 0.47, 0.71),
    (0.90, 0.45, 0.05),
    (0.17, 0.60, 0.25),
    (0.58, 0.35, 0.74),
    (0.75, 0.20, 0.45),
    (0.45, 0.33, 0.20),
    (0.05, 0.60, 0.62),
    (0.60, 0.58, 0.05),
    (0.25, 0.30, 0.45),
)
"""Colours of drone and point, in turn."""

GROUND_COLOUR: Final = (0.955, 0.965, 0.95)
FIELD_COLOUR: Final = (0.99, 0.99, 0.985)
TRACK_COLOUR: Final = (0.86, 0.86, 0.86)
STOPPED_COLOUR: Final = (0.80, 0.10, 0.10)
EMPTY_COLOUR: Final = (0.45, 0.45, 0.45)


def draw(params: DroneDeliveryParameters, state: DroneState, episode: int) -> NDArray[np.uint8]:
    """Return a picture [H, W, 3] of one episode; x to the right, y upwards.

    A drone and its point have one colour. The ring round a drone is its fuel, clockwise from the
    top; the tick shows course and speed. A drone stopped by a collision has a red body; with an
    empty tank it is grey. The disc of a point has the radius of a delivery.
    """
    picture = np.tile(np.array(GROUND_COLOUR), (PICTURE_PIXELS, PICTURE_PIXELS, 1))
    middle = np.zeros(2)
    _paint(picture, middle, HALF_WIDTH, lambda x, y: np.maximum(abs(x), abs(y)) - 1.0, FIELD_COLOUR)
    drones = range(params.drones)
    for drone in drones:
        place, point = state.positions[episode, drone], state.points[episode, drone]
        colour = DRONE_COLOURS[drone % len(DRONE_COLOURS)]
        _paint(picture, point, params.delivery_radius, _disc(params.delivery_radius), colour, 0.15)
        _paint(picture, point, 0.1, _diamond(0.045), colour)
        _paint_line(picture, place, point, 0.003, colour, 0.35)
    for drone in drones:
        colour = DRONE_COLOURS[drone % len(DRONE_COLOURS)]
        _paint_drone(picture, params, state, (episode, drone), colour)
    return np.round(255.0 * picture).astype(np.uint8)


def _paint_drone(
    picture: Float,
    params: DroneDeliveryParameters,
    state: DroneState,
    which: tuple[int, int],
    colour: tuple[float, float, float],
) -> None:
    """Paint one drone: fuel ring, arms, rotors, body, course."""
    place, velocity, fuel = state.positions[which], state.velocities[which], state.fuel[which]
    radius = params.drone_radius
    colour = colour if fuel > 0.0 else EMPTY_COLOUR
    _paint(picture, place, radius, _disc(radius), (1.0, 1.0, 1.0), 0.9)
    _paint(picture, place, 1.3 * radius, _ring(radius, 0.010), TRACK_COLOUR)
    _paint(picture, place, 1.3 * radius, _ring(radius, 0.010, float(fuel)), colour)
    course = np.arctan2(velocity[1], velocity[0]) if velocity.any() else np.pi / 2.0
    for corner in range(4):
        angle = course + np.pi / 4.0 + corner * np.pi / 2.0
        arm = 0.55 * radius * np.array([np.cos(angle), np.sin(angle)])
        _paint_line(picture, place, place + arm, 0.005, colour)
        _paint(picture, place + arm, radius, _disc(0.24 * radius), colour, 0.65)
    _paint_line(picture, place, place + 0.3 * velocity, 0.006, colour)
    body = STOPPED_COLOUR if state.stopped[which] else colour
    _paint(picture, place, radius, _disc(0.3 * radius), body)


def _paint(
    picture: Float,
    centre: Float,
    reach: float,
    shape: Shape,
    colour: tuple[float, float, float],
    strength: float = 1.0,
) -> None:
    """Paint a mark into a picture, in place.

    Args:
        picture: [H, W, 3], in [0, 1].
        centre: [2], centre of the mark.
        reach: distance from the centre within which the mark lies.
        shape: signed distance of the mark.
        colour: in [0, 1].
        strength: opacity; 1 covers the picture below.
    """
    pixel = 2.0 * HALF_WIDTH / PICTURE_PIXELS
    places = (np.arange(PICTURE_PIXELS) + 0.5) * pixel - HALF_WIDTH
    columns = np.flatnonzero(abs(places - centre[0]) <= reach + pixel)
    rows = np.flatnonzero(abs(-places - centre[1]) <= reach + pixel)
    if not columns.size or not rows.size:
        return
    part = picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    x, y = np.meshgrid(places[columns] - centre[0], -places[rows] - centre[1])
    cover = strength * np.clip(0.5 - shape(x, y) / pixel, 0.0, 1.0)[..., None]
    part += cover * (np.array(colour) - part)


def _paint_line(
    picture: Float,
    start: Float,
    end: Float,
    half_width: float,
    colour: tuple[float, float, float],
    strength: float = 1.0,
) -> None:
    """Paint a line between two places [2], in place."""
    half = 0.5 * (end - start)
    squared = max(float(np.square(half).sum()), 1e-12)

    def shape(x: Float, y: Float) -> Float:
        along = np.clip((x * half[0] + y * half[1]) / squared, -1.0, 1.0)
        return np.asarray(np.hypot(x - along * half[0], y - along * half[1]) - half_width)

    reach = float(abs(half).max()) + half_width
    _paint(picture, start + half, reach, shape, colour, strength)


def _disc(radius: float) -> Shape:
    return lambda x, y: np.hypot(x, y) - radius


def _diamond(half: float) -> Shape:
    return lambda x, y: (abs(x) + abs(y) - half) / np.sqrt(2.0)


def _ring(radius: float, half_width: float, share: float = 1.0) -> Shape:
    """Return the shape of a ring, or of a share of it, clockwise from the top."""

    def shape(x: Float, y: Float) -> Float:
        turn = np.arctan2(x, y) % (2.0 * np.pi)
        beyond = np.maximum(turn - 2.0 * np.pi * share, 0.0) * radius
        return np.maximum(abs(np.hypot(x, y) - radius) - half_width, beyond)

    return shape
