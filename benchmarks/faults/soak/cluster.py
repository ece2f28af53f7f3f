"""A real cluster on this machine, whose processes are killed and whose nodes are lost."""

import os
import signal
import time
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError

PROCESSES_FOLDER: Final = Path("/proc")
"""Of Linux, a folder for each process."""

NODE_COUNT: Final = 3
"""Nodes beside the head, which has no processors."""

NODE_CPUS: Final = 4
"""Processors that each node says it has."""

ABSENCE_S: Final = (5.0, 20.0)
"""Shortest and longest time until a node that was lost is there again."""

SOAK_SETTINGS: Final = {
    "worker_niceness": 0,
    "health_check_initial_delay_ms": 5000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 10,
}
"""Settings of Ray: a lost node counts as lost after some ten seconds, and its workers are as nice
as what runs beside them."""


class Victim(StrEnum):
    """What is killed."""

    ROLLOUT = "rollout actor"
    OPTIMIZER = "optimiser"
    DRIVER = "driver of a search"
    RAYLET = "raylet of a node"
    TRIAL = "trial of a comparison"
    COMPARE = "driver of the comparison"


ACTOR_NAMES: Final = {
    Victim.ROLLOUT: ("RolloutActor",),
    Victim.OPTIMIZER: ("OptimizerActor",),
    Victim.TRIAL: ("ComparisonTrial", "_Inner"),
}
"""Classes by which Ray names each actor's process; a trial in a call of Tune has the second."""


class LocalCluster:
    """A head and nodes; only processes of their own are ever ended."""

    def __init__(self) -> None:
        require_process_table()
        from ray.cluster_utils import Cluster

        settings = {"num_cpus": 0, "_system_config": SOAK_SETTINGS}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=settings)
        self._nodes: list[Any] = []
        self._back_s: float | None = None
        """When the node that was lost is to be there again; None: all are there."""
        while len(self._nodes) < NODE_COUNT:
            self._add_node()
        self._back_s = None

    @property
    def address(self) -> str:
        """Host and port."""
        return str(self._cluster.address)

    def processes(self, victim: Victim) -> list[int]:
        """Return the actors of a kind, or the raylets of which one may be lost."""
        if victim is Victim.RAYLET:
            return [_raylet(node) for node in self._nodes] if self._back_s is None else []
        raylets = [_raylet(node) for node in self._nodes]
        found = children(raylets)
        return [
            pid for pid, name in found.items() if any(each in name for each in ACTOR_NAMES[victim])
        ]

    def lose_node(self, raylet: int, rng: np.random.Generator) -> None:
        """Kill a raylet, as a machine is lost, and set when another node comes."""
        lost = next(node for node in self._nodes if _raylet(node) == raylet)
        os.kill(raylet, signal.SIGKILL)
        self._nodes.remove(lost)
        self._cluster.remove_node(lost, allow_graceful=False)
        self._back_s = time.monotonic() + float(rng.uniform(*ABSENCE_S))

    def tend(self) -> None:
        """Add a node in place of one that was lost, once it is time."""
        if self._back_s is not None and time.monotonic() > self._back_s:
            self._back_s = None
            self._add_node()

    def _add_node(self) -> None:
        """Start a node; where it is slow to start, try again later."""
        try:
            self._nodes.append(self._cluster.add_node(num_cpus=NODE_CPUS))
        except Exception as error:  # Ray has no kind of its own for this
            if "timed out during startup" not in str(error):
                raise
            self._back_s = time.monotonic() + ABSENCE_S[0]

    def close(self) -> None:
        """End all its processes."""
        self._cluster.shutdown()


def _raylet(node: Any) -> int:
    """Return the process of a node's raylet."""
    return int(node.all_processes["raylet"][0].process.pid)


def require_process_table() -> None:
    """Refuse a machine on which the processes of others cannot be looked up.

    Raises:
        RequestError: there is no /proc.
    """
    if not PROCESSES_FOLDER.is_dir():
        raise RequestError(f"--part soak needs {PROCESSES_FOLDER}; expected a machine with Linux")


def children(parents: Collection[int]) -> dict[int, str]:
    """Return the processes that were started by some others, with the names that Ray gave them."""
    found = {}
    for folder in PROCESSES_FOLDER.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            status = (folder / "stat").read_text()
            name = (folder / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since
        if int(status.rpartition(")")[2].split()[1]) in parents:
            found[int(folder.name)] = name
    return found
