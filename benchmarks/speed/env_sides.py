"""The ways to step in the tasks that `envs` compares: policies, batches, loops, vectors, processes.

Where a side has no policy it gets actions drawn beforehand. mpe2 plays no policy and no scripted
prey, so it does less work than any side of predator-prey here. On many cores, processes work as
rollout actors do: each runs whole batches of a search, so that little is said between them.

Sides of MuJoCo have episodes of at most MUJOCO_EPISODE_STEPS steps, which end where the body falls.
Counted are steps of bodies that have not fallen.
"""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from itertools import cycle
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.timing import Group, Side
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.threads import available_cores
from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.registry import make_policy

TEAM_TASK: Final = "pred_prey_3"

SEARCH_BATCH: Final = (60, 8)
"""Candidates and episodes of each in a batch of a search."""

PIECE_SECONDS: Final = 0.5
"""Time for which a process works before it tells what it did."""

MUJOCO_EPISODE_STEPS: Final = 50
"""Most steps of an episode: more than a body stands that acts at random, mostly."""

ACTION_COUNT: Final = 997
"""Drawn for a side that plays episode after episode; prime, so that no two are alike."""

EPISODE_BATCH: Final = 64
"""Episodes side by side in a task of this project."""

QUICK_BATCH: Final = 8


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


def own_sides(task_id: str, stack: ExitStack, *, quick: bool) -> list[Side]:
    """Return the sides of a task of this project: on one core, and on all where there are more."""
    batch = QUICK_BATCH if quick else EPISODE_BATCH
    name = f"{task_id}, batch {batch}"
    found = [Side(name=name, run=batched_steps(task_id, batch, 1, stack))]
    if (threads := available_cores()) > 1:
        run = batched_steps(task_id, batch, threads, stack)
        found.append(Side(name=f"{name}, {threads} threads", run=run, cores=threads, clock="wall"))
    return found


def batched_steps(task_id: str, batch: int, threads: int, stack: ExitStack) -> Callable[[], int]:
    """Return a function that runs a batch until all have ended and counts their steps."""
    task = make_task(task_id, horizon=MUJOCO_EPISODE_STEPS, threads=threads)
    stack.callback(task.close)
    spec, rng = task.spec, np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (MUJOCO_EPISODE_STEPS, batch, spec.agents, spec.action_size))
    seeds = episode_seeds(0, Purpose.SEARCH, 0, batch)

    def run() -> int:
        task.reset(seeds)
        steps, done = 0, np.zeros(batch, dtype=bool)
        for joint in actions:
            steps += int((~done).sum())
            _, _, done, _ = task.step(joint)
            if done.all():
                break
        return steps

    run()  # loads the simulator
    return run


def loop_steps(env_id: str, settings: dict[str, Any], stack: ExitStack) -> Callable[[], int]:
    """Return a function that plays an episode of a Gymnasium environment; counts its steps."""
    import gymnasium

    env = gymnasium.make(env_id, max_episode_steps=MUJOCO_EPISODE_STEPS, **settings)
    stack.callback(env.close)
    env.action_space.seed(0)
    actions = cycle([env.action_space.sample() for _ in range(ACTION_COUNT)])

    def run() -> int:
        env.reset()
        for step in range(MUJOCO_EPISODE_STEPS):
            _, _, terminated, truncated, _ = env.step(next(actions))
            if terminated or truncated:
                return step + 1
        return MUJOCO_EPISODE_STEPS

    env.reset(seed=0)
    return run


def vector_steps(
    env_id: str,
    settings: dict[str, Any],
    count: int,
    stack: ExitStack,
    *,
    processes: bool = False,
) -> Callable[[], int]:
    """Return a function that steps a vector of Gymnasium MUJOCO_EPISODE_STEPS times.

    A vector begins an ended episode anew at its next step, which is not counted.

    Args:
        env_id: of Gymnasium.
        settings: of the environment.
        count: environments in it.
        stack: closes it.
        processes: one for each environment.
    """
    import gymnasium

    env = gymnasium.make_vec(
        env_id,
        num_envs=count,
        vectorization_mode="async" if processes else "sync",
        vector_kwargs={"context": "spawn"} if processes else {},
        max_episode_steps=MUJOCO_EPISODE_STEPS,
        **settings,
    )
    stack.callback(env.close)
    env.action_space.seed(0)
    actions = cycle([env.action_space.sample() for _ in range(ACTION_COUNT)])

    def run() -> int:
        env.reset()
        steps, ended = 0, np.zeros(count, dtype=bool)
        for _ in range(MUJOCO_EPISODE_STEPS):
            steps += int((~ended).sum())
            _, _, terminated, truncated, _ = env.step(next(actions))
            ended = terminated | truncated
        return steps

    env.reset(seed=0)
    return run


def robotics_steps(scenario: str, division: str, stack: ExitStack) -> Callable[[], int]:
    """Return a function that plays an episode of mamujoco_v1 and counts its steps."""
    from gymnasium_robotics import mamujoco_v1

    env = mamujoco_v1.parallel_env(scenario, division, max_episode_steps=MUJOCO_EPISODE_STEPS)
    stack.callback(env.close)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    joints = [
        {
            name: rng.uniform(space.low, space.high).astype(space.dtype)
            for name, space in ((name, env.action_space(name)) for name in env.possible_agents)
        }
        for _ in range(ACTION_COUNT)
    ]
    actions = cycle(joints)

    def run() -> int:
        env.reset()
        for step in range(MUJOCO_EPISODE_STEPS):
            env.step(next(actions))
            if not env.agents:
                return step + 1
        return MUJOCO_EPISODE_STEPS

    return run
