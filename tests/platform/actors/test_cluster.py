"""A cluster of our own asks for a token, and is started again where a busy machine was too slow."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import ray
from ray._private.ray_constants import DEFAULT_DASHBOARD_AGENT_LISTEN_PORT

from rolecast.core.errors import RunError
from rolecast.core.signals import terminable
from rolecast.core.threads import available_cores
from rolecast.platform.actors import cluster
from rolecast.platform.actors.cluster import Cluster

SCRIPT = """
import sys
import ray
from rolecast.core.errors import RunError
from rolecast.platform.actors import cluster

failures, starts, start = int(sys.argv[1]), [], ray.init

def slow_at_first(*args, **settings):
    starts.append(settings["num_cpus"])
    if len(starts) <= failures:
        raise Exception("The current node timed out during startup. This could happen because ...")
    return start(*args, **settings)

ray.init = slow_at_first
try:
    connection = cluster.Cluster(None, 1)
except RunError as error:
    print("gave up:", len(starts), error)
else:
    print("started:", len(starts), connection.own, ray.cluster_resources()["CPU"])
    connection.close()
    assert not ray.is_initialized()
"""


@pytest.mark.parametrize(
    ("failures", "said"),
    [(1, "started: 2 True 1.0"), (9, "gave up: 3 Ray did not start on this machine in 3 times")],
)
def test_a_start_that_times_out_is_tried_again(failures: int, said: str) -> None:
    """Ray's own first start cannot be made slow on purpose, so its error is raised in its stead."""
    command = [sys.executable, "-c", SCRIPT, str(failures)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert found.stdout.startswith(said)


def test_a_start_that_is_interrupted_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv(cluster.AUTH_MODE, "token")
    monkeypatch.setattr(ray, "init", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cluster._start(1)
    assert os.environ[cluster.AUTH_MODE] == "token"


@pytest.mark.parametrize("mode", ["disabled", "token", None])
def test_a_start_that_fails_is_told_of_in_one_sentence_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, mode: str | None
) -> None:
    """A mode that was lost had every later process refused by the cluster of the others."""
    monkeypatch.setenv(cluster.AUTH_MODE, mode or "")
    if mode is None:
        monkeypatch.delenv(cluster.AUTH_MODE)

    def fail(**_: Any) -> None:
        raise PermissionError(13, "Permission denied", "/var/ray")

    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with pytest.raises(RunError, match=r"Ray does not start on this machine: .*'/var/ray'; a sea"):
        cluster._start(1)
    assert os.environ.get(cluster.AUTH_MODE) == mode


def test_a_start_is_told_of_before_it_takes_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(cluster, "_start", lambda cpus: told.append(f"started with {cpus}"))
    monkeypatch.setattr(Cluster, "described", lambda self, workers: f"for {workers}")
    Cluster(None, 3, workers=2, note=told.append)
    assert told == ["starting Ray on this machine", "started with 3", "for 2"]


def test_a_cluster_that_is_joined_is_named(ray_cluster: str) -> None:
    """By the address at which others reach it, which `auto` does not say."""
    told: list[str] = []
    joined = Cluster("auto", 1, workers=2, note=told.append)
    assert told == [joined.described(2)]
    assert joined.described(2) == f"Ray at {ray_cluster}: 1 node, 2 CPUs"
    late = "; 2 of 64 workers begin, the others join as CPUs come"
    assert joined.described(64) == f"Ray at {ray_cluster}: 1 node, 2 CPUs{late}"
    joined.close()


def test_more_workers_than_cores_of_this_machine_are_told_of(ray_cluster: str) -> None:
    joined, cores = Cluster("auto", 1), available_cores()
    joined.own = True
    shared = f"{cores} CPUs, shared by 640 workers; more than {cores} are slower"
    assert joined.described(640) == f"Ray started on this machine: 1 node, {shared}"
    joined.own = False
    joined.close()


TERMINATED_SCRIPT = """
import os, signal, sys, threading, time
from rolecast.core.signals import terminable
from rolecast.platform.actors import cluster

def note(text):
    if text.startswith(sys.argv[1]):
        threading.Timer(float(sys.argv[2]), os.kill, (os.getpid(), signal.SIGTERM)).start()

with terminable() as received:
    try:
        cluster.Cluster(None, 1, note=note)
        time.sleep(60)
    except KeyboardInterrupt:
        print("ended by", *received)
"""


@pytest.mark.parametrize(
    ("when", "seconds"), [("starting Ray", 0.5), ("Ray started", 0.2)], ids=["during", "after"]
)
def test_sigterm_ends_a_start_of_ray_as_it_ends_all_else(when: str, seconds: float) -> None:
    """Ray's handlers called sys.exit, or ended the process with the stack of its C++ code."""
    command = [sys.executable, "-c", TERMINATED_SCRIPT, when, str(seconds)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (found.returncode, found.stdout) == (0, "ended by 15\n"), found.stderr


def test_sigterm_is_heeded_where_python_wraps_what_rays_handler_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The handler may run in a descriptor's `__set_name__`, whose errors become a RuntimeError."""

    class Met:
        def __set_name__(self, owner: type, name: str) -> None:
            sys.exit(signal.SIGTERM)

    def start(**_: object) -> None:
        type("Described", (), {"field": Met()})

    ended = list[bool]()
    monkeypatch.setattr(ray, "init", start)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # another test's cluster stays
    monkeypatch.setattr(ray, "shutdown", lambda: ended.append(True))
    with terminable() as received, pytest.raises(KeyboardInterrupt):
        cluster.Cluster(None, 1)
    assert received == [signal.SIGTERM]
    assert ended


OWN_CLUSTER_SCRIPT = """
import os, subprocess, sys
import ray
from rolecast.platform.actors import cluster

connection = cluster.Cluster(None, 1)
print(ray.get(ray.remote(lambda: os.nice(0)).remote()), os.nice(0))
node = ray._private.worker._global_node
print(node.dashboard_agent_listen_port, *sorted(node.all_processes))
address = ray.get_runtime_context().gcs_address
stranger = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False)"
command = [sys.executable, "-c", stranger, address]
ended = {}
for mode in ("disabled", "token"):
    # Ray's library asks 20 times, unless it is told otherwise.
    environment = os.environ | {"RAY_NUM_REDIS_GET_RETRIES": "2"}
    environment |= {"RAY_AUTH_MODE": mode, "HOME": sys.argv[1]}
    ended[mode] = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
for mode, process in ended.items():
    print(mode, "joined" if process.wait(timeout=120) == 0 else "refused")
connection.close()
print("after:", os.environ["RAY_AUTH_MODE"])
"""


@dataclass(frozen=True)
class OwnCluster:
    """What a driver of a cluster of its own told, and its home folder."""

    niceness: list[str]
    agent_port: int
    processes: list[str]
    """That Ray started beside its workers."""
    token: list[str]
    home: Path


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> OwnCluster:
    """A stranger has another home folder, so that Ray finds no token of ours there.

    The usual port of Ray's agent is taken, as by another cluster.
    """
    home, stranger = (tmp_path_factory.mktemp(name) for name in ("home", "stranger"))
    environment = os.environ | {"RAY_AUTH_MODE": "disabled", "HOME": str(home)}
    command = ["nice", "-n", "3", sys.executable, "-c", OWN_CLUSTER_SCRIPT, str(stranger)]
    with socket.socket() as taken:
        with suppress(OSError):  # another cluster has it indeed
            taken.bind(("", DEFAULT_DASHBOARD_AGENT_LISTEN_PORT))
            taken.listen()
        found = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=400, env=environment
        )
    niceness, started, *token = found.stdout.splitlines()
    port, *processes = started.split()
    return OwnCluster(niceness.split(), int(port), processes, token, home)


def test_workers_of_a_cluster_of_our_own_are_as_nice_as_its_driver(own_cluster: OwnCluster) -> None:
    """Ray's own default is 15 more: two programs beside a search made it take twelve times."""
    worker, driver = own_cluster.niceness
    assert worker == driver


def test_a_start_waits_for_no_port_and_for_no_process_that_a_search_has_no_use_for(
    own_cluster: OwnCluster,
) -> None:
    """Where another cluster had the agent's usual port, Ray tried it for 3 s."""
    assert own_cluster.agent_port > 0
    assert {"monitor", "log_monitor"}.isdisjoint(own_cluster.processes)


def test_a_cluster_of_our_own_asks_for_a_token_whatever_the_environment_says(
    own_cluster: OwnCluster,
) -> None:
    assert own_cluster.token == ["disabled refused", "token refused", "after: disabled"]
    assert (own_cluster.home / ".ray" / "auth_token").stat().st_mode & 0o077 == 0


def test_a_wrong_token_is_one_sentence(ray_cluster: str, tmp_path: Path) -> None:
    """Ray's own library writes a line for each of its attempts, 20 unless it is told otherwise."""
    wrong = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64, "RAY_NUM_REDIS_GET_RETRIES": "2"}
    words = ["search", "pred_prey_3", "--workers", "2", "--address", ray_cluster, "-q"]
    command = [sys.executable, "-m", "rolecast", *words, "--out", str(tmp_path / "run")]
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=os.environ | wrong
    )
    (sentence,) = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert sentence.startswith(f"rolecast: no Ray cluster answers at address '{ray_cluster}': ")
    assert sentence.endswith("needs RAY_AUTH_MODE=token and RAY_AUTH_TOKEN here too")
    assert not (tmp_path / "run").exists()


def test_what_else_is_written_while_a_cluster_is_joined_is_shown(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with cluster._quiet_refusal():
        os.write(2, b"the disk is nearly full\n")
    with cluster._quiet_refusal():
        os.write(2, b"Unauthenticated: InvalidAuthToken\n")
    assert capfd.readouterr().err == "the disk is nearly full\n"


def test_a_cluster_is_joined_where_stderr_is_closed() -> None:
    script = (
        "import os\n"
        "from rolecast.platform.actors import cluster\n"
        "os.close(2)\n"
        "with cluster._quiet_refusal():\n"
        "    print('joined')\n"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"joined\n"
