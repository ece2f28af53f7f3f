"""A small DUETS run, and brute-force references."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.domain import Box
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol

Protocols = Callable[..., DuetsProtocol]


@pytest.fixture
def protocol() -> Protocols:
    """Return a function from settings to the protocol of a small run in two dimensions."""

    def build(**settings: Any) -> DuetsProtocol:
        given = {
            "domain": Box.unit(2),
            "kernel": StationaryKernel("squared_exponential", 0.3),
            "agents": 4,
            "rounds": 30,
            "seed": 3,
            **settings,
        }
        return DuetsProtocol(**given)

    return build


@pytest.fixture
def bump() -> Callable[[Float], Float]:
    """Return a function of the kernel's space with norm 1 and maximum 1 at (0.3, 0.6)."""
    kernel, centre = StationaryKernel("squared_exponential", 0.3), np.array([[0.3, 0.6]])

    def value(points: Float) -> Float:
        flat = points.reshape(-1, 2)
        return kernel.matrix(flat, centre)[:, 0].reshape(points.shape[:-1])

    return value
