"""A process of a pool does not outlive the process that began it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BEGIN = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from rolecast.core.mortal import end_with_parent

if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""


def test_a_process_of_a_pool_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "begin.py"
    script.write_text(BEGIN)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        child = int(run.stdout.readline())
        run.kill()
    for _ in range(200):
        if not alive(child):
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("it goes on")


def alive(pid: int) -> bool:
    """Return whether a process runs; one that nobody has waited for does not."""
    status = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(status.stdout.strip()) and not status.stdout.startswith("Z")
