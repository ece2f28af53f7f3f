"""Reference trajectories: `pred_prey_golden.npz` holds 4 episodes of 25 steps for n = 3, 6 and 9.

They were computed in float64 by the physics of the public FACMAC code (`continuous_pred_prey_3a`,
`_6a`, `_9a`), replayed to the last bit by a second, separately written simulator.
"""

from pathlib import Path

import numpy as np
import pytest

from rolecast.envs.counter_random import episode_keys
from rolecast.envs.errors import ConfigError, RequestError
from rolecast.envs.predator_prey import (
    observation_size,
    observe,
    parameters,
    start_positions,
    transition,
)
from rolecast.envs.predator_prey.physics import contact_forces

GOLDEN = dict(np.load(Path(__file__).with_name("pred_prey_golden.npz")))


@pytest.mark.parametrize("n", [3, 6, 9])
def test_the_physics_reproduces_the_reference_trajectories(n: int) -> None:
    params = parameters(n)
    golden = {key[3:]: value for key, value in GOLDEN.items() if key.startswith(f"n{n}_")}
    positions = golden["entity_positions_0"]
    velocities = np.zeros((4, params.movers, 2))
    for step in range(25):
        positions, velocities, reward = transition(
            params,
            positions,
            velocities,
            golden["predator_actions"][:, step],
            golden["prey_forces"][:, step],
        )
        seen = observe(params, positions, velocities, "full")
        close = {"rtol": 0.0, "atol": 1e-9}
        np.testing.assert_allclose(
            positions[:, : params.movers], golden["positions"][:, step], **close
        )
        np.testing.assert_allclose(velocities, golden["velocities"][:, step], **close)
        np.testing.assert_allclose(reward, golden["team_reward"][:, step], **close)
        np.testing.assert_allclose(seen, golden["observations"][:, step], **close)
