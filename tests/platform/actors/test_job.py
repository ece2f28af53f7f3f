"""`platform/` of this repository must never hide Python's own module of that name.

Proved where it could: in the repository root, in a worker, and in the driver of a submitted job.
"""

import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import ray

from rolecast.platform.search.records.frames import read_history
from rolecast.platform.tuning.comparison_folder import read_comparison
from tests.platform.ray_head import LISTENING_PORTS, Head, free_ports, ray_head

ROOT = Path(__file__).resolve().parents[3]

EXPERIMENT = """
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod

EXPERIMENT = Experiment(
    name="tiny",
    tasks=("pred_prey_3",),
    methods=(
        SearchMethod(optimizer="random", policy="mlp", episodes=2, batch_size=5),
        LearnerMethod(algorithm="maddpg", settings={"size": "small"}),
    ),
    seeds=1,
    env_steps=500,
    points=2,
    final_test_episodes=10,
)
"""

WHICH = "import platform; platform.system(); print(platform.__file__)"


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    """Start a head of one CPU."""
    with ray_head(cpus=1) as started:
        yield started


def test_a_heads_ports_are_free_and_none_that_a_connection_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports = free_ports(4)
    assert len(set(ports)) == 4
    assert set(ports) <= set(LISTENING_PORTS)
    monkeypatch.setattr("tests.platform.ray_head.LISTENING_PORTS", ports)
    with socket.socket() as taken:
        taken.bind(("", ports[0]))
        assert set(free_ports(3)) == set(ports[1:])


def is_pythons_own(path: str) -> bool:
    return not Path(path).is_relative_to(ROOT) and path.endswith("/platform.py")


def test_platform_is_pythons_own_in_the_repository_root() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHICH], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert is_pythons_own(done.stdout.strip())


@pytest.mark.usefixtures("ray_cluster")
def test_platform_is_pythons_own_in_a_worker() -> None:
    @ray.remote(num_cpus=0)
    def which() -> str:
        import platform
        import sys

        sys.path.insert(0, str(ROOT))
        return str(platform.__file__)

    assert is_pythons_own(ray.get(which.remote()))


NAMES = """
from ray.util.state import list_actors
print("actors:", *(actor.repr_name for actor in list_actors(detail=True)))
"""


@dataclass(frozen=True)
class Submitted:
    """What one job printed, and the folders that it wrote."""

    lines: list[str]
    run: Path
    comparison: Path


@pytest.fixture(scope="module")
def submitted(head: Head, tmp_path_factory: pytest.TempPathFactory) -> Submitted:
    """Submit the repository with a job that imports `platform`, searches and compares."""
    place = tmp_path_factory.mktemp("job")
    mine, names = place / "mine.py", place / "names.py"
    mine.write_text(EXPERIMENT)
    names.write_text(NAMES)
    run, comparison = place / "run", place / "out"
    job = (
        f"python -c '{WHICH}' && rolecast search pred_prey_3 --policy mlp --optimizer random "
        f"--env-steps 2000 --episodes 2 --workers 1 --test-episodes 20 --out {run} && "
        f"rolecast compare {mine} --address auto --out {comparison} && python {names}"
    )
    command = ["ray", "job", "submit", "--address", head.url, "--working-dir", "."]
    done = subprocess.run(
        [*command, "--", "sh", "-c", job],
        cwd=ROOT,
        env=head.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr + head.fate()
    return Submitted(done.stdout.splitlines(), run, comparison)


def test_a_submitted_job_finds_pythons_platform_and_runs_a_search(submitted: Submitted) -> None:
    printed = [line for line in submitted.lines if line.endswith("/platform.py")]
    assert printed
    assert all(is_pythons_own(path) for path in printed)
    assert "_ray_pkg" not in printed[0]
    assert len(read_history(submitted.run)) == 40


def test_a_submitted_job_runs_a_comparison_whose_trials_have_names(submitted: Submitted) -> None:
    rows = read_comparison(submitted.comparison).rows
    assert list(rows["env_steps"]) == [250, 500, 256, 504]  # a learner steps 8 episodes at once
    assert list(rows["method"]) == ["random", "random", "maddpg", "maddpg"]
    (actors,) = (line for line in submitted.lines if line.startswith("actors:"))
    assert set(rows["trial"]) <= set(actors.split())
