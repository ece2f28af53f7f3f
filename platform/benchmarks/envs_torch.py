"""The sides of predator-prey that torch computes: on the CPU, and on CUDA where there is one."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from rolecast.envs.predator_prey.torch_task import TorchPredatorPrey
from rolecast.platform.benchmarks.envs_timing import Side
from rolecast.platform.search.seeds import Purpose, episode_seeds
from rolecast.policies.registry import make_policy


def torch_sides(batches: Sequence[int], *, cuda_batches: Sequence[int]) -> list[Side]:
    """Return a side without a policy for each batch, and one with `mlp` for the largest.

    Args:
        batches: on one core of the CPU.
        cuda_batches: on a CUDA device, left out where torch sees none.
    """
    found = _sides("cpu", batches)
    if torch.cuda.is_available():
        found += _sides("cuda", cuda_batches)
    return found


def _sides(device: str, batches: Sequence[int]) -> list[Side]:
    wall, name = device != "cpu", f"pred_prey_3 in torch on {device}"
    found = [
        Side(
            name=f"{name} without a policy, batch {batch}",
            run=torch_steps(device, batch),
            wall=wall,
        )
        for batch in batches
    ]
    largest = max(batches)
    run = torch_steps(device, largest, policy="mlp")
    return [*found, Side(name=f"{name} with mlp, batch {largest}", run=run, wall=wall)]


def torch_steps(device: str, batch: int, policy: str | None = None) -> Callable[[], int]:
    """Return a function that runs a batch of episodes in float32 and counts their steps.

    Args:
        device: "cpu" or "cuda".
        batch: episodes side by side.
        policy: name of one whose tensor form is exact ("mlp"); None repeats actions drawn before.
    """
    task = TorchPredatorPrey(3, device=device)
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


def _actor(name: str, task: TorchPredatorPrey, device: str) -> Callable[[Tensor], Tensor]:
    """Return a policy at a random point, observations [B, n, do] to actions [B, n, 2]."""
    policy = make_policy(name, task.spec)
    point = policy.space.weights(np.random.default_rng(0).random((1, policy.space.size)))[0]
    return partial(policy.relaxed_act, torch.as_tensor(point, dtype=torch.float32, device=device))
