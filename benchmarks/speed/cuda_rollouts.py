"""Batches of compiled tasks on CUDA beside all cores of the CPU: time, and agreement of returns.

Both play the same episodes, the CPU in parts of the size that is the fastest here. The device's
time is that of beginning them on the CPU, and that of playing them; compilation is not in it.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from statistics import median
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import keyed_table
from rolecast.benchmarks.timing import digits
from rolecast.core.errors import RequestError
from rolecast.core.threads import available_cores
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.compiled_episodes import play_compiled
from rolecast.platform.rollout.played import Episodes, Played
from rolecast.platform.rollout.sizes import COMPILED_LANES
from rolecast.policies.registry import make_policy

ROLLOUT_TASKS: Final = ("pred_prey_3", "drone_delivery_3")
ROLLOUT_POLICIES: Final = ("mlp", "hom")

ROLLOUT_BATCHES: Final = ((60, 8), (60, 256), (60, 2048))
"""Candidates, and episodes of each: a plan's batch, and larger ones."""

ROLLOUT_REPEATS: Final = 3
"""Measurements in turn, of which the medians are told; one of each before does not count."""

PART_LANES: Final = (16, 64, 256, COMPILED_LANES)
"""Episodes that a thread of the CPU plays at once: small for many cores, large for few calls."""

MOST_PARTS: Final = 512
"""Parts beyond which a size is not tried: calls from Python would take all the time."""

EQUAL_RETURNS: Final = 1e-3
"""Difference up to which two returns count as equal; those of predator-prey are whole."""

ROLLOUT_COLUMNS: Final = (
    ("task", "task"),
    ("policy", "policy"),
    ("candidates", "candidates"),
    ("episodes", "episodes"),
    ("at once on a core", "part"),
    ("CPU, s", "cpu_s"),
    ("begun, s", "begun_s"),
    ("played, s", "played_s"),
    ("times the CPU", "times_cpu"),
    ("M env steps/s", "million_steps_s"),
    ("equal returns", "equal_share"),
    ("mean return", "mean_return"),
    ("less the CPU's", "mean_difference"),
)
"""Names and keys of the columns."""


def measure_rollouts(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """Return JSON values: what was measured on, and a row for each batch.

    Args:
        quick: the smallest batch of one task alone.
        note: told of each measurement.
    Raises:
        RequestError: there is no device, or no numba-cuda.
    """
    device = require_numba_cuda()
    tasks, batches = ROLLOUT_TASKS[: 1 if quick else None], ROLLOUT_BATCHES[: 1 if quick else None]
    rows = []
    for task_id in tasks:
        for policy in ROLLOUT_POLICIES:
            for candidates, episodes in batches:
                rows.append(_measured(task_id, policy, candidates, episodes))
                note(f"{task_id}, {policy}, {candidates} x {episodes}: {rows[-1]['times_cpu']}")
    return {"device": device, "cores": available_cores(), "rows": rows}


def require_numba_cuda() -> str:
    """Return the name of the device.

    Raises:
        RequestError: there is none, or no numba-cuda.
    """
    if find_spec("numba_cuda") is None:
        raise RequestError("numba-cuda is missing; expected pip install 'rolecast[cuda]'")
    from numba import cuda

    if not cuda.is_available():
        raise RequestError("numba-cuda sees no device here; expected one for this --part")
    name = cuda.get_current_device().name
    return str(name.decode() if isinstance(name, bytes) else name)


def _measured(task_id: str, policy_name: str, candidates: int, episodes: int) -> dict[str, Any]:
    """Return the row of one batch."""
    from rolecast.platform.rollout.cuda_episodes import CudaEpisodes

    task = make_task(task_id)
    policy = make_policy(policy_name, task)
    rng = np.random.default_rng(0)
    asked = Episodes(
        task=task,
        policy=policy,
        weights=policy.space.weights(rng.random((candidates, policy.space.dimension))),
        candidate=np.repeat(np.arange(candidates), episodes),
        seeds=np.tile(np.arange(episodes, dtype=np.uint64), candidates),
        summed=None,
    )
    with ThreadPoolExecutor(available_cores()) as pool:
        size, cpu_s, ours = _fastest(pool, asked)
    seconds = []
    for _ in range(1 + ROLLOUT_REPEATS):
        start = time.perf_counter()
        running = CudaEpisodes(asked)
        begun = time.perf_counter()
        theirs = running.play()
        seconds.append((begun - start, time.perf_counter() - begun))
    task.close()
    begun_s, played_s = (median(column) for column in zip(*seconds[1:], strict=True))
    return {
        "task": task_id,
        "policy": policy_name,
        "candidates": candidates,
        "episodes": episodes,
        "part": size,
        "cpu_s": digits(cpu_s),
        "begun_s": digits(begun_s),
        "played_s": digits(played_s),
        "times_cpu": digits(cpu_s / (begun_s + played_s)),
        "million_steps_s": digits(theirs.size * task.spec.horizon / played_s / 1e6),
        "equal_share": digits(float(np.mean(np.abs(ours - theirs) <= EQUAL_RETURNS))),
        "mean_difference": digits(float(np.mean(theirs) - np.mean(ours))),
        "mean_return": digits(float(np.mean(theirs))),
    }


def _fastest(pool: ThreadPoolExecutor, asked: Episodes) -> tuple[int, float, Float]:
    """Return the size of parts that is the fastest, its median seconds, and the returns [L]."""

    def timed(size: int) -> tuple[float, Float]:
        start = time.perf_counter()
        parts = list(pool.map(_alone, asked.parts(size)))
        return time.perf_counter() - start, np.concatenate([part.returns for part in parts])

    timed(COMPILED_LANES)  # kernels are loaded
    sizes = [size for size in PART_LANES if asked.seeds.size / size <= MOST_PARTS]
    tried = {size: timed(size)[0] for size in sizes}
    best = min(tried, key=tried.__getitem__)
    runs = [timed(best) for _ in range(ROLLOUT_REPEATS)]
    return best, median(seconds for seconds, _ in runs), runs[0][1]


def _alone(part: Episodes) -> Played:
    return play_compiled(part, 0)


def markdown(found: Mapping[str, Any]) -> list[str]:
    """Return the part of the page that shows `measure_rollouts`."""
    rows: Sequence[Mapping[str, Any]] = found["rows"]
    return [
        f"Episodes on a GPU ({found['device']}) beside all {found['cores']} cores of its machine,",
        "medians of three. `begun` is what the CPU does first. `times the CPU` counts both; env",
        "steps a second count `played` alone. The CPU plays parts of the size that is the fastest.",
        "",
        keyed_table(ROLLOUT_COLUMNS, rows),
        "",
    ]
