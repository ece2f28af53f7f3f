"""The gradient's posterior against autograd, the gain of a query against brute force, the steps."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import check_grad

from rolecast.baselines.hdbo.gibo import GiboConfig
from rolecast.baselines.hdbo.gradient_posterior import GradientPosterior, SquaredExponential
from rolecast.core.types import Float

KERNEL = SquaredExponential(1.7, np.array([0.3, 0.5, 0.2]))
CENTRE = np.array([0.4, 0.6, 0.5])


@pytest.fixture
def posterior() -> GradientPosterior:
    rng = np.random.default_rng(0)
    points, targets = rng.random((8, 3)), rng.normal(size=8)
    return GradientPosterior.given(KERNEL, CENTRE, points, targets, np.linspace(0.01, 0.1, 8))


def torch_kernel(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    lengths = torch.tensor(KERNEL.lengthscales)
    return 1.7 * torch.exp(-0.5 * ((a[:, None] - b[None]) / lengths).square().sum(2))


def test_its_mean_is_the_derivative_of_the_posterior_mean(posterior: GradientPosterior) -> None:
    query = torch.tensor(CENTRE, requires_grad=True)
    points = torch.tensor(posterior.points)
    noisy = torch_kernel(points, points) + torch.diag(torch.tensor(posterior.noise))
    weights = torch.linalg.solve(noisy, torch.tensor(posterior.targets))
    (slope,) = torch.autograd.grad(torch_kernel(query[None], points)[0] @ weights, query)
    np.testing.assert_allclose(posterior.mean(), slope.numpy(), rtol=1e-8)


def test_its_covariance_is_the_second_derivative_of_the_posterior_covariance(
    posterior: GradientPosterior,
) -> None:
    """d^2 / dx dx' of k(x, x') - k(x, X) K^-1 k(X, x') at x = x' = centre, by autograd."""
    points = torch.tensor(posterior.points)
    noisy = torch_kernel(points, points) + torch.diag(torch.tensor(posterior.noise))

    def covariance(both: torch.Tensor) -> torch.Tensor:
        a, b = both[:3][None], both[3:][None]
        known = torch.linalg.solve(noisy, torch_kernel(points, b))
        left: torch.Tensor = torch_kernel(a, b) - torch_kernel(a, points) @ known
        return left[0, 0]

    place = torch.tensor(np.concatenate([CENTRE, CENTRE]))
    hessian = torch.autograd.functional.hessian(covariance, place)  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(posterior.covariance(), hessian[:3, 3:].numpy(), atol=1e-8)


def test_a_gain_is_how_much_the_trace_falls(posterior: GradientPosterior) -> None:
    """By conditioning anew on all points and the query."""
    queries = np.random.default_rng(1).random((5, 3))
    for query, together in zip(queries, posterior.gains(queries, 0.05), strict=True):
        points = np.concatenate([posterior.points, query[None]])
        noise = np.append(posterior.noise, 0.05)
        after = GradientPosterior.given(KERNEL, CENTRE, points, np.zeros(9), noise)
        fallen = np.trace(posterior.covariance()) - np.trace(after.covariance())
        assert posterior.gain(query, 0.05)[0] == pytest.approx(fallen, rel=1e-8)
        assert together == pytest.approx(fallen, rel=1e-8)


def test_the_gradient_of_a_gain_is_that_of_its_differences(posterior: GradientPosterior) -> None:
    def value(query: Float) -> float:
        return posterior.gain(query, 0.05)[0]

    def slope(query: Float) -> Float:
        return posterior.gain(query, 0.05)[1]

    for query in np.random.default_rng(2).random((5, 3)):
        wrong = check_grad(value, slope, query)
        assert wrong < 1e-5 * np.linalg.norm(posterior.gain(query, 0.05)[1])


def test_an_expected_evaluation_leaves_the_mean_and_updates_the_covariance(
    posterior: GradientPosterior,
) -> None:
    query = np.array([0.5, 0.5, 0.45])
    after = posterior.observed(query, 0.05)
    noise = np.append(posterior.noise, 0.05)
    anew = GradientPosterior.given(KERNEL, CENTRE, after.points, after.targets, noise)
    np.testing.assert_allclose(after.mean(), posterior.mean(), rtol=1e-8)
    np.testing.assert_allclose(after.covariance(), anew.covariance(), atol=1e-8)


def test_the_best_query_gains_at_least_as_much_as_a_thousand_random_ones(
    posterior: GradientPosterior,
) -> None:
    low, high = CENTRE - 0.3, CENTRE + 0.3
    rng = np.random.default_rng(3)
    found = posterior.best_query((low, high), 0.05, raw_samples=64, restarts=5, steps=50, rng=rng)
    assert ((found >= low) & (found <= high)).all()
    others = rng.uniform(low, high, (1000, 3))
    assert posterior.gain(found, 0.05)[0] >= posterior.gains(others, 0.05).max()


QUICK: dict[str, Any] = {"raw_samples": 16, "restarts": 1, "ascent_steps": 5, "fit_steps": 10}


def plane(points: Float) -> Float:
    """Rises along a known direction."""
    return np.asarray(points @ np.array([3.0, -1.0, 2.0, 0.0]))


def test_a_step_has_its_length_and_goes_uphill() -> None:
    """Half a lengthscale in each dimension's own, times a direction of length 1."""
    optimizer = GiboConfig(step=0.5, samples=16, memory=40, **QUICK).build(dimension=4, seed=0)
    asked = optimizer.ask(24)
    np.testing.assert_allclose(asked[0], 0.5, atol=1e-6)
    assert np.abs(asked - 0.5).max() <= 0.1 + 1e-6
    optimizer.tell(asked, plane(asked))
    moved = optimizer.best() - 0.5
    assert moved @ np.array([3.0, -1.0, 2.0, 0.0]) / np.linalg.norm(moved) > 0.9 * np.sqrt(14.0)
    assert 0.5 * 0.01 <= np.linalg.norm(moved) <= 0.5 * 0.3


def test_the_centre_waits_for_enough_evaluations_and_is_evaluated_where_it_is_new() -> None:
    optimizer = GiboConfig(samples=16, **QUICK).build(dimension=4, seed=0)
    for batch in range(4):
        asked = optimizer.ask(5)
        optimizer.tell(asked, plane(asked))
        moved = not np.array_equal(optimizer.best(), np.full(4, 0.5))
        assert moved == (batch == 3)
    assert np.abs(optimizer.ask(2)[0] - optimizer.best()).max() < 1e-6


def test_initial_data_say_where_it_begins() -> None:
    optimizer = GiboConfig(samples=50, **QUICK).build(dimension=2, seed=0)
    points = np.array([[0.2, 0.2], [0.8, 0.7], [0.5, 0.1]])
    optimizer.tell(points, np.array([0.0, 9.0, 1.0]), np.full(3, 0.01))
    np.testing.assert_array_equal(optimizer.best(), points[1])
    assert np.abs(optimizer.ask(20) - points[1]).max() <= 0.1 + 1e-6


def test_the_answer_is_the_best_of_its_centres_where_a_step_leaps_over_the_summit() -> None:
    """The summit is where it begins, and every step is two lengthscales long."""
    optimizer = GiboConfig(step=2.0, samples=8, **QUICK).build(dimension=2, seed=0)
    for _ in range(6):
        asked = optimizer.ask(8)
        optimizer.tell(asked, -np.square(asked - 0.5).sum(1))
    leaps = np.linalg.norm(optimizer.state_dict()["centres"][1:] - 0.5, axis=1)
    assert leaps.min() > 0.1
    assert np.linalg.norm(optimizer.best() - 0.5) < 0.02
