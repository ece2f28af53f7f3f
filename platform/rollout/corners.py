"""How a batch is cut into chunks: equal ones, or ones that shrink towards the end."""

import math
from itertools import pairwise

import numpy as np

from rolecast.core.types import LANE_COUNT
from rolecast.platform.rollout.sizes import (
    CALL_SECONDS,
    COMPILED_LANES,
    LEAST_EPISODES,
    MOST_EPISODES,
)

Corner = tuple[int, int, int, int]
"""First row and column of a chunk, its rows and columns; the last two may reach too far."""


def grid_corners(q: int, episodes: int, rows: int, columns: int) -> list[Corner]:
    """Cut a batch into equal chunks."""
    return [
        (row, episode, rows, columns)
        for row in range(0, q, rows)
        for episode in range(0, episodes, columns)
    ]


def equal_corners(q: int, episodes: int, workers: int, episode_s: float | None) -> list[Corner]:
    """Cut a batch of a compiled task, whose episodes last equally long: as much for each worker."""
    wanted = COMPILED_LANES
    if episode_s:
        wanted = max(wanted, int(CALL_SECONDS / episode_s))
    count = workers * max(1, round(q * episodes / (wanted * workers)))
    if count <= q:
        ends = np.round(np.linspace(0, q, count + 1)).astype(int).tolist()
        return [(start, 0, end - start, episodes) for start, end in pairwise(ends)]
    parts = min(-(-count // q), -(-episodes // LANE_COUNT))
    columns = -(-episodes // (parts * LANE_COUNT)) * LANE_COUNT
    return grid_corners(q, episodes, 1, columns)


def shrinking_corners(q: int, episodes: int, workers: int, episode_s: float | None) -> list[Corner]:
    """Cut a batch whose episodes may end at any step.

    Chunks are whole rows, or parts of one row. They shrink towards the end, so that all workers end
    together: to single episodes where these are slow.
    """
    least = LEAST_EPISODES
    if episode_s:
        least = min(least, math.ceil(CALL_SECONDS / episode_s))
    corners = []
    row = column = 0
    while row < q:
        left = (q - row) * episodes - column
        size = -(-left // (workers if workers == 1 else 2 * workers))
        size = min(max(size, least), MOST_EPISODES)
        if column == 0 and size >= episodes:
            rows = min(size // episodes, q - row)
            corners.append((row, 0, rows, episodes))
            row += rows
            continue
        columns = min(size, episodes - column)
        corners.append((row, column, 1, columns))
        column += columns
        if column == episodes:
            row, column = row + 1, 0
    return corners
