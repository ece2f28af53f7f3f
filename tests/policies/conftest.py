"""What the tests of policies share: specs of teams, random teams, and the layout in lanes."""

from collections.abc import Callable

import pytest

from rolecast.core.types import Float
from rolecast.envs.spec import TaskSpec
from rolecast.policies.protocol import Policy
from rolecast.testing.policies import drawn
from rolecast.testing.policies import through_lanes as rows_through_lanes

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
    return drawn


@pytest.fixture(scope="session")
def through_lanes() -> ThroughLanes:
    """Return a function that acts by the compiled face: row r of weights on observations r."""
    return rows_through_lanes
