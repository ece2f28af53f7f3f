"""The MuJoCo tasks against Gymnasium's environments and vectors, and gymnasium-robotics'.

All sides get actions drawn beforehand, uniformly, in episodes of at most MOST_STEPS steps that end
where the body falls; what is counted are steps of bodies that have not fallen.
"""

from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import cycle
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.timing import Group, Side
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.threads import available_cores
from rolecast.envs.registry import make_task

MOST_STEPS: Final = 50
"""Most steps of an episode: more than a body stands that acts at random, mostly."""

ACTION_COUNT: Final = 997
"""Drawn for a side that plays episode after episode; prime, so that no two are alike."""

EPISODE_BATCH: Final = 64
"""Episodes side by side in a task of this project."""

QUICK_BATCH: Final = 8

VECTOR_SIZE: Final = 8
"""Environments in a vector of Gymnasium."""

QUICK_VECTOR: Final = 2

WHOLE_BODIES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "hopper": ("Hopper-v5", {}),
    "ant": ("Ant-v5", {"include_cfrc_ext_in_observation": False}),
}
"""Task to the environment of Gymnasium, with settings that make it show the same."""

DIVIDED_BODIES: Final = {"ma_hopper_3x1": ("Hopper", "3x1"), "ma_ant_4x2": ("Ant", "4x2")}
"""Task to scenario and division of gymnasium-robotics."""


def whole_body(task_id: str, stack: ExitStack, *, quick: bool) -> Group:
    """Return a task of one agent beside a loop, a vector and a vector of processes of Gymnasium.

    Args:
        task_id: one of `WHOLE_BODIES`.
        stack: closes what the sides hold, processes among it.
        quick: few episodes side by side.
    """
    env_id, settings = WHOLE_BODIES[task_id]
    base, count = f"Gymnasium {env_id} in a loop", QUICK_VECTOR if quick else VECTOR_SIZE
    sides = [
        *own_sides(task_id, stack, quick=quick),
        Side(name=base, run=loop_steps(env_id, settings, stack)),
        Side(
            name=f"Gymnasium {env_id}, SyncVectorEnv of {count}",
            run=vector_steps(env_id, settings, count, stack),
        ),
        Side(
            name=f"Gymnasium {env_id}, AsyncVectorEnv of {count}",
            run=vector_steps(env_id, settings, count, stack, processes=True),
            cores=available_cores(),
            clock="wall",
        ),
    ]
    return Group(title=f"MuJoCo: {task_id}", sides=sides, base=base, ratio="ratio_to_gymnasium")


def divided_body(task_id: str, stack: ExitStack, *, quick: bool) -> Group:
    """Return a task of many agents beside gymnasium-robotics, if that is installed.

    Args:
        task_id: one of `DIVIDED_BODIES`.
        stack: closes what the sides hold.
        quick: few episodes side by side.
    """
    scenario, division = DIVIDED_BODIES[task_id]
    base = f"gymnasium-robotics mamujoco_v1 {scenario} {division}"
    sides, missing = own_sides(task_id, stack, quick=quick), {}
    if find_spec("gymnasium_robotics"):
        sides.append(Side(name=base, run=robotics_steps(scenario, division, stack)))
    else:
        missing[base] = "pip install gymnasium-robotics"
    return Group(
        title=f"MuJoCo: {task_id}",
        sides=sides,
        base=base,
        ratio="ratio_to_gymnasium_robotics",
        missing=missing,
    )


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
    task = make_task(task_id, horizon=MOST_STEPS, threads=threads)
    stack.callback(task.close)
    spec, rng = task.spec, np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (MOST_STEPS, batch, spec.agents, spec.action_size))
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

    env = gymnasium.make(env_id, max_episode_steps=MOST_STEPS, **settings)
    stack.callback(env.close)
    env.action_space.seed(0)
    actions = cycle([env.action_space.sample() for _ in range(ACTION_COUNT)])

    def run() -> int:
        env.reset()
        for step in range(MOST_STEPS):
            _, _, terminated, truncated, _ = env.step(next(actions))
            if terminated or truncated:
                return step + 1
        return MOST_STEPS

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
    """Return a function that steps a vector of Gymnasium MOST_STEPS times.

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
        max_episode_steps=MOST_STEPS,
        **settings,
    )
    stack.callback(env.close)
    env.action_space.seed(0)
    actions = cycle([env.action_space.sample() for _ in range(ACTION_COUNT)])

    def run() -> int:
        env.reset()
        steps, ended = 0, np.zeros(count, dtype=bool)
        for _ in range(MOST_STEPS):
            steps += int((~ended).sum())
            _, _, terminated, truncated, _ = env.step(next(actions))
            ended = terminated | truncated
        return steps

    env.reset(seed=0)
    return run


def robotics_steps(scenario: str, division: str, stack: ExitStack) -> Callable[[], int]:
    """Return a function that plays an episode of mamujoco_v1 and counts its steps."""
    from gymnasium_robotics import mamujoco_v1

    env = mamujoco_v1.parallel_env(scenario, division, max_episode_steps=MOST_STEPS)
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
        for step in range(MOST_STEPS):
            env.step(next(actions))
            if not env.agents:
                return step + 1
        return MOST_STEPS

    return run
