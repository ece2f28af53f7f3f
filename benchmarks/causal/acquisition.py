"""The batched acquisition of MCBO against a serial loop over starts, at the same model.

Serial: each of as many random starts as the authors have, 10 times the dimension, is climbed alone
by the same L-BFGS-B. Batched: what `mcbo` does. Both answers are scored by the acquisition itself.
"""

import time
from typing import Any, Final

import numpy as np

from rolecast.core.threads import OneThread
from rolecast.envs.causal.problem import CausalTask
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.mcbo.config import McboConfig, optimism_for, optimistic_value
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel, node_noise
from rolecast.platform.optimizers.mcbo.maximisation import (
    Points,
    best_starts,
    climb,
    drawn_points,
    score,
)
from rolecast.platform.optimizers.mcbo.node_data import Observed

TIMED_TASKS: Final = ("causal:alpine2", "causal:rosenbrock?noise=1")
STARTS_OF_A_DIMENSION: Final = 10
OBSERVED_ROWS: Final = 30

ONE_THREAD: Final = OneThread()


def measure_all(seeds: int, *, quick: bool) -> dict[str, Any]:
    """Return seconds and values of both, by task, a list entry a seed."""
    tasks = TIMED_TASKS[:1] if quick else TIMED_TASKS
    with ONE_THREAD():
        return {
            task: [_measured(task, seed, quick=quick) for seed in range(seeds)] for task in tasks
        }


def _measured(task_id: str, seed: int, *, quick: bool) -> dict[str, float]:
    """Maximise one acquisition both ways, on one thread, by processor time."""
    rng = np.random.default_rng(seed)
    model = _model(task_id, rng)
    config = McboConfig()
    optimism = optimism_for(model)
    value = optimistic_value(
        model, optimism, node_noise(model.space, config.samples, rng, "cpu"), config.beta
    )
    sets = len(model.space.sets)
    none = np.zeros((0, model.space.dimension))
    start = time.process_time()
    points = drawn_points(model.space, optimism.draw, config.raw_samples, none, rng)
    starts = best_starts(points, score(value, points), config.starts, sets)
    batched = score(value, climb(value, starts, optimism.bounds, steps=config.steps)).max()
    batched_s = time.process_time() - start

    dimension = model.space.size + len(model.processes) - 1
    count = 3 if quick else STARTS_OF_A_DIMENSION * dimension
    start = time.process_time()
    others = drawn_points(model.space, optimism.draw, count, none, rng)
    best = -np.inf
    for row in range(len(others)):
        alone: Points = others[slice(row, row + 1)]
        end = climb(value, alone, optimism.bounds, steps=config.steps)
        best = max(best, float(score(value, end)[0]))
    serial_s = time.process_time() - start
    return {
        "batched_s": round(batched_s, 3),
        "serial_s": round(serial_s, 3),
        "times_as_fast": round(serial_s / batched_s, 1),
        "batched_value": float(batched),
        "serial_value": best,
        "serial_starts": float(len(others)),
    }


def _model(task_id: str, rng: np.random.Generator) -> GraphModel:
    """Return the model after random interventions."""
    task = make_task(task_id)
    assert isinstance(task, CausalTask), "a causal task"
    space = task.problem.space
    points = rng.random((OBSERVED_ROWS, space.dimension))
    seeds = rng.integers(1 << 60, size=len(points), dtype=np.uint64)
    nodes = task.problem.simulator.draw(space.values(points), seeds)
    values = np.stack([nodes[name] for name in space.graph.names], axis=1)
    noise = np.array([node.noise.deviation**2 for node in space.graph.nodes])
    return GraphModel(space, Observed(points, values, np.tile(noise, (len(points), 1))))
