"""Every task against the public environment that it equals: same start, same actions, 50 steps.

The references run here: Gymnasium's own and gymnasium-robotics' `mamujoco_v1`.
"""

from collections.abc import Iterator
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium_robotics import mamujoco_v1

from rolecast.core.counter_random import episode_keys
from rolecast.core.types import Float
from rolecast.envs.mujoco.start import start_states
from rolecast.envs.registry import make_task

SEEDS = np.array([7, 2**63 + 5], dtype=np.uint64)
STEPS = 50
OWN: dict[str, Any] = {
    "agent_obsk": 0,
    "local_categories": [["qpos", "qvel"]],
    "global_categories": (),
}
"""Settings of `mamujoco_v1` with which an agent sees its own joints and nothing else."""


def begin(env: Any, positions: Float, velocities: Float) -> None:
    """Put a Gymnasium environment into a state as its reset would."""
    env.reset(seed=0)
    base = env.unwrapped
    mujoco.mj_resetData(base.model, base.data)
    base.set_state(positions, velocities)


def moments(task_id: str, reference: Any) -> Iterator[tuple[Float, Float]]:
    """Step the task, two episodes at a time, beside the reference, which has the second one.

    Yields:
        Observations [n, do] after each step, after rewards and ends were compared.
    """
    task: Any = make_task(task_id, threads=2)
    observations = task.reset(SEEDS)
    robot, model = task.robot, reference.unwrapped.model
    starts = start_states(robot, model.qpos0, episode_keys(SEEDS))
    begin(reference, starts[0][1], starts[1][1])
    yield observations[1], observations[1]
    spec, rng = task.spec, np.random.default_rng(3)
    for step in range(STEPS):
        actions = rng.uniform(-1.0, 1.0, (2, spec.agents, spec.action_size))
        observations, reward, done, _ = task.step(actions)
        yield observations[1], actions[1]
        assert task._pool.steps[1] == step + 1
        _, paid, terminated, _, _ = reference.last_step
        assert reward[1] == pytest.approx(float(paid), rel=0.0, abs=1e-10)
        assert done[1] == terminated
        if terminated:
            break
    task.close()


class Recorder:
    """A reference that keeps what its last step said."""

    def __init__(self, env: Any) -> None:
        self.env: Any = env
        self.last_step: tuple[Any, ...] = ()
        self.unwrapped = getattr(env, "single_agent_env", env).unwrapped

    def reset(self, seed: int) -> None:
        self.env.reset(seed=seed)

    def step(self, actions: Float) -> None:
        if isinstance(self.env, gymnasium.Env):
            self.last_step = self.env.step(actions[0])
            return
        names = self.env.possible_agents
        said = self.env.step(dict(zip(names, actions, strict=True)))
        first = tuple(part[names[0]] for part in said[1:])
        self.last_step = (said[0], *first)


def compare(task_id: str, reference: Recorder, expected: Any) -> None:
    """Hold the observations of the task against `expected()` after every step."""
    steps = moments(task_id, reference)
    np.testing.assert_allclose(next(steps)[0], expected(), rtol=0.0, atol=1e-10)
    for seen, actions in steps:
        reference.step(actions)
        np.testing.assert_allclose(seen, expected(), rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("task_id", "reference_id", "settings"),
    [
        ("ant", "Ant-v5", {"include_cfrc_ext_in_observation": False}),
        ("hopper", "Hopper-v5", {}),
        ("swimmer", "Swimmer-v5", {}),
        ("walker2d", "Walker2d-v5", {}),
    ],
)
def test_one_agent_runs_as_in_gymnasium(
    task_id: str, reference_id: str, settings: dict[str, Any]
) -> None:
    env: Any = gymnasium.make(reference_id, disable_env_checker=True, **settings)
    compare(task_id, Recorder(env), lambda: env.unwrapped._get_obs()[None])


def padded(observations: dict[str, Float], size: int) -> Float:
    rows = list(observations.values())
    return np.stack([np.pad(row, (0, size - row.size)) for row in rows])


def repair(env: Any) -> None:
    """Let `mamujoco_v1` read and drive the joints of an ant's segments that it names."""
    nodes = {
        id(node): node for levels in env.k_dicts for level in levels.values() for node in level
    }
    for node in nodes.values():
        kind, segment = node.label.split("_")
        joint = 4 * int(segment) + ("hip1", "ankle1", "hip2", "ankle2").index(kind)
        node.qpos_ids, node.qvel_ids, node.act_ids = 7 + joint, 6 + joint, joint


@pytest.mark.parametrize("obs", ["local", "own"])
@pytest.mark.parametrize(
    ("task_id", "scenario", "division"),
    [
        ("ma_ant_4x2", "Ant", "4x2"),
        ("ma_hopper_3x1", "Hopper", "3x1"),
        ("ma_swimmer_2x1", "Swimmer", "2x1"),
        ("ma_walker2d_2x3", "Walker2d", "2x3"),
        ("manyagent_ant_4", "ManySegmentAnt", "4x1"),
        ("manyagent_swimmer_2", "ManySegmentSwimmer", "2x1"),
        ("manyagent_swimmer_12", "ManySegmentSwimmer", "12x1"),
    ],
)
def test_many_agents_run_as_in_mamujoco(
    task_id: str, scenario: str, division: str, obs: str
) -> None:
    settings = OWN if obs == "own" else {}
    env = mamujoco_v1.parallel_env(scenario, division, **settings)
    if scenario == "ManySegmentAnt":
        repair(env)
    size = make_task(task_id, obs=obs).spec.observation_size

    def expected() -> Float:
        observations = env._get_obs()
        if obs == "own" and scenario == "Swimmer":  # there, with a velocity of the root between
            observations = {name: row[[0, 2]] for name, row in observations.items()}
        return padded(observations, size)

    compare(f"{task_id}?obs={obs}", Recorder(env), expected)


def test_mamujoco_itself_reads_an_ants_joints_from_a_wrong_place() -> None:
    """Why it is repaired above: when this fails, the library was mended and `repair` can go."""
    env = mamujoco_v1.parallel_env("ManySegmentAnt", "2x1", **OWN)
    env.reset(seed=0)
    torso = env.unwrapped.single_agent_env.unwrapped.data.qpos[:4]
    np.testing.assert_array_equal(np.sort(env._get_obs()["agent_0"][::2]), np.sort(torso))
