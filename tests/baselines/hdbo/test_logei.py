"""The plain process asks where the expected improvement by hand is greatest."""

import numpy as np
import pytest
from scipy.stats import norm

from rolecast.baselines.hdbo.acquisition import IMPROVEMENT_KINDS
from rolecast.baselines.hdbo.logei import LogEiConfig
from rolecast.core.types import Float

POINTS = np.array([[0.05], [0.2], [0.45], [0.6], [0.95]])
RETURNS = np.sin(9.0 * POINTS[:, 0])


def improvement(means: Float, deviations: Float, best: float) -> Float:
    gap = (means - best) / deviations
    return np.asarray(deviations * (gap * norm.cdf(gap) + norm.pdf(gap)))


@pytest.mark.parametrize("over", IMPROVEMENT_KINDS)
def test_a_point_is_where_the_expected_improvement_is_greatest(over: str) -> None:
    """Kernel and noise are read from the process, the rest is by hand on a grid."""
    config = LogEiConfig(initial=2, draws=512, improvement=over)
    optimizer = config.build(dimension=1, seed=0)
    optimizer.tell(POINTS, RETURNS, np.zeros(5))
    asked = optimizer.ask(1)
    values = optimizer.state_dict()["surrogate"]["values"]
    lengthscale = float(values["covar_module.raw_lengthscale"].item())
    noise = float(values["likelihood.second_noise_covar.raw_noise"].item()) + 1e-6
    mean = float(values["mean_module.raw_constant"])

    def kernel(one: Float, other: Float) -> Float:
        return np.exp(-0.5 * np.square((one - other.T) / lengthscale))

    targets = (RETURNS - RETURNS.mean()) / RETURNS.std()
    inverse = np.linalg.inv(kernel(POINTS, POINTS) + noise * np.eye(5))
    grid = np.concatenate([asked, np.linspace(0.0, 1.0, 2001)[:, None]])
    cross = kernel(grid, POINTS)
    means = mean + cross @ inverse @ (targets - mean)
    deviations = np.sqrt(np.maximum(1.0 - np.einsum("ij,jk,ik->i", cross, inverse, cross), 1e-12))
    best = float((mean + kernel(POINTS, POINTS) @ inverse @ (targets - mean)).max())
    by_hand = improvement(means, deviations, best)
    assert by_hand[0] > 0.95 * by_hand.max()


@pytest.mark.parametrize("over", IMPROVEMENT_KINDS)
def test_points_of_a_batch_are_chosen_in_view_of_each_other(over: str) -> None:
    config = LogEiConfig(initial=2, fit_steps=5, ascent_steps=10, improvement=over)
    optimizer = config.build(dimension=1, seed=0)
    optimizer.tell(POINTS, RETURNS, np.full(5, 0.01))
    asked = np.sort(np.concatenate([optimizer.ask(2), optimizer.ask(1)])[:, 0])
    assert np.diff(asked).min() > 1e-3
