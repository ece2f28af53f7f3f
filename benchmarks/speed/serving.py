"""Speed of `rolecast serve` on loopback: requests a second, and how long an answer takes.

Clients are threads of this process that ask without a pause over a kept connection, so that they
and the service share the cores of one machine.
"""

import http.client
import json
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import keyed_table
from rolecast.benchmarks.timing import digits, machine
from rolecast.core.errors import RunError
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.platform.serving.config import ServeConfig
from rolecast.platform.serving.run import serving
from rolecast.policies.artefact import save_policy
from rolecast.policies.registry import make_policy

SERVED_TASK: Final = "pred_prey_3"
SERVED_POLICY: Final = "hom"

REQUEST_BATCHES: Final = (1, 64)
"""Observation sets of a request."""

CLIENT_COUNTS: Final = (1, 8)
"""Clients at the same time."""

SERVICE_COLUMNS: Final = (
    ("observation sets a request", "batch"),
    ("clients", "clients"),
    ("requests/s", "requests_per_s"),
    ("sets/s", "sets_per_s"),
    ("p50, ms", "p50_ms"),
    ("p99, ms", "p99_ms"),
)
"""Names and keys of the page's columns."""

_MEASURED_S: Final = 6.0
_QUICK_S: Final = 0.5


def measure_service(*, quick: bool, note: Callable[[str], None]) -> dict[str, Any]:
    """Return the speed of the service for each batch and number of clients, as JSON values.

    Args:
        quick: half a second each, instead of six.
        note: told of each measurement.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        task = make_task(SERVED_TASK)
        policy = make_policy(SERVED_POLICY, task)
        weights = policy.space.weights(np.random.default_rng(0).random(policy.space.dimension))
        save_policy(Path(folder), policy, weights, task.spec)
        sizes = (task.spec.agents, task.spec.observation_size)
        task.close()
        with serving(folder, ServeConfig(port=0)) as url:
            port = int(url.rpartition(":")[2])
            for batch in REQUEST_BATCHES:
                observations = np.random.default_rng(batch).normal(size=(batch, *sizes))
                body = json.dumps({"observations": observations.tolist()})
                for clients in CLIENT_COUNTS:
                    times, seconds = _load(port, body, clients, _QUICK_S if quick else _MEASURED_S)
                    row = {
                        "batch": batch,
                        "clients": clients,
                        "requests": len(times),
                        "requests_per_s": digits(len(times) / seconds),
                        "sets_per_s": digits(batch * len(times) / seconds),
                        "p50_ms": digits(float(np.quantile(times, 0.5)) * 1e3),
                        "p99_ms": digits(float(np.quantile(times, 0.99)) * 1e3),
                        "body_bytes": len(body),
                    }
                    rows.append(row)
                    note(f"batch {batch}, {clients} clients: {row['requests_per_s']} requests/s")
    found = machine({"ray": "ray", "starlette": "starlette", "uvicorn": "uvicorn"})
    return {"machine": found, "policy": SERVED_POLICY, "task": SERVED_TASK, "rows": rows}


def _load(port: int, body: str, clients: int, seconds: float) -> tuple[Float, float]:
    """Return the time of each request [R], in seconds, and the time of all of them together.

    Raises:
        RunError: a request failed.
    """
    times: list[list[float]] = [[] for _ in range(clients)]
    failures: list[str] = []
    until = time.perf_counter() + seconds

    def client(place: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            while time.perf_counter() < until:
                begin = time.perf_counter()
                connection.request("POST", "/act", body)
                answer = connection.getresponse()
                text = answer.read()
                times[place].append(time.perf_counter() - begin)
                if answer.status != http.HTTPStatus.OK:
                    failures.append(f"{answer.status}: {text.decode()[:200]}")
                    return
        except (OSError, http.client.HTTPException) as error:
            failures.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    begin = time.perf_counter()
    threads = [threading.Thread(target=client, args=(place,)) for place in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - begin
    if failures:
        raise RunError(f"a request of the benchmark failed: {failures[0]}")
    return np.concatenate([np.asarray(each) for each in times]), taken


def service_page(found: Mapping[str, Any]) -> str:
    """Return the page."""
    thousands = ("requests_per_s", "sets_per_s")
    rows = [row | {key: f"{row[key]:,}" for key in thousands} for row in found["rows"]]
    lines = [
        "# Speed of the service",
        "",
        f"`rolecast bench serve`, on {found['machine']['processor']}, {found['machine']['cores']} "
        f"cores: `{found['policy']}` of `{found['task']}`, one replica, loopback. Clients are "
        "threads of one",
        "process that ask without a pause, and share the cores with the service. One run of each;",
        "differences of less than a fifth say nothing.",
        "",
        keyed_table(SERVICE_COLUMNS, rows),
    ]
    return "\n".join(lines) + "\n"
