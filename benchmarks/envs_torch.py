"""The sides of our 2D tasks that torch computes: on the CPU, and on CUDA where there is one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np
import torch
from torch import Tensor

from rolecast.benchmarks.envs_timing import Side
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.envs.drone_delivery.torch_task import TorchDroneDelivery
from rolecast.envs.predator_prey.torch_task import TorchPredatorPrey
from rolecast.policies.registry import make_policy

TorchTask = TorchPredatorPrey | TorchDroneDelivery

TASKS: Final[Mapping[str, Callable[[str], TorchTask]]] = MappingProxyType(
    {
        "pred_prey_3": lambda device: TorchPredatorPrey(3, device=device),
        "drone_delivery_3": lambda device: TorchDroneDelivery(3, device=device),
    }
)
"""Id to what makes the task on a device."""


def torch_sides(task: str, batches: Sequence[int], *, cuda_batches: Sequence[int]) -> list[Side]:
    """Return a side without a policy for each batch, and one with `mlp` for the largest.

    Args:
        task: one of `TASKS`.
        batches: on one core of the CPU.
        cuda_batches: on a CUDA device, left out where torch sees none.
    """
    found = _sides(task, "cpu", batches)
    if torch.cuda.is_available():
        found += _sides(task, "cuda", cuda_batches)
    return found


def _sides(task: str, device: str, batches: Sequence[int]) -> list[Side]:
    wall, name = device != "cpu", f"{task} in torch on {device}"
    found = [
        Side(
            name=f"{name} without a policy, batch {batch}",
            run=torch_steps(task, device, batch),
            wall=wall,
        )
        for batch in batches
    ]
    largest = max(batches)
    run = torch_steps(task, device, largest, policy="mlp")
    return [*found, Side(name=f"{name} with mlp, batch {largest}", run=run, wall=wall)]


def torch_steps(
    task_id: str, device: str, batch: int, policy: str | None = None
) -> Callable[[], int]:
    """Return a function that runs a batch of episodes in float32 and counts their steps.

    Args:
        task_id: one of `TASKS`.
        device: "cpu" or "cuda".
        batch: episodes side by side.
        policy: name of one whose tensor form is exact ("mlp"); None repeats actions drawn before.
    """
    task = TASKS[task_id](device)
    seeds = episode_seeds(0, Purpose.SEARCH, 0, batch)
    rng = np.random.default_rng(0)
    drawn = torch.as_tensor(rng.uniform(-1.0, 1.0, (batch, 3, 2)), dtype=torch.float32)
    act = _actor(policy, task, device) if policy else _constant(drawn.to(device))

    def run() -> int:
        observations = task.reset(seeds)
        paid = torch.zeros((), device=device)
        with torch.no_grad():
            for _ in range(task.spec.horizon):
                observations, reward, _ = task.step(act(observations))
                paid += reward.sum()
        paid.item()  # the device has finished
        return batch * task.spec.horizon

    return run


def _constant(actions: Tensor) -> Callable[[Tensor], Tensor]:
    """Return a function that acts the same whatever it observes."""
    return lambda _: actions


def _actor(name: str, task: TorchTask, device: str) -> Callable[[Tensor], Tensor]:
    """Return a policy at a random point, observations [B, n, do] to actions [B, n, 2]."""
    policy = make_policy(name, task.spec)
    point = policy.space.weights(np.random.default_rng(0).random((1, policy.space.size)))[0]
    return partial(policy.relaxed_act, torch.as_tensor(point, dtype=torch.float32, device=device))
