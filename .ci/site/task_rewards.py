"""Says in a cell of a table what a task pays, and which reward settings it takes: from the task."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.errors import RequestError
from rolecast.envs.causal.problem import CausalTask
from rolecast.envs.causal.task_ids import split_task_options
from rolecast.envs.drone_delivery.task import DroneDeliveryTask
from rolecast.envs.ids import parse_id
from rolecast.envs.mujoco.task import MujocoTask
from rolecast.envs.predator_prey.task import PredatorPreyTask
from rolecast.envs.rewards.task import with_rewards
from rolecast.envs.spec import BatchedTask

PROBE_VALUES: Final[Mapping[str, Any]] = MappingProxyType(
    {"sparse": 2, "delay": 1, "noise": 1.0, "flip": 0.5, "drop": 0.5, "survival": 0.0}
)
"""A value of each reward setting that changes what is paid."""

FLUSHED_SETTINGS: Final = ("sparse", "delay")
"""Settings that leave something unpaid at the end of an episode, which `flush_on_end` pays."""


def earned(task: BatchedTask) -> str:
    """Return what the team earns in a step, with the numbers of this task.

    Raises:
        TypeError: no such task is known here.
    """
    match task:
        case MujocoTask():
            robot = task.robot
            bonus = f", plus {robot.healthy_reward:g} if healthy" if robot.pays_survival else ""
            costs = f"{robot.control_cost:g} x squared actions"
            if robot.contact_cost:
                costs += f", {robot.contact_cost:g} x squared contact forces"
            return f"forward speed in m/s{bonus}, less {costs}"
        case PredatorPreyTask():
            world = task.params
            pair = f"{world.touch_reward:g} for each predator that touches a prey"
            return pair + (f", if {world.capture} touch it at once" if world.capture > 1 else "")
        case DroneDeliveryTask():
            law = task.params
            return (
                f"{law.delivery_reward:g} d^2 for a delivery over a distance d, "
                f"-{law.collision_penalty:g} for a collision, -{law.empty_penalty:g} for an empty "
                "tank"
            )
        case CausalTask():
            return f"the last node of the graph, {task.problem.graph.reward.name}"
    raise TypeError(f"a reward of {type(task).__name__} is not told here")


def paid(task: BatchedTask) -> str:
    """Return when the reward is paid, and which settings change that."""
    when = "in each step" if task.spec.horizon > 1 else "in the only step"
    taken = reward_settings(task)
    return f"{when}; changed by {', '.join(f'`{each}`' for each in taken)}"


def reward_settings(task: BatchedTask) -> list[str]:
    """Return the reward settings that a task takes, and with which it can pay anything."""
    name, _ = parse_id(task.spec.id)
    found = []
    for setting, value in PROBE_VALUES.items():
        rewards, own = split_task_options(name, {setting: value})
        if own or not rewards.pays_within(task.spec.horizon):
            continue
        try:
            with_rewards(task, rewards)
        except RequestError:
            continue
        found.append(setting)
    return found + ["flush_on_end"] * any(each in found for each in FLUSHED_SETTINGS)
