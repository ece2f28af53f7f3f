"""The batched acquisition of MCBO against a serial loop over starts, at the same model.

Serial: each of as many random starts as the authors have, 10 times the dimension, is climbed alone
by the same L-BFGS-B. Batched: what `mcbo` does, from 12 starts; and from the serial loop's starts,
all together. All answers are scored by the acquisition itself.
On CUDA the batched one alone, with the starts of a plan and with as many as the authors have.
"""

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from rolecast.core.threads import OneThread
from rolecast.envs.causal.problem import CausalTask
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.mcbo.config import (
    McboConfig,
    OptimisticProposer,
    optimism_for,
    optimistic_value,
)
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel, node_noise
from rolecast.platform.optimizers.mcbo.maximisation import (
    Points,
    climb,
    drawn_points,
    score,
)
from rolecast.platform.optimizers.mcbo.node_data import Observed

TIMED_TASKS: Final = ("causal:alpine2", "causal:rosenbrock?noise=1")
STARTS_OF_A_DIMENSION: Final = 10
OBSERVED_ROWS: Final = 30

START_COUNTS: Final = (
    (McboConfig.starts, McboConfig.raw_samples),
    (120, 2560),
    (1000, 10000),
)
"""Starts, and points of which they are the best: the defaults; ten times as many; the authors'."""

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
    none = np.zeros((0, model.space.dimension))
    start = time.process_time()
    _, batched = OptimisticProposer(config).propose(model, none, np.random.default_rng(seed))
    batched_s = time.process_time() - start

    dimension = model.space.size + len(model.processes) - 1
    count = 3 if quick else STARTS_OF_A_DIMENSION * dimension
    optimism = optimism_for(model)
    # The same samples of the noise as above: they are drawn first.
    noise = node_noise(model.space, config.samples, np.random.default_rng(seed), config.device)
    value = optimistic_value(model, optimism, noise, config.beta)
    start = time.process_time()
    others = drawn_points(model.space, optimism.draw, count, none, rng)
    best = -np.inf
    for row in range(len(others)):
        alone: Points = others[slice(row, row + 1)]
        end = climb(value, alone, optimism.bounds, steps=config.steps)
        best = max(best, float(score(value, end)[0]))
    serial_s = time.process_time() - start
    start = time.process_time()
    ends = climb(value, others, optimism.bounds, steps=config.steps)
    together = float(score(value, ends).max())
    together_s = time.process_time() - start
    return {
        "batched_s": round(batched_s, 3),
        "serial_s": round(serial_s, 3),
        "same_starts_s": round(together_s, 3),
        "times_as_fast": round(serial_s / batched_s, 1),
        "times_as_fast_same_starts": round(serial_s / together_s, 1),
        "batched_value": batched,
        "serial_value": best,
        "same_starts_value": together,
        "serial_starts": float(len(others)),
    }


def measure_device(device: str, *, quick: bool, note: Callable[[str], None]) -> list[Any]:
    """Return seconds by the clock of acquisitions on one core, as searches have it, and a device.

    Args:
        device: of torch, such as cuda.
        quick: few starts on one task alone.
        note: told of each measurement.
    """
    rows = []
    for task_id in TIMED_TASKS[: 1 if quick else None]:
        for starts, points in START_COUNTS[: 1 if quick else None]:
            row: dict[str, Any] = {"task": task_id, "starts": starts, "points": points}
            for side, place in (("cpu", "cpu"), ("device", device)):
                config = McboConfig(starts=starts, raw_samples=points, device=place)
                with ONE_THREAD():
                    row[f"{side}_s"], row[f"{side}_value"] = _timed(task_id, config)
            rows.append(row | {"times_cpu": round(row["cpu_s"] / row["device_s"], 2)})
            note(f"{task_id}, {starts} starts: {rows[-1]['times_cpu']} times one core")
    return rows


def _timed(task_id: str, config: McboConfig) -> tuple[float, float]:
    """Return the seconds of the second of two equal maximisations, and its value."""
    found = seconds = np.nan
    for _ in range(2):
        rng = np.random.default_rng(0)
        model = _model(task_id, rng, config.device)
        none = np.zeros((0, model.space.dimension))
        start = time.perf_counter()
        _, found = OptimisticProposer(config).propose(model, none, rng)
        seconds = time.perf_counter() - start
    return round(seconds, 3), found


def _model(task_id: str, rng: np.random.Generator, device: str = "cpu") -> GraphModel:
    """Return the model after random interventions."""
    task = make_task(task_id)
    assert isinstance(task, CausalTask), "a causal task"
    space = task.problem.space
    points = rng.random((OBSERVED_ROWS, space.dimension))
    seeds = rng.integers(1 << 60, size=len(points), dtype=np.uint64)
    nodes = task.problem.simulator.draw(space.values(points), seeds)
    values = np.stack([nodes[name] for name in space.graph.names], axis=1)
    noise = np.array([node.noise.deviation**2 for node in space.graph.nodes])
    observed = Observed(points, values, np.tile(noise, (len(points), 1)))
    return GraphModel(space, observed, device=device)
