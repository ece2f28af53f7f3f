"""Predator-prey, as compiled and as numpy, against mpe2's simple_tag; drone delivery; many cores.

mpe2 gets actions drawn beforehand and plays no policy and no scripted prey, so it does less work
than any side here. On many cores, processes work as rollout actors do: each runs whole batches of a
search, so that little is said between them.
"""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from importlib.util import find_spec
from typing import Final

import numpy as np

from rolecast.benchmarks.timing import Group, Side
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.threads import available_cores
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.registry import make_policy

TEAM_TASK: Final = "pred_prey_3"
DRONE_TASK: Final = "drone_delivery_3"
TIMED_POLICIES: Final = ("hom", "mlp")
BASE_SIDE: Final = "mpe2 simple_tag_v3 without a policy"

EPISODE_BATCHES: Final = (1, 32, 1024, 8192)
"""Episodes side by side, of one policy."""

QUICK_BATCHES: Final = (1, 32, 1024)

SEARCH_BATCH: Final = (60, 8)
"""Candidates and episodes of each in a batch of a search."""

PIECE_SECONDS: Final = 0.5
"""Time for which a process works before it tells what it did."""


def predator_prey(*, quick: bool) -> Group:
    """Return the sides of predator-prey; one core each.

    Args:
        quick: leave out the largest batch.
    """
    batches = QUICK_BATCHES if quick else EPISODE_BATCHES
    sides = [
        Side(name=f"{TEAM_TASK} with {name}", run=policy_steps(TEAM_TASK, name, *SEARCH_BATCH))
        for name in TIMED_POLICIES
    ]
    sides += [
        Side(
            name=f"{TEAM_TASK} with {name}, batch {batch}",
            run=policy_steps(TEAM_TASK, name, 1, batch),
        )
        for name in TIMED_POLICIES
        for batch in batches
    ]
    sides += [
        Side(name=f"{TEAM_TASK} in numpy without a policy, batch {batch}", run=numpy_steps(batch))
        for batch in batches
    ]
    missing = {}
    if find_spec("mpe2"):
        sides.append(Side(name=BASE_SIDE, run=simple_tag_steps(1)))
    else:
        missing[BASE_SIDE] = "pip install mpe2"
    return Group(
        title="Predator-prey", sides=sides, base=BASE_SIDE, ratio="ratio_to_mpe2", missing=missing
    )


def drone_delivery(*, quick: bool) -> Group:
    """Return the sides of drone delivery, for which there is nothing to compare with.

    Args:
        quick: leave out the largest batch.
    """
    sides = [
        Side(name=f"{DRONE_TASK} with {name}", run=policy_steps(DRONE_TASK, name, *SEARCH_BATCH))
        for name in TIMED_POLICIES
    ]
    return Group(title="Drone delivery", sides=sides)


def policy_steps(task_id: str, name: str, candidates: int, episodes: int) -> Callable[[], int]:
    """Return a function that runs whole episodes as a search does and counts their steps.

    Args:
        task_id: of the task.
        name: of the policy.
        candidates: P, policies that differ.
        episodes: E, of each.
    """
    task = make_task(task_id)
    policy = make_policy(name, task)
    rng = np.random.default_rng(0)
    weights = policy.space.weights(rng.random((candidates, policy.space.size)))
    seeds = episode_seeds(0, Purpose.SEARCH, 0, episodes)

    def run() -> int:
        return rollout(task, policy, weights, seeds).env_steps

    run()  # compiles, or loads what was compiled before
    return run


def numpy_steps(batch: int) -> Callable[[], int]:
    """Return a function that steps a batch by the batched contract, and counts its steps."""
    task = make_task(TEAM_TASK)
    seeds = episode_seeds(0, Purpose.SEARCH, 0, batch)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (batch, task.spec.agents, 2))

    def run() -> int:
        task.reset(seeds)
        for _ in range(task.spec.horizon):
            task.step(actions)
        return batch * task.spec.horizon

    return run


def simple_tag_steps(episodes: int) -> Callable[[], int]:
    """Return a function that plays episodes of mpe2's simple_tag and counts their steps."""
    from mpe2 import simple_tag_v3

    env = simple_tag_v3.parallel_env(
        num_good=1, num_adversaries=3, num_obstacles=2, max_cycles=25, continuous_actions=True
    )
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = [
        {name: rng.random(5, dtype=np.float32) for name in env.possible_agents} for _ in range(25)
    ]

    def run() -> int:
        steps = 0
        for episode in range(episodes):
            env.reset(seed=episode)
            for joint in actions:
                env.step(joint)
                steps += 1
        return steps

    return run


def all_cores(stack: ExitStack, *, quick: bool) -> Group:
    """Return the sides: `hom` on one core, and on 2, 4, ... up to all.

    Args:
        stack: ends the processes.
        quick: in short pieces.
    """
    most = available_cores()
    counts = sorted({2**power for power in range(most.bit_length()) if 2**power <= most} | {most})
    seconds = 0.05 if quick else PIECE_SECONDS
    sides = [
        Side(
            name=_processes(count), run=_together(stack, count, seconds), cores=count, clock="wall"
        )
        for count in counts
    ]
    return Group(title="Cores", sides=sides, base=_processes(1), ratio="ratio_to_one_core")


def _processes(count: int) -> str:
    return f"{TEAM_TASK} with hom, {count} process" + ("es" if count > 1 else "")


def _together(stack: ExitStack, count: int, seconds: float) -> Callable[[], int]:
    """Return a function that has so many processes work for some time, and counts their steps."""
    spawn = multiprocessing.get_context("spawn")
    pool = stack.enter_context(ProcessPoolExecutor(count, mp_context=spawn))

    def run() -> int:
        return sum(pool.map(_work, [seconds] * count))

    run()  # starts the processes, which load what was compiled before
    return run


def _work(seconds: float) -> int:
    """Run batches of a search for so long; return the env steps."""
    run, steps, start = _batch(), 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        steps += run()
    return steps


@lru_cache(maxsize=1)
def _batch() -> Callable[[], int]:
    """Return what runs one batch, prepared once a process."""
    return policy_steps(TEAM_TASK, "hom", *SEARCH_BATCH)
