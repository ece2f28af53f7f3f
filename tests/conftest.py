"""What tests share: one real Ray cluster a run, and how histories are compared."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from rolecast.envs.errors import RequestError
from rolecast.envs.registry import make_task
from rolecast.platform.search.run_folder import read_history

# The same examples in each run, so that a run that is red says something of the change before it;
# `pytest --hypothesis-profile default` looks for new ones.
settings.register_profile("rolecast", derandomize=True, deadline=None)
settings.load_profile("rolecast")


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[str]:
    """Connect to a cluster of two CPUs, started on free ports; return its address."""
    import ray

    context: Any = ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False
    )
    yield str(context.address_info["gcs_address"])
    ray.shutdown()


@pytest.fixture
def same_history() -> Callable[[Path, Path], None]:
    """Return an assertion: two runs have the same history in all columns but `wall_time_s`."""

    def check(one: Path, other: Path) -> None:
        left, right = (frame_of(read_history(path)) for path in (one, other))
        pd.testing.assert_frame_equal(left, right, check_exact=True)

    return check


def frame_of(history: pd.DataFrame) -> pd.DataFrame:
    """Return a history in a form that can be compared exactly."""

    def plain(value: Any) -> Any:
        return tuple(value.tolist()) if isinstance(value, np.ndarray) else value

    return history.drop(columns="wall_time_s").map(plain)


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Let Ctrl-C reach the tests where a shell started them in the background, deaf to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def screen() -> None:
    """Skip where a machine has neither EGL nor OSMesa; it ends when their libraries are there."""
    task: Any = make_task("hopper")
    task.reset(np.array([1], dtype=np.uint64))
    try:
        task.frame()
    except RequestError as refused:
        pytest.skip(str(refused))
    finally:
        task.close()
