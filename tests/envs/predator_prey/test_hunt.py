"""The moving picture of a hunt: what a frame shows, and its size."""

import numpy as np

from rolecast.envs.predator_prey.hunt import PREDATOR_COLOUR, PREY_COLOUR, Hunt, draw_frame


def short_hunt(steps: int) -> Hunt:
    rng = np.random.default_rng(0)
    return Hunt(
        predators=rng.uniform(-1, 1, (steps + 1, 3, 2)),
        prey=rng.uniform(-1, 1, (steps + 1, 1, 2)),
        landmarks=rng.uniform(-0.9, 0.9, (2, 2)),
        rewards=np.array([0.0, 10.0, 20.0])[np.arange(steps) % 3],
        sizes=(0.075, 0.05, 0.2),
    )


def test_frames_of_different_steps_differ_and_have_one_size() -> None:
    first, last = (draw_frame(short_hunt(1), step, "a hunt") for step in (0, 1))
    assert first.size == last.size == (480, 520)
    assert not np.array_equal(np.asarray(first), np.asarray(last))


def test_a_step_that_pays_is_lit() -> None:
    dull, paid = (np.asarray(draw_frame(short_hunt(2), step, "a hunt")) for step in (1, 2))
    corner = (-20, 20)  # of the arena, where nobody is
    assert dull[corner].tolist() == [255, 255, 255]
    assert paid[corner].tolist() == [255, 246, 224]


def test_agents_stand_where_they_are_and_as_large_as_they_are() -> None:
    hunt = Hunt(
        predators=np.array([[[-0.5, 0.5]]]),
        prey=np.array([[[0.8, -0.2]]]),
        landmarks=np.zeros((0, 2)),
        rewards=np.zeros(0),
        sizes=(0.1, 0.05, 0.2),
    )
    picture = np.asarray(draw_frame(hunt, 0, "a hunt"))
    scale = 460 / 2.6  # pixels of a view of [-1.3, 1.3]^2
    for place, radius, colour in (
        ((-0.5, 0.5), 0.1, PREDATOR_COLOUR),
        ((0.8, -0.2), 0.05, PREY_COLOUR),
    ):
        rows, columns = np.nonzero((picture == colour).all(axis=-1))
        middle = 10 + scale * (1.3 + place[0]), 50 + scale * (1.3 - place[1])
        np.testing.assert_allclose((columns.mean() + 0.5, rows.mean() + 0.5), middle, atol=1.0)
        assert np.ptp(rows) == np.ptp(columns)
        np.testing.assert_allclose(np.ptp(rows) + 1, 2 * scale * radius, atol=4.0)
