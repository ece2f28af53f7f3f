"""A Ray head of its own, for tests of commands that talk to a cluster's dashboard."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Head:
    """A Ray head on this machine that takes jobs and services, with its token."""

    url: str
    environment: dict[str, str]


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on; all are held until the last is chosen."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def answers(port: int) -> bool:
    """Tell whether something listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def ray_head(cpus: int) -> Iterator[Head]:
    """Start a head, in a process that takes all others of it along when it ends."""
    port, dashboard, agent, client = free_ports(4)
    place = tempfile.mkdtemp(prefix="rayjob")  # short: sockets lie in it
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_worker_niceness": "0",  # tests that run beside it would stop its workers
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    environment.pop("RAY_ADDRESS", None)
    options = {
        "port": port,
        "dashboard-port": dashboard,
        "dashboard-agent-listen-port": agent,
        "ray-client-server-port": client,
        "min-worker-port": 0,
        "max-worker-port": 0,
        "num-cpus": cpus,
        "temp-dir": place,
    }
    command = ["ray", "start", "--head", "--block", "--disable-usage-stats"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (Path(place) / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        while not answers(dashboard):
            assert process.poll() is None, (Path(place) / "log").read_text()
            time.sleep(0.1)
        yield Head(f"http://127.0.0.1:{dashboard}", environment)
    finally:
        # On Linux the others end with it; told to, it takes half a minute where Ray Serve runs.
        end = process.kill if sys.platform == "linux" else process.terminate
        end()
        process.wait(timeout=60)
        shutil.rmtree(place, ignore_errors=True)
