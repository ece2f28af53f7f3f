"""What evidence tells apart: a plane from a bowl and from noise."""

import numpy as np
import pytest

from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.evidence import like_a_plane
from rolecast.platform.surrogate.levelling import level

RADIUS = 0.2


@pytest.mark.parametrize(
    ("slope", "ripple", "noise", "plane"),
    [
        (1.0, 0.0, 0.1, True),
        (0.0, 0.0, 1.0, False),
        (0.0, 1.0, 0.1, False),
    ],
    ids=["plane", "noise", "ripples"],
)
def test_a_plane_is_told_from_ripples_and_from_noise(
    slope: float, ripple: float, noise: float, plane: bool
) -> None:
    rng = np.random.default_rng(0)
    points: Float = 0.5 + RADIUS / np.sqrt(8) * rng.standard_normal((200, 8))
    values = slope * points.sum(1) + ripple * np.sin(60.0 * points[:, :2]).sum(1)
    spread = float(values.std()) or 1.0
    targets, _ = level(values + noise * spread * rng.standard_normal(200), "none")
    assert like_a_plane(points, targets, np.ones(200), RADIUS) == plane
