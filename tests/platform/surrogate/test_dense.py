"""Algebra on a device is that in memory; names of devices that cannot be are refused."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.core.errors import ConfigError
from rolecast.platform.surrogate import dense
from rolecast.platform.surrogate.gp import Posterior, extend, fit
from rolecast.platform.surrogate.kernels import CliqueSum

N, K, D = 30, 7, 5
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def kernel(device: torch.device | None) -> CliqueSum:
    return CliqueSum([(0, 1, 2), (2, 3, 4)], np.ones(2), np.full(2, 0.5), device=device)


def data() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return rng.random((N + K, D)), rng.standard_normal(N + K), rng.uniform(0.1, 0.2, N + K)


def test_a_process_on_a_device_is_the_one_in_memory() -> None:
    points, targets, noise = data()
    queries = np.random.default_rng(1).random((6, D))
    found = []
    for device in (None, DEVICE):
        own = kernel(device)
        known = fit(own.matrix(points[:N], points[:N]), targets[:N], noise[:N])
        posterior = Posterior(own, points[:N], known).extended(points, targets, noise)
        assert isinstance(posterior.fit.factor, np.ndarray) == (device is None)
        mean, deviation = posterior.mean_and_deviation(queries)
        numbers = np.array([posterior.fit.scale, posterior.fit.log_evidence])
        slope = posterior.mean_gradient(queries[0])
        found.append(
            (mean, deviation, posterior.mean(queries), posterior.fit.weights, numbers, slope)
        )
    for one, other in zip(*found, strict=True):
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(other, one, rtol=0.0, atol=1e-10)


def test_what_extends_a_factor_on_a_device_is_the_factor_of_all() -> None:
    points, targets, noise = data()
    own = kernel(DEVICE)
    whole = fit(own.matrix(points, points), targets, noise)
    known = fit(own.matrix(points[:N], points[:N]), targets[:N], noise[:N])
    cross, corner = own.matrix(points[:N], points[N:]), own.matrix(points[N:], points[N:])
    grown = extend(known, cross, corner, targets, noise[N:])
    torch.testing.assert_close(grown.factor, whole.factor)
    assert grown.log_evidence == pytest.approx(whole.log_evidence)


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "CPU", "", 0, None])
def test_what_is_no_name_of_a_device_is_refused(name: Any) -> None:
    with pytest.raises(ConfigError, match=r"Config\.device is .*; expected cpu, cuda, or cuda:1"):
        dense.check_device("Config.device", name)


def test_a_device_that_is_not_there_is_refused() -> None:
    assert dense.find_device("device", "cpu") is None
    absent = f"cuda:{torch.cuda.device_count()}"
    with pytest.raises(ConfigError, match=f"device is '{absent}'; expected cpu, or one of"):
        dense.find_device("device", absent)


def test_free_memory_is_that_of_the_place() -> None:
    assert dense.free_memory(None) > 2**20
    assert dense.free_memory(DEVICE) > 2**20
