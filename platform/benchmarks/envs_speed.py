"""Environment steps a second: predator-prey with its policy against mpe2's simple_tag, same run.

mpe2 gets actions drawn beforehand and plays no policy and no scripted prey, so it does less work.
Speed is per second of processor time of this process, which neighbours on the machine do not
change, and no part of either side uses a second core.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from rolecast.envs.registry import make_task
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.seeds import Purpose, episode_seeds
from rolecast.policies.registry import make_policy

TASK: Final = "pred_prey_3"
POLICIES: Final = ("hom", "mlp")
REPEATS: Final = 3
CANDIDATES: Final = 60
EPISODES: Final = 8


def policy_steps(name: str, rounds: int) -> Callable[[], int]:
    """Return a function that runs `rounds` batches of a search and says how many steps it made.

    Args:
        name: of the policy.
        rounds: batches of CANDIDATES x EPISODES episodes.
    """
    task = make_task(TASK)
    policy = make_policy(name, task)
    rng = np.random.default_rng(0)
    weights = policy.space.weights(rng.random((CANDIDATES, policy.space.size)))
    seeds = episode_seeds(0, Purpose.SEARCH, 0, EPISODES)
    rollout(task, policy, weights, seeds)  # compiles, or loads what was compiled before

    def run() -> int:
        return sum(rollout(task, policy, weights, seeds).env_steps for _ in range(rounds))

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


def measure(run: Callable[[], int]) -> float:
    """Return env steps per second of processor time."""
    start = time.process_time()
    steps = run()
    return steps / (time.process_time() - start)


def measure_all(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure all sides in turn, REPEATS times.

    Args:
        quick: a tenth of the work.
        note: told of each repeat.
    Returns:
        JSON values: for each side its repeats and their median, and the ratios to mpe2.
    """
    scale = 1 if quick else 10
    with threadpool_limits(1):
        sides = {f"{TASK} with {name}": policy_steps(name, 5 * scale) for name in POLICIES}
        sides["mpe2 simple_tag_v3 without a policy"] = simple_tag_steps(10 * scale)
        repeats: dict[str, list[float]] = {name: [] for name in sides}
        for repeat in range(REPEATS):
            for name, run in sides.items():
                repeats[name].append(measure(run))
                note(f"repeat {repeat + 1}, {name}: {repeats[name][-1]:,.0f} env-steps/s")
    medians = {name: statistics.median(values) for name, values in repeats.items()}
    base = medians.pop("mpe2 simple_tag_v3 without a policy")
    return {
        "unit": "env steps per second of processor time, one core",
        "sides": {
            name: {
                "median": round(statistics.median(values)),
                "repeats": [round(v) for v in values],
            }
            for name, values in repeats.items()
        },
        "ratio_to_mpe2": {name: round(value / base, 1) for name, value in medians.items()},
    }
