import os

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.envs.mujoco.pool import SimulationPool, usable_threads
from rolecast.envs.mujoco.robots import ROBOT_MODELS


@pytest.mark.parametrize(
    ("variable", "asked", "expected"),
    [("1", None, 1), ("3,2", None, 3), ("1", 4, 4), ("many", 2, 2)],
)
def test_threads_are_as_asked_or_as_the_environment_says(
    variable: str, asked: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert usable_threads(asked) == expected


@pytest.mark.parametrize("variable", [None, "many", "0"])
def test_without_a_limit_each_core_has_a_thread(
    variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert 1 <= usable_threads(None) <= (os.cpu_count() or 1)


@pytest.mark.parametrize("asked", [0, -1, 1.5, True])
def test_a_wrong_number_of_threads_is_refused(asked: object) -> None:
    with pytest.raises(ConfigError, match="threads is"):
        usable_threads(asked)  # type: ignore[arg-type]


def test_a_fault_on_a_thread_is_raised() -> None:
    pool = SimulationPool(ROBOT_MODELS["swimmer"], threads=3)
    pool.resize(3)
    with pytest.raises(ValueError, match="broadcast"):
        pool.advance([0, 1, 2], np.zeros((3, 7)))
    pool.close()
