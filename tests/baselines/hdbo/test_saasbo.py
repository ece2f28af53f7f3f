"""The sparse process has its prior, and finds the dimension that matters."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch
from scipy.stats import halfcauchy

from rolecast.baselines.hdbo.saasbo import Saas, SaasboConfig
from rolecast.core.errors import ConfigError, RequestError


def test_the_prior_is_half_cauchy_over_scaled_inverse_squares_of_lengthscales() -> None:
    base = Saas(SaasboConfig(), 3).kernel().base_kernel
    base.lengthscale = torch.tensor([0.5, 2.0, 7.0], dtype=torch.float64)
    densities = {
        name: prior.log_prob(value(module)).detach().numpy()
        for name, module, prior, value, _ in base.named_priors()
    }
    tau = float(base.raw_tau_constraint.transform(base.raw_tau).detach())
    scaled = tau / np.square([0.5, 2.0, 7.0])
    expected = halfcauchy.logpdf(scaled)
    np.testing.assert_allclose(densities["inv_lengthscale_prior"].ravel(), expected)
    np.testing.assert_allclose(densities["tau_prior"], halfcauchy.logpdf(tau, scale=0.1))


def test_the_dimension_that_matters_has_the_shortest_lengthscale_by_far() -> None:
    points = np.random.default_rng(0).random((40, 8))
    optimizer = SaasboConfig(fit_steps=40, ascent_steps=2, draws=8).build(dimension=8, seed=0)
    optimizer.tell(points, np.sin(6.0 * points[:, 5]), np.zeros(40))
    optimizer.ask(1)
    values = optimizer.state_dict()["surrogate"]["values"]
    logarithms = values["covar_module.base_kernel.raw_lengthscale"].ravel()
    others = np.delete(logarithms, 5)
    assert logarithms[5] < others.min() - np.log(5.0)


@pytest.mark.skipif(find_spec("numpyro") is not None, reason="NumPyro is installed")
def test_without_its_library_integration_is_refused_with_the_line_that_installs_it() -> None:
    with pytest.raises(RequestError, match="needs NumPyro; install it by `pip install"):
        SaasboConfig(inference="nuts")


@pytest.mark.skipif(find_spec("numpyro") is None, reason="NumPyro is not installed")
def test_integration_proposes_and_repeats_by_its_seed() -> None:
    settings = SaasboConfig(inference="nuts", warmup=4, samples=16, ascent_steps=2, draws=8)
    points = np.random.default_rng(0).random((12, 3))
    asked = []
    for _ in range(2):
        optimizer = settings.build(dimension=3, seed=0)
        optimizer.tell(points, np.sin(6.0 * points[:, 1]), np.full(12, 0.1))
        optimizer.ask(10)
        asked.append(optimizer.ask(2))
    assert asked[0].shape == (2, 3)
    np.testing.assert_array_equal(asked[0], asked[1])


def test_a_wrong_inference_is_answered_with_the_nearest() -> None:
    with pytest.raises(RequestError, match="inference is 'nut'; expected 'map' or 'nuts'"):
        SaasboConfig(inference="nut")


def test_many_dimensions_are_refused_unless_they_are_asked_for() -> None:
    with pytest.raises(ConfigError, match="dimension is 101; expected at most 100, or a greater"):
        SaasboConfig().build(dimension=101, seed=0)
    assert SaasboConfig(largest=101).build(dimension=101, seed=0).ask(2).shape == (2, 101)
