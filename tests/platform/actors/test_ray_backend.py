import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

from rolecast.core.errors import ConfigError, RunError
from rolecast.platform.actors.ray_backend import RayBackend
from rolecast.platform.search.loop import Search
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan, run_record
from rolecast.platform.search.progress import Silent
from rolecast.platform.search.records.frames import read_history
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.run import resume, search

SETTINGS: dict[str, Any] = {
    "policy": "mlp",
    "policy_options": {"hidden": [4]},
    "optimizer": "local_gp",
    "env_steps": 24_000,
    "episodes": 4,
    "batch_size": 20,
    "seed": 5,
    "test_episodes": 50,
}
"""A search of twelve batches."""

TASK = "pred_prey_3"

SameHistory = Callable[[Path, Path], None]

AwaitBatch = Callable[[Path, Callable[[], bool]], bool]

pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The search without Ray, which all others must repeat."""
    out = tmp_path_factory.mktemp("alone") / "run"
    search(TASK, out=out, workers=0, **SETTINGS)
    return out


class RunningSearch:
    """A search whose actors a test can reach."""

    def __init__(self, out: Path) -> None:
        config = SearchConfig(task=TASK, out=str(out), workers=2, **SETTINGS)
        self.plan: Plan = make_plan(config)
        self.folder = RunFolder.create(out, run_record(self.plan))
        self.backend = RayBackend(TASK, {}, self.plan.policy, workers=2, address=None)
        self.search = Search(self.plan, self.folder, self.backend, Silent())

    def finish(self) -> None:
        while not self.search.finished:
            self.search.step()

    def close(self) -> None:
        self.search.close()
        self.backend.close()
        self.folder.release()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningSearch]:
    started = RunningSearch(tmp_path / "run")
    yield started
    started.close()


def test_malformed_reward_is_the_same_whoever_computes_it(
    tmp_path: Path, same_history: SameHistory
) -> None:
    settings = SETTINGS | {"env_steps": 4_000, "task_options": {"noise": 2.0, "flip": 0.1}}
    for workers in (0, 2):
        search(f"{TASK}?sparse=5", out=tmp_path / str(workers), workers=workers, **settings)
    same_history(tmp_path / "2", tmp_path / "0")


@pytest.mark.parametrize("workers", [1, 2])
def test_the_number_of_workers_changes_nothing(
    alone: Path, tmp_path: Path, same_history: SameHistory, workers: int
) -> None:
    search(TASK, out=tmp_path / "run", workers=workers, **SETTINGS)
    same_history(tmp_path / "run", alone)


def test_the_first_batch_is_cut_for_the_workers_that_the_cluster_has_room_for(
    running: RunningSearch,
) -> None:
    """Whether they are there or still start; those that wait for a CPU share nothing."""
    assert running.backend.evaluator.workers == 2
    cpus = int(ray.cluster_resources()["CPU"])  # type: ignore[no-untyped-call]
    more = RayBackend(TASK, {}, running.plan.policy, workers=cpus + 2, address=None)
    assert more.evaluator.workers == cpus
    more.close()


def test_a_lost_rollout_actor_changes_nothing(
    alone: Path, running: RunningSearch, same_history: SameHistory
) -> None:
    for _ in range(4):
        running.search.step()
    os.kill(running.backend.evaluator.pids()[0], signal.SIGKILL)
    running.finish()
    running.search.save()
    same_history(running.folder.path, alone)


def test_a_rollout_actor_lost_in_the_middle_of_a_call_changes_nothing(
    tmp_path: Path, same_history: SameHistory
) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()

    def deadly() -> Any:
        import gymnasium

        class Deadly(gymnasium.Wrapper[Any, Any, Any, Any]):
            """Kills its process in its 200th step, unless that has happened before."""

            steps = 0

            def step(self, action: Any) -> Any:
                type(self).steps += 1
                if type(self).steps == 200 and not (marks / "died").exists():
                    (marks / "died").touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().step(action)

        return Deadly(gymnasium.make("Pendulum-v1", max_episode_steps=20))

    settings = SETTINGS | {
        "optimizer": "random",
        "env_steps": 2_000,
        "episodes": 2,
        "batch_size": 10,
        "test_episodes": 2,
        "task_options": {"horizon": 20},
    }
    search(deadly, out=tmp_path / "two", workers=2, **settings)
    assert (marks / "died").exists()
    search(deadly, out=tmp_path / "none", workers=0, **settings)
    same_history(tmp_path / "two", tmp_path / "none")


def test_a_lost_optimizer_actor_changes_nothing(
    alone: Path, running: RunningSearch, same_history: SameHistory
) -> None:
    for _ in range(5):
        running.search.step()
    host: Any = running.search._optimizer_session._session
    os.kill(host.pid(), signal.SIGKILL)
    running.finish()
    running.search.save()
    same_history(running.folder.path, alone)


def test_a_gpu_that_the_cluster_has_not_is_refused_before_anything_is_evaluated(
    ray_cluster: str, tmp_path: Path
) -> None:
    settings = SETTINGS | {"optimizer_settings": {"device": "cuda"}, "address": ray_cluster}
    with pytest.raises(ConfigError, match="device is 'cuda'; expected cpu, for the cluster has no"):
        search(TASK, out=tmp_path / "run", workers=2, **settings)


def test_a_search_on_ray_killed_with_its_driver_resumes_to_the_same_history(
    ray_cluster: str,
    alone: Path,
    tmp_path: Path,
    same_history: SameHistory,
    await_batch: AwaitBatch,
) -> None:
    out = tmp_path / "run"
    settings = SETTINGS | {"workers": 2, "address": ray_cluster, "out": str(out)}
    script = f"from rolecast import search; search({TASK!r}, **{settings!r})"
    driver = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    assert await_batch(out, lambda: driver.poll() is not None), "ended before it could be killed"
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert 20 <= len(read_history(out)) < 240
    resume(out, workers=1)
    same_history(out, alone)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda: os._exit(1), r"evaluation 0: the process that runs the task died \d"),
        (lambda: 1 // 0, r"evaluation \d+, episode of seed \d+: .*integer division"),
    ],
    ids=["ends its process", "raises"],
)
def test_an_environment_that_breaks_is_named_across_processes(
    broken: Callable[[], object], message: str, tmp_path: Path
) -> None:
    def breaking() -> Any:
        import gymnasium

        class Breaking(gymnasium.Wrapper[Any, Any, Any, Any]):
            """Breaks at each step."""

            def step(self, action: Any) -> Any:
                broken()

        return Breaking(gymnasium.make("Pendulum-v1", max_episode_steps=20))

    settings = SETTINGS | {"optimizer": "random", "env_steps": 800, "episodes": 2}
    with pytest.raises(RunError, match=message):
        search(breaking, out=tmp_path / "run", workers=1, task_options={"horizon": 20}, **settings)


def test_an_address_where_nothing_listens_is_refused_at_once(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    script = (
        "import sys; from rolecast import search\n"
        "from rolecast.core.errors import RequestError\n"
        f"try: search({TASK!r}, workers=1, optimizer='random', out='run', "
        f"address='127.0.0.1:{port}')\n"
        "except RequestError as error: print(error); sys.exit(2)"
    )
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"no Ray cluster answers at address '127.0.0.1:{port}'" in done.stdout
    assert time.monotonic() - begin < 30.0
    assert not (tmp_path / "run").exists()
