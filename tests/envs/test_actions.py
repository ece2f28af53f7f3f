"""What every batched task says of actions that cannot be taken."""

import numpy as np
import pytest

from rolecast.core.errors import ConfigError
from rolecast.envs.registry import make_task


@pytest.mark.parametrize(
    "task_id",
    ["pred_prey_3", "drone_delivery_3", "ma_hopper_3x1", "pettingzoo:mpe2.simple_spread_v3?N=3"],
)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_action_that_is_not_finite_is_named_by_agent_episode_and_step(
    task_id: str, bad: float
) -> None:
    task = make_task(task_id)
    task.reset(np.arange(4, dtype=np.uint64))
    actions = np.zeros((4, task.spec.agents, task.spec.action_size))
    task.step(actions)
    actions[2, 1, 0] = bad
    try:
        with pytest.raises(ConfigError, match=f"agent 1 in episode 2 at step 2 is {bad}; expected"):
            task.step(actions)
    finally:
        task.close()
