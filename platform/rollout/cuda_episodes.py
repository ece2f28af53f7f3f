"""Plays episodes of a compiled task on CUDA, by the kernels of the CPU: each lane is a thread.

Needs numba-cuda (`pip install 'rolecast[cuda]'`). Episodes begin on the CPU; then their arrays are
moved, and stay there until returns are read. Returns are those of the CPU but for rounding, as
other products are fused with sums: a search on a GPU would not have the history of one on a CPU.
"""

from functools import cache
from typing import Any, Final

import numpy as np
from numba import cuda
from numba.cuda.core import config

from rolecast.core.errors import ConfigError
from rolecast.core.kernel_address import at_step
from rolecast.core.lane_arrays import gather_lanes
from rolecast.core.simd.cuda import WORKSPACE_ROWS
from rolecast.core.types import LANE_COUNT, Float, KernelCalls
from rolecast.envs.spec import LaneEpisodes, LaneTask, SizedEpisodeKernels
from rolecast.platform.rollout.played import Episodes, from_lanes, in_blocks
from rolecast.policies.protocol import PolicyKernels

THREADS_TOGETHER: Final = 64
"""Threads of a block of CUDA; a multiple of W, small so that a plan's batch fills more cores."""

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a plan's batch is small, and `bench scaling` says so


class CudaEpisodes:
    """L episodes of a task with `lanes`, begun and moved to the device, all at once."""

    def __init__(self, asked: Episodes) -> None:
        """Begin and move.

        Raises:
            ConfigError: task or policy has no kernels that CUDA can run, or one of them needs
                more workspace than a thread has.
        """
        policy, spec = asked.policy, asked.task.spec
        self._length, self._horizon = asked.seeds.size, spec.horizon
        actor, episodes = policy.lanes(), _begun(asked)
        if not isinstance(episodes, SizedEpisodeKernels):
            raise ConfigError("task", spec.id, "one whose kernels CUDA can run")
        if not isinstance(actor, PolicyKernels):
            raise ConfigError("policy", policy.name, "one whose kernels CUDA can run")
        rows = max(actor.workspace_rows(spec.agents), episodes.workspace_rows())
        if rows > WORKSPACE_ROWS:
            raise ConfigError("rows of workspace", rows, f"at most {WORKSPACE_ROWS} on CUDA")
        self._observations, self._returns = episodes.observations, episodes.returns
        self._act, self._advance = actor.calls, episodes.calls
        self._blocks = len(self._observations)
        self._there = DeviceArrays()
        self._weights = self._rows(asked.weights.shape[1])
        self._actions = self._rows(spec.agents, spec.action_size)
        held = in_blocks(asked.candidate, self._blocks)
        self._launch(((gather_lanes, (asked.weights.astype(np.float32), held, self._weights)),))

    def play(self) -> Float:
        """Play to the horizon, once; return the returns [L]."""
        acting = self._act(self._weights, self._observations, self._actions)
        advancing = self._advance(self._actions)
        for step in range(self._horizon):
            self._launch(acting)
            self._launch(at_step(advancing, step))
        return from_lanes(self._there.of(self._returns).copy_to_host(), self._length)

    def _rows(self, *shape: int) -> Any:
        """Return an array [K, *shape, W] on the device, not set to anything."""
        return cuda.device_array((self._blocks, *shape, LANE_COUNT), dtype=np.float32)

    def _launch(self, calls: KernelCalls) -> None:
        grid = -(-self._blocks * LANE_COUNT // THREADS_TOGETHER)
        for kernel, arguments in calls:
            device_kernel(kernel)[grid, THREADS_TOGETHER](*map(self._there.of, arguments))


def _begun(asked: Episodes) -> LaneEpisodes:
    """Begin episodes on the CPU."""
    lanes: LaneTask = asked.task.lanes()  # type: ignore[attr-defined]  # the caller has looked
    return lanes.start(asked.seeds)


class DeviceArrays:
    """Arrays on the device, by where they begin on the CPU: views of one array share one copy."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[np.ndarray[Any, Any], Any]] = {}

    def of(self, value: Any) -> Any:
        """Return what stands for an argument of a kernel: of an array its copy on the device."""
        if not isinstance(value, np.ndarray):
            return value
        address = value.ctypes.data
        if address not in self._held:
            # What is held keeps its address: no other array can begin there.
            self._held[address] = value, cuda.to_device(value)
        return self._held[address][1]


@cache
def device_kernel(kernel: Any) -> Any:
    """Return a kernel of the CPU as one of CUDA."""
    return cuda.jit(kernel.py_func)
