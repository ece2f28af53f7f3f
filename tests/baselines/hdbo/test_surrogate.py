"""The competitors' process is the one of the textbook, held to NumPy's."""

from typing import Any

import numpy as np
from gpytorch.kernels import Kernel, MaternKernel, ScaleKernel

from rolecast.baselines.hdbo.surrogate import (
    Surrogate,
    SurrogateConfig,
    default_noise,
    hyperparameters,
    kept,
    posterior_draws,
    posterior_mean,
    process,
)
from rolecast.core.types import Float

LENGTHSCALES = np.array([0.3, 0.7, 1.1])
OUTPUTSCALE = 1.7
POINTS = np.random.default_rng(0).random((9, 3))
RETURNS = 5.0 + 2.0 * np.sin(4.0 * POINTS).sum(1)
STDERRS = np.array([0.1, 0.5, 1.0, np.nan, 0.0, 0.2, 0.3, 2.0, 0.4])
QUERIES = np.random.default_rng(1).random((4, 3))


def known_kernel() -> Kernel:
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=3)).double()
    kernel.outputscale = OUTPUTSCALE
    kernel.base_kernel.lengthscale = LENGTHSCALES
    return kernel


def matern(one: Float, other: Float) -> Float:
    r = np.sqrt(5.0 * np.square((one[:, None] - other) / LENGTHSCALES).sum(-1))
    return np.asarray(OUTPUTSCALE * (1.0 + r + r**2 / 3.0) * np.exp(-r))


def unfitted() -> tuple[Any, Float, Float]:
    """Return a process as it is built, with NumPy's posterior mean and covariance at `QUERIES`."""
    begun = process(POINTS, RETURNS, np.zeros(9), known_kernel(), default_noise())
    surrogate = Surrogate(SurrogateConfig(fit_steps=1), known_kernel)
    # So that no fit is due.
    surrogate.load_state_dict({"values": hyperparameters(begun), "fitted": 100})
    model, rows = surrogate.model(POINTS, RETURNS, STDERRS)
    np.testing.assert_array_equal(rows, np.arange(9))
    targets = (RETURNS - RETURNS.mean()) / RETURNS.std()
    known = np.clip(np.square(np.nan_to_num(STDERRS) / RETURNS.std()), 1e-6, 1e2)
    noise = known + float(hyperparameters(model)["likelihood.second_noise_covar.raw_noise"][0])
    inverse = np.linalg.inv(matern(POINTS, POINTS) + np.diag(noise))
    cross = matern(QUERIES, POINTS)
    mean = cross @ inverse @ targets
    return model, mean, matern(QUERIES, QUERIES) - cross @ inverse @ cross.T


def test_its_mean_is_that_of_the_textbook_with_known_noise_and_a_learned_floor() -> None:
    model, mean, _ = unfitted()
    np.testing.assert_allclose(posterior_mean(model, QUERIES), mean, rtol=1e-6)


def test_draws_have_the_mean_and_the_covariance_of_the_textbook() -> None:
    """Features of finite number shift a variance by some hundredths of the prior's 1.7."""
    model, mean, covariance = unfitted()
    draws = posterior_draws(model, QUERIES, 4000, np.random.default_rng(0))
    error = 4.89 * np.sqrt(np.diag(covariance).max() / 4000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=2.0 * error)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.08 * OUTPUTSCALE)


def test_a_fit_raises_what_it_maximises_and_waits_for_more_points() -> None:
    surrogate = Surrogate(SurrogateConfig(refit=1.5, fit_steps=5), known_kernel)
    fitted = []
    for count in (4, 5, 6, 8, 9):
        surrogate.model(POINTS[:count], RETURNS[:count], STDERRS[:count])
        surrogate.commit()
        fitted.append(surrogate.state_dict()["fitted"])
    assert fitted == [4, 4, 6, 6, 9]
    assert not np.allclose(
        surrogate.state_dict()["values"]["covar_module.base_kernel.raw_lengthscale"],
        hyperparameters(unfitted()[0])["covar_module.base_kernel.raw_lengthscale"],
    )


def test_a_fit_does_not_know_the_ones_before_it() -> None:
    grown, fresh = (Surrogate(SurrogateConfig(refit=1.5), known_kernel) for _ in range(2))
    for surrogate, counts in ((grown, (4, 9)), (fresh, (9,))):
        for count in counts:
            surrogate.model(POINTS[:count], RETURNS[:count], STDERRS[:count])
            surrogate.commit()
    ours, theirs = grown.state_dict(), fresh.state_dict()
    assert ours["fitted"] == theirs["fitted"] == 9
    for name, value in theirs["values"].items():
        np.testing.assert_array_equal(ours["values"][name], value)


def test_a_model_that_is_only_looked_at_changes_no_state() -> None:
    surrogate = Surrogate(SurrogateConfig(), known_kernel)
    surrogate.model(POINTS, RETURNS, STDERRS)
    assert surrogate.state_dict() == {"values": {}, "fitted": 0}


def test_of_too_many_evaluations_the_best_and_the_latest_stay() -> None:
    returns = np.array([9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 4.0])
    np.testing.assert_array_equal(kept(returns, 4), [0, 2, 5, 6])
    np.testing.assert_array_equal(kept(returns, 7), np.arange(7))
