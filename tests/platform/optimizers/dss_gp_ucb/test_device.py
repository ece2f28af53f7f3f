"""A search whose matrices are on a device goes where the one in memory goes."""

from typing import Any

import numpy as np
import pytest
import torch

from rolecast.core.errors import ConfigError
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.local_gp import model
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.protocol import Optimizer

D = 8
CLIQUES = ((0, 1), (2, 3, 4), (5, 6))
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def run(*searches: Optimizer, batches: range) -> None:
    """Ask and tell; all are asked, and must answer as the first."""
    for batch in batches:
        points = searches[0].ask(20)
        noise = 0.1 * np.random.default_rng(batch).standard_normal(20)
        returns = -np.square(points - 0.3).sum(1) + np.sin(9.0 * points[:, 0] * points[:, 1])
        for other in searches[1:]:
            np.testing.assert_array_equal(other.ask(20), points)
        for search in searches:
            search.tell(points, returns + noise, np.full(20, 0.1))


@pytest.mark.parametrize(
    "settings",
    [
        {"configuration": "local", "cliques": CLIQUES},
        {"configuration": "local", "cliques": CLIQUES, "acquisition": "thompson"},
        {"acquisition": "ucb"},
        {"cliques": CLIQUES, "acquisition": "log_ei", "groups": tuple(range(D))},
    ],
)
def test_it_goes_where_the_one_in_memory_goes(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = DssGpUcbConfig(**settings).build(dimension=D, seed=0)
    run(here, batches=range(8))
    monkeypatch.setattr(model, "find_device", lambda field, name: DEVICE)
    there = DssGpUcbConfig(**settings).build(dimension=D, seed=0)
    run(there, batches=range(4))
    restored = DssGpUcbConfig(**settings).build(dimension=D, seed=0)
    restored.load_state_dict(there.state_dict())
    run(there, restored, batches=range(4, 8))
    # In single precision, where a policy is searched, the CPU and the device differ in 1e-6.
    atol = 1e-5 if "groups" in settings else 1e-10
    np.testing.assert_allclose(there.best(), here.best(), rtol=0.0, atol=atol)


@pytest.mark.parametrize("config", [LocalGpConfig, DssGpUcbConfig])
def test_a_device_that_is_not_there_is_refused_before_anything_is_evaluated(config: Any) -> None:
    absent = f"cuda:{torch.cuda.device_count()}"
    search = config(device=absent).build(dimension=D, seed=0)
    with pytest.raises(ConfigError, match=rf"Config\.device is '{absent}'; expected cpu, or one"):
        search.ask(3)


def test_what_is_no_device_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"LocalGpConfig\.device is 'gpu'; expected cpu, cuda"):
        LocalGpConfig(device="gpu")
