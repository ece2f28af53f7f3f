"""Learning curves and comparisons say what they were given."""

import io

import numpy as np
import pytest
from PIL import Image

from rolecast.platform.reports.curves import Curve, comparison, learning_curve, thousands
from rolecast.platform.reports.style import png
from rolecast.platform.search.records.measurements import Yardstick


def curve(evaluations: int, batch: int) -> Curve:
    numbers = np.arange(evaluations)
    return Curve(
        env_steps=200 * (numbers + 1),
        returns=numbers.astype(float),
        stderrs=np.full(evaluations, 0.5),
        batches=numbers // batch,
    )


@pytest.mark.parametrize(("evaluations", "batch"), [(1, 1), (7, 3), (60, 60)])
def test_the_line_is_the_mean_of_each_batch_at_the_steps_it_ended(
    evaluations: int, batch: int
) -> None:
    seen = curve(evaluations, batch)
    (line,) = learning_curve(seen).axes[0].lines
    points = np.array(line.get_data()).T
    for (steps, mean), index in zip(points, np.unique(seen.batches), strict=True):
        mine = seen.batches == index
        assert steps == seen.env_steps[mine].max()
        assert mean == pytest.approx(seen.returns[mine].mean())


def test_yardsticks_are_lines_with_their_value() -> None:
    drawing = learning_curve(
        curve(4, 2), yardsticks=[Yardstick(name="chase", mean=135.4, stderr=1)]
    )
    assert [text.get_text() for text in drawing.axes[0].texts] == ["chase 135.4"]


def test_a_comparison_draws_the_median_over_seeds() -> None:
    drawing = comparison({"ours": {400: [1.0, 5.0, 100.0], 800: [2.0, 2.0, 3.0]}})
    (line,) = drawing.axes[0].lines
    np.testing.assert_array_equal(line.get_data(), [[400, 800], [5.0, 2.0]])


@pytest.mark.parametrize(
    ("value", "text"), [(400_000, "400k"), (1_600_000, "1.6M"), (250, "250"), (0, "0")]
)
def test_steps_are_written_shortly(value: float, text: str) -> None:
    assert thousands(value) == text


def test_a_picture_is_the_same_bytes_each_time_and_opens() -> None:
    first, second = (png(learning_curve(curve(9, 3))) for _ in range(2))
    assert first == second
    assert Image.open(io.BytesIO(first)).size[0] > 400
