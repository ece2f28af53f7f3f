"""The moving picture of a hunt: one frame a state, its caption, its size."""

import io

import numpy as np
from PIL import Image, ImageSequence

from rolecast.platform.reports.hunt import FRAME_MS, LAST_FRAME_MS, Hunt, gif, hunt_frames


def short_hunt(steps: int) -> Hunt:
    rng = np.random.default_rng(0)
    return Hunt(
        predators=rng.uniform(-1, 1, (steps + 1, 3, 2)),
        prey=rng.uniform(-1, 1, (steps + 1, 1, 2)),
        landmarks=rng.uniform(-0.9, 0.9, (2, 2)),
        rewards=np.array([0.0, 10.0, 20.0])[np.arange(steps) % 3],
        sizes=(0.075, 0.05, 0.2),
    )


def test_there_is_a_frame_for_the_start_and_one_for_each_step() -> None:
    assert len(hunt_frames(short_hunt(2), "a hunt")) == 3


def test_frames_of_different_steps_differ() -> None:
    first, last = hunt_frames(short_hunt(1), "a hunt")
    assert not np.array_equal(np.asarray(first), np.asarray(last))


def test_the_gif_plays_every_frame_and_holds_the_last() -> None:
    picture = Image.open(io.BytesIO(gif(hunt_frames(short_hunt(3), "a hunt"))))
    durations = [frame.info["duration"] for frame in ImageSequence.Iterator(picture)]
    assert durations == [FRAME_MS] * 3 + [LAST_FRAME_MS]
    assert picture.info["loop"] == 0
