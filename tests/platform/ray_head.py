"""A Ray head of its own, for tests of commands that talk to a cluster's dashboard."""

import os
import random
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
from typing import Final

LISTENING_PORTS: Final = range(20_000, 32_000)
"""Below those that Linux (from 32768) and macOS (from 49152) give to outgoing connections: such a
connection could take a port before the head listens on it."""


@dataclass(frozen=True)
class Head:
    """A Ray head on this machine that takes jobs and services, with its token."""

    url: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes]
    log: Path

    def fate(self) -> str:
        """Return the log of a head that has ended; nothing of one that runs."""
        code = self.process.poll()
        return "" if code is None else f"\nthe head ended with {code}:\n{self.log.read_text()}"


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on; all are held until the last is chosen."""
    free: list[int] = []
    with ExitStack() as held:
        for port in random.SystemRandom().sample(LISTENING_PORTS, k=len(LISTENING_PORTS)):
            if len(free) == count:
                break
            each = held.enter_context(socket.socket())
            try:
                each.bind(("", port))
            except OSError:  # somebody listens on it
                continue
            free.append(port)
    return free


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
    log = Path(place) / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
    head = Head(f"http://127.0.0.1:{dashboard}", environment, process, log)
    try:
        while not answers(dashboard):
            assert not head.fate(), head.fate()
            time.sleep(0.1)
        yield head
    finally:
        # On Linux the others end with it; told to, it takes half a minute where Ray Serve runs.
        end = process.kill if sys.platform == "linux" else process.terminate
        end()
        process.wait(timeout=60)
        shutil.rmtree(place, ignore_errors=True)
