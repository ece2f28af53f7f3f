"""The linear process on the sphere has the covariance of its formula, and asks by it."""

import numpy as np
import pytest
import torch
from scipy.stats import norm

from rolecast.baselines.hdbo.spherical_linear import SphericalLinearConfig, SphericalLinearKernel
from rolecast.core.types import Float

DIMENSION = 3
LENGTHSCALES = np.array([0.1, 0.5, 2.0])


def sigmoid(value: float) -> float:
    return 1.0 / (1.0 + float(np.exp(-value)))


def by_hand(one: Float, other: Float, lengthscales: Float, share: float, scale: float) -> float:
    """Return k of two points [D], in scalars."""
    corner = sum((0.5 / length) ** 2 for length in lengthscales)
    vectors = []
    for point in (one, other):
        z = [
            (x - 0.5) / (length * np.sqrt(scale * corner))
            for x, length in zip(point, lengthscales, strict=True)
        ]
        square = sum(value**2 for value in z)
        vectors.append([2 * value / (1 + square) for value in z] + [(square - 1) / (1 + square)])
    inner = sum(a * b for a, b in zip(*vectors, strict=True))
    return float(1.0 - share + share * inner)


def test_the_covariance_is_that_of_the_formula() -> None:
    kernel = SphericalLinearKernel(DIMENSION).double()
    kernel.lengthscale = torch.as_tensor(LENGTHSCALES)
    with torch.no_grad():
        kernel.raw_shares.copy_(torch.tensor([0.3, -0.4], dtype=torch.float64))
        kernel.raw_scale.fill_(0.7)
    share, scale = sigmoid(-0.7), sigmoid(0.7)
    points = np.random.default_rng(0).random((2, 4, DIMENSION))
    asked = torch.as_tensor(points)
    found = kernel(asked[0], asked[1]).to_dense().detach().numpy()
    for i, one in enumerate(points[0]):
        for j, other in enumerate(points[1]):
            expected = by_hand(one, other, LENGTHSCALES, share, scale)
            assert found[i, j] == pytest.approx(expected, abs=1e-12)
    diagonal = kernel(asked[0], asked[1], diag=True).detach().numpy()
    np.testing.assert_allclose(diagonal, np.diag(found), atol=1e-12)
    ones = kernel(asked[0], diag=True).detach().numpy()
    np.testing.assert_allclose(ones, 1.0, atol=1e-12)


def test_what_is_linear_on_the_sphere_is_greatest_inside_the_cube() -> None:
    """Along the way to a corner the share of that direction peaks at sqrt(s) of the way."""
    kernel = SphericalLinearKernel(DIMENSION).double()
    steps = np.linspace(0.0, 1.0, 2001)
    way = 0.5 + 0.5 * steps[:, None] * np.ones(DIMENSION)
    opposite = 1.0 - way
    with torch.no_grad():
        along = kernel(torch.as_tensor(way), torch.as_tensor(way[1000:1001])).to_dense()
        back = kernel(torch.as_tensor(way), torch.as_tensor(opposite[1000:1001])).to_dense()
    assert steps[int((along - back)[:, 0].argmax())] == pytest.approx(np.sqrt(0.5), abs=1e-3)


def test_a_point_is_where_the_expected_improvement_is_greatest() -> None:
    """Hyperparameters are read from the process, the rest is by hand on a grid."""
    rng = np.random.default_rng(1)
    points = rng.random((12, 2))
    returns = np.sin(3.0 * points[:, 0]) - np.square(points[:, 1] - 0.4)
    optimizer = SphericalLinearConfig(initial=2, improvement="mean", draws=512).build(
        dimension=2, seed=0
    )
    optimizer.tell(points, returns, np.zeros(12))
    asked = optimizer.ask(1)
    values = optimizer.state_dict()["surrogate"]["values"]
    lengths = values["covar_module.raw_lengthscale"].ravel()
    shares, scale = values["covar_module.raw_shares"], values["covar_module.raw_scale"].item()
    noise = float(values["likelihood.second_noise_covar.raw_noise"].item()) + 1e-6
    mean = float(values["mean_module.raw_constant"])

    def kernel(one: Float, other: Float) -> Float:
        share = sigmoid(float(shares[1] - shares[0]))
        return np.array(
            [[by_hand(a, b, lengths, share, sigmoid(scale)) for b in other] for a in one]
        )

    targets = (returns - returns.mean()) / returns.std()
    inverse = np.linalg.inv(kernel(points, points) + noise * np.eye(12))
    axis = np.linspace(0.0, 1.0, 26)
    grid = np.concatenate([asked, np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)])
    cross = kernel(grid, points)
    means = mean + cross @ inverse @ (targets - mean)
    deviations = np.sqrt(np.maximum(1.0 - np.einsum("ij,jk,ik->i", cross, inverse, cross), 1e-12))
    best = float((mean + kernel(points, points) @ inverse @ (targets - mean)).max())
    gap = (means - best) / deviations
    improvement = deviations * (gap * norm.cdf(gap) + norm.pdf(gap))
    assert improvement[0] > 0.95 * improvement.max()
