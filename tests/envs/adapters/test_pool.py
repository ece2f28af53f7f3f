from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rolecast.core.errors import RequestError
from rolecast.envs.registry import make_task


class Still(gymnasium.Env[Any, Any]):
    """An environment in which nothing happens."""

    observation_space = spaces.Box(-1.0, 1.0, (1,))
    action_space = spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return np.zeros(1), {}

    def step(self, action: Any) -> Any:
        return np.zeros(1), 0.0, False, False, {}


def test_a_factory_that_returns_one_object_for_two_episodes_is_refused() -> None:
    env = Still()
    task = make_task(lambda: env, horizon=5)
    task.reset(np.zeros(1, dtype=np.uint64))
    with pytest.raises(RequestError, match="expected a new environment from each call"):
        task.reset(np.arange(2, dtype=np.uint64))
