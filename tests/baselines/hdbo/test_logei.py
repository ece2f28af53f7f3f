"""The plain process asks where the expected improvement by hand is greatest."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import rolecast
from rolecast.baselines.hdbo import acquisition
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


@pytest.mark.parametrize("name", ["logei", "saasbo", "spherical_linear", "alebo"])
def test_each_point_of_a_batch_is_chosen_in_view_of_earlier_batches(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known points of the improvement end with those pending, then with those of the batch."""
    optimizer = rolecast.make_optimizer(
        name, dimension=2, seed=0, initial=2, fit_steps=3, ascent_steps=3, raw_samples=8
    )
    points = optimizer.ask(8)
    optimizer.tell(points, -np.square(points - 0.3).sum(1), np.full(8, 0.01))
    optimizer.ask(3)
    known: list[Float] = []
    ascend = vars(acquisition)["optimize_acqf"]

    def watched(function: Any, *args: Any, **kwargs: Any) -> Any:
        known.append(getattr(function, "inner", function).X_baseline.numpy())
        return ascend(function, *args, **kwargs)

    monkeypatch.setattr(acquisition, "optimize_acqf", watched)
    optimizer.ask(3)
    assert len(known) == 3
    pending = known[0][-3:]
    np.testing.assert_allclose(known[1][-4:-1], pending, atol=1e-9)
    np.testing.assert_allclose(known[2][-5:-2], pending, atol=1e-9)
