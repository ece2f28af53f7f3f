"""What random interventions on a causal task gave."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.problem import CausalTask
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.mcbo.node_data import Observed
from rolecast.platform.optimizers.mcbo.search import initial_design


def problem_of(task_id: str) -> Any:
    task = make_task(task_id)
    assert isinstance(task, CausalTask)
    return task.problem


def observed_rows(task_id: str, count: int, seed: int = 0) -> tuple[InterventionSpace, Observed]:
    """Return what random interventions on a task gave."""
    problem, rng = problem_of(task_id), np.random.default_rng(seed)
    space: InterventionSpace = problem.space
    design = initial_design(space, rng)
    points = np.concatenate([design, rng.random((max(0, count - len(design)), space.dimension))])
    chosen, places = space.decode(points[:count])
    points = space.encode(chosen, places)
    nodes = problem.simulator.draw(space.values(points), rng.integers(1 << 60, size=len(points)))
    values = np.stack([nodes[name] for name in space.graph.names], axis=1)
    noise = np.array([node.noise.deviation**2 for node in space.graph.nodes])
    return space, Observed(points, values, np.tile(noise, (len(points), 1)))


@pytest.fixture(scope="session")
def observed() -> Callable[..., tuple[InterventionSpace, Observed]]:
    return observed_rows
