"""What the tests of policies share: specs of teams, random teams, and the layout in lanes."""

from collections.abc import Callable

import numpy as np
import pytest

from rolecast.core.types import LANE_COUNT, Float, Float32
from rolecast.envs.spec import TaskSpec
from rolecast.policies.protocol import Policy

MakeSpec = Callable[..., TaskSpec]
ThroughLanes = Callable[[Policy, Float, Float, int], Float]


@pytest.fixture(scope="session")
def spec() -> MakeSpec:
    """Return a function that makes a TaskSpec."""

    def make(
        agents: int, observation_size: int = 5, action_size: int = 2, task_id: str = "team"
    ) -> TaskSpec:
        return TaskSpec(
            id=task_id,
            agents=agents,
            observation_size=observation_size,
            action_size=action_size,
            horizon=25,
        )

    return make


@pytest.fixture(scope="session")
def draw() -> Callable[..., tuple[Float, Float]]:
    """Return a function that draws weights [rows, D] in the cube and observations [rows, n, do]."""

    def teams(policy: Policy, spec: TaskSpec, rows: int, seed: int = 0) -> tuple[Float, Float]:
        rng = np.random.default_rng(seed)
        weights = policy.space.weights(rng.random((rows, policy.space.size)))
        return weights, rng.normal(size=(rows, spec.agents, spec.observation_size))

    return teams


@pytest.fixture(scope="session")
def through_lanes() -> ThroughLanes:
    """Return a function that acts by the compiled face: row r of weights on observations r."""

    def act(policy: Policy, weights: Float, observations: Float, action_size: int) -> Float:
        blocks, agents = len(weights) // LANE_COUNT, observations.shape[1]

        def lanes(rows: Float) -> Float32:
            folded = rows.astype(np.float32).reshape(blocks, LANE_COUNT, *rows.shape[1:])
            return np.ascontiguousarray(np.moveaxis(folded, 1, -1))

        actions = np.full((blocks, agents, action_size, LANE_COUNT), np.nan, dtype=np.float32)
        policy.lanes().act(lanes(weights), lanes(observations), actions)
        return np.moveaxis(actions, -1, 1).reshape(-1, agents, action_size).astype(np.float64)

    return act
