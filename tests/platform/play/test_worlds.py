"""The worlds in C follow the readable float64 tasks, step by step."""

import ctypes
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import HasBrowserWorld
from rolecast.platform.play.game import world_files
from rolecast.platform.play.worlds import world_of
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.artefact import LoadedPolicy
from rolecast.policies.export.c99 import COMPILER_FLAGS
from rolecast.policies.registry import make_policy

STEPS = 6
EPISODES = 60
WARNING_FLAGS = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
BUILD_FLAGS = ["-O2", "-fno-math-errno", "-shared", "-fPIC", "-o", "world.so"]
PREDATOR_PREY = (
    "pred_prey_3",
    "pred_prey_6",
    "pred_prey_6?observation=full",
    "het_pred_prey_3",
    "pred_prey_6?capture=2&scout=2&view=0.9",
    "pred_prey_3?sparse=5",
)
DRONES = ("drone_delivery_1", "drone_delivery_3", "drone_delivery_9", "drone_delivery_4?handover=1")


def random_policy(task_id: str, seed: int) -> LoadedPolicy:
    """Return a random linear policy of a task."""
    task = make_task(task_id)
    policy = make_policy("linear", task)
    weights = policy.space.weights(np.random.default_rng(seed).random(policy.space.dimension))
    return LoadedPolicy(policy=policy, weights=weights, task=task.spec)


def built(trained: LoadedPolicy, folder: Path) -> Any:
    """Return a policy and its world as a library of this machine."""
    world = world_of(make_task(trained.task_id))
    assert world is not None
    for name, text in world_files(trained, world).items():
        (folder / name).write_text(text)
    command = ["cc", *COMPILER_FLAGS, *WARNING_FLAGS, *BUILD_FLAGS]
    subprocess.run([*command, "rolecast_policy.c", "world.c"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "world.so"))
    for name in ("state", "observations", "actions"):
        getattr(library, f"play_{name}").restype = ctypes.POINTER(ctypes.c_float)
    for name in ("reward", "episode_return"):
        getattr(library, f"play_{name}").restype = ctypes.c_float
    library.play_start.argtypes = library.play_episode_return.argtypes = [ctypes.c_uint32] * 2
    return library


def halves(seed: np.uint64) -> tuple[int, int]:
    """Return the halves of a seed."""
    return int(seed) & 0xFFFFFFFF, int(seed) >> 32


def numbers(library: Any, name: str, *shape: int) -> Float:
    """Return numbers of the world in C."""
    pointer = getattr(library, f"play_{name}")()
    found: Float = np.ctypeslib.as_array(pointer, shape).astype(np.float64)
    return found


@pytest.mark.parametrize("task_id", [*PREDATOR_PREY, *DRONES])
def test_observations_and_rewards_are_those_of_the_float64_task(
    task_id: str, tmp_path: Path
) -> None:
    """Of 60 episodes of 6 steps; rounding may turn a prey's choice, a contact or a sight in 2."""
    trained = random_policy(task_id, 1)
    library, task = built(trained, tmp_path), unwrapped(make_task(task_id))
    seeds = episode_seeds(3, Purpose.SEARCH, 0, EPISODES)
    shape = trained.task.agents, trained.task.observation_size
    apart = 0
    for seed in seeds:
        expected = task.reset(np.array([seed]))
        library.play_start(*halves(seed))
        same = np.allclose(numbers(library, "observations", *shape), expected[0], atol=1e-6)
        for _ in range(STEPS):
            library.play_advance()
            actions = numbers(library, "actions", 1, trained.task.agents, 2)
            expected, reward, _, _ = task.step(actions)
            found = numbers(library, "observations", *shape)
            same &= np.allclose(found, expected[0], atol=2e-3)
            same &= library.play_reward() == pytest.approx(reward[0], abs=1e-3)
        apart += not same
    assert apart <= 2


@pytest.mark.parametrize("task_id", ["pred_prey_3", "pred_prey_6", *DRONES])
def test_episodes_return_what_the_compiled_task_pays(task_id: str, tmp_path: Path) -> None:
    """Of 200 episodes, rounding changes the touches of a few."""
    trained = random_policy(task_id, 2)
    library, task = built(trained, tmp_path), make_task(task_id)
    seeds = episode_seeds(4, Purpose.HELD_OUT, 0, 200)
    expected = rollout(task, trained.policy, trained.weights[None], seeds).returns[0]
    found = np.array([library.play_episode_return(*halves(seed)) for seed in seeds])
    assert expected.std() > 0.0
    assert np.isclose(found, expected, atol=1e-3).mean() > 0.9


def test_a_task_without_a_world_in_c_has_none() -> None:
    assert world_of(make_task("gym:Pendulum-v1")) is None


@pytest.mark.parametrize("task_id", [*PREDATOR_PREY, *DRONES])
def test_a_task_tells_its_world_in_plain_numbers(task_id: str) -> None:
    """A number of NumPy would be neither a literal of C nor JSON."""
    task = unwrapped(make_task(task_id))
    assert isinstance(task, HasBrowserWorld)
    told = task.browser_world()
    assert json.loads(json.dumps([told.values, told.scene])) == [told.values, told.scene]
