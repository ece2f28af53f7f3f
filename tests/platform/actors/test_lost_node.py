"""A node of a real cluster is killed in the middle of a search, and another takes its place.

The cluster is on this machine: a head without CPUs and two nodes of one each, so no CPU is free
for the actor of the lost one. The search is a process of its own, as a process has one cluster.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = '''
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ray.cluster_utils import Cluster

from rolecast import search
from rolecast.platform.search.progress import Silent

OUT, MARKS = Path(sys.argv[1]), Path(sys.argv[2])
SETTINGS = {
    "optimizer": "local_gp",
    "policy": "mlp",
    "policy_options": {"hidden": [4]},
    "evaluations": 200,
    "batch_size": 10,
    "episodes": 4,
    "seed": 3,
    "test_episodes": 4,
    "task_options": {"horizon": 20},
}
FOUND_DEAD = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 500,
    "health_check_failure_threshold": 4,
    "worker_niceness": 0,  # tests that run beside it would stop its workers
}


def pendulum():
    """Return an environment that leaves a file named by its process."""
    import os

    import gymnasium

    class Marked(gymnasium.Wrapper):
        def reset(self, **options):
            (MARKS / str(os.getpid())).touch()
            return super().reset(**options)

    return Marked(gymnasium.make("Pendulum-v1", max_episode_steps=20))


def processes():
    """Return the processes that have played episodes, but for this one."""
    return {int(file.name) for file in MARKS.iterdir()} - {os.getpid()}


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def raylet_of(node):
    return node.all_processes["raylet"][0].process.pid


def has_optimizer(raylet):
    """Return whether the optimiser is a process of this node."""
    command = ["ps", "--ppid", str(raylet), "-o", "args="]
    return "OptimizerActor" in subprocess.run(command, capture_output=True, text=True).stdout


def await_that(said, holds):
    deadline = time.monotonic() + 120.0
    while not holds():
        assert time.monotonic() < deadline, f"not after two minutes: {said}"
        time.sleep(0.05)


class Fate(Silent):
    """Kills the node without the optimiser after four batches, adds one after eight."""

    def __init__(self, cluster, nodes):
        self._cluster, self._nodes = cluster, nodes
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def update(self, figures):
        if figures.batch == 4:
            await_that("both work", lambda: len(processes()) == 2)
            raylets = [raylet_of(node) for node in self._nodes]
            raylet = next(pid for pid in raylets if not has_optimizer(pid))
            (worker,) = (pid for pid in processes() if parent(pid) == raylet)
            os.kill(raylet, signal.SIGKILL)
            os.kill(worker, signal.SIGKILL)
        if figures.batch == 8:
            assert len(processes()) == 2
            self._cluster.add_node(num_cpus=1)
            await_that("it works there", lambda: len(processes()) == 3)


search(pendulum, out=OUT / "none", workers=0, **SETTINGS)
cluster = Cluster(
    initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": FOUND_DEAD}
)
fate = Fate(cluster, [cluster.add_node(num_cpus=1) for _ in range(2)])
search(
    pendulum, out=OUT / "two", workers=2, address=cluster.address, progress=fate, **SETTINGS
)
cluster.shutdown()
print(json.dumps(fate.notes))
'''


@pytest.mark.nightly(
    "test_ray_backend.py kills the actors of a search, and test_ray_evaluator.py loses an answer "
    "with its node"
)
def test_a_search_goes_on_without_a_lost_node_and_takes_one_that_comes(
    tmp_path: Path, same_history: Callable[[Path, Path], None]
) -> None:
    """The paths of Ray's sockets are short, so its folder is not among those of the test."""
    marks, folder = tmp_path / "marks", tempfile.mkdtemp(prefix="ray")
    marks.mkdir()
    environment = os.environ | {"RAY_TMPDIR": folder}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(marks)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr[-2000:]
    joined, *notes = json.loads(done.stdout.splitlines()[-1])
    assert joined.endswith(": 3 nodes, 2 CPUs")
    assert notes == [
        "a worker is slow or lost; others do what it owes",
        "a worker that was slow or lost is back",
        "testing the incumbent over 4 held-out episodes",
    ]
    same_history(tmp_path / "two", tmp_path / "none")
