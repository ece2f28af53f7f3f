"""The Ray Serve application: HTTP in front of `ServedPolicy`, and the change to a new policy.

`build` is what the `import_path` of a config file of `serve deploy` names.
"""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from ray import serve
from ray.serve import Application
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from rolecast.core.errors import ConfigError, RequestError
from rolecast.platform.serving.served_policy import ServedPolicy, policy_version
from rolecast.platform.serving.service_metrics import ServiceMetrics

WATCH_INTERVAL_S: Final = 0.5
"""Time between two looks for a new policy in the folder."""

WRONG_REQUEST: Final = 422
"""HTTP status of a body that does not fit the policy."""

SLOW_REQUEST: Final = 408
"""HTTP status of a body that does not come in time."""

BODY_TIMEOUT_S: Final = 30.0
"""Longest time in which a whole body must come."""

OPEN_REQUESTS: Final = 200
"""Most requests of a replica at once: Ray Serve takes 5, which slow clients alone would hold."""

MOST_BODY_BYTES: Final = 16 * 2**20
"""Longest body of a request."""

_ROUTE_METHODS: Final = {"/act": "POST", "/health": "GET", "/policy": "GET", "/metrics": "GET"}


class PolicyService:
    """One replica: answers requests by the policy of a folder, and follows that folder."""

    def __init__(self, folder: str, verify: str | None = None) -> None:
        """Load the policy, and begin to look for new ones.

        Args:
            folder: of a run, or of an artefact, on the machine of the replica.
            verify: file of an Ed25519 public key, which must have signed each policy.
        """
        self._folder, self._verify = folder, verify
        self._served = ServedPolicy.load(folder, verify)
        self._refused: str | None = None
        self._metrics = ServiceMetrics()
        self._metrics.uses(self._served.version)
        # Other requests are answered while a large batch is computed.
        self._actor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="act")
        threading.Thread(target=self._follow, daemon=True).start()

    async def __call__(self, request: Request) -> Response:
        """Answer a request."""
        path = request.url.path.rstrip("/")
        method = _ROUTE_METHODS.get(path)
        if method is None:
            known = ", ".join(f"{each} {name}" for name, each in _ROUTE_METHODS.items())
            return _refusal(404, f"there is no {path or '/'}; expected one of {known}")
        # A server leaves out the body of an answer to HEAD.
        asked = "GET" if request.method == "HEAD" else request.method
        if asked != method:
            return _refusal(405, f"{path} was asked by {request.method}; expected {method}")
        if path == "/act":
            try:
                body = await asyncio.wait_for(_whole_body(request), BODY_TIMEOUT_S)
            except TimeoutError:
                self._metrics.answered(SLOW_REQUEST, 0, None)
                expected = f"expected all of it within {BODY_TIMEOUT_S:g} s"
                return _refusal(SLOW_REQUEST, f"the body came too slowly; {expected}")
            return await asyncio.get_running_loop().run_in_executor(self._actor, self._act, body)
        if path == "/policy":
            return JSONResponse(self._served.describe())
        if path == "/metrics":
            return PlainTextResponse(self._metrics.text())
        return JSONResponse(
            {"status": "ok", "version": self._served.version, "refused_policy": self._refused}
        )

    def _act(self, body: bytes | None) -> Response:
        """Answer by the policy that is in use now, when the whole body is there.

        Args:
            body: None where it is too long.
        """
        begin, served = time.perf_counter(), self._served
        if body is None:
            self._metrics.answered(WRONG_REQUEST, 0, time.perf_counter() - begin)
            expected = f"expected at most {MOST_BODY_BYTES} bytes"
            return _refusal(WRONG_REQUEST, f"the body is too long; {expected}")
        try:
            actions = served.act(body)
        except RequestError as error:
            self._metrics.answered(WRONG_REQUEST, 0, time.perf_counter() - begin)
            return _refusal(WRONG_REQUEST, str(error))
        response = JSONResponse({"actions": actions.tolist(), "version": served.version})
        sets = 1 if actions.ndim == 2 else len(actions)
        self._metrics.answered(response.status_code, sets, time.perf_counter() - begin)
        return response

    def _follow(self) -> None:
        """Take each new policy of the folder, and keep the old one where it cannot be loaded.

        A new one is loaded beside the old one, in this thread: requests are answered all the time.
        """
        while True:
            time.sleep(WATCH_INTERVAL_S)
            before = self._served
            try:
                if policy_version(self._folder) == before.version:
                    self._refused = None
                    continue
                found = ServedPolicy.load(self._folder, self._verify)
                require_same_sizes(before, found)
            except RequestError as error:
                # Half written, or refused: told by GET /health, and tried again.
                self._refused = str(error)
                continue
            except Exception as error:  # noqa: BLE001 - told and tried again, as a refusal is
                self._refused = f"{type(error).__name__}: {error}"
                continue
            self._served, self._refused = found, None
            self._metrics.uses(found.version, before.version)


async def _whole_body(request: Request) -> bytes | None:
    """Return the body of a request, or None where it is too long, of which no more is held."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BODY_BYTES:
            parts.clear()
        else:
            parts.append(part)
    return b"".join(parts) if size <= MOST_BODY_BYTES else None


def require_same_sizes(before: ServedPolicy, found: ServedPolicy) -> None:
    """Refuse a new policy whose clients would have to send other shapes.

    Raises:
        RequestError: names both tasks.
    """
    sizes = [
        (task.agents, task.observation_size, task.action_size)
        for task in (found.trained.task, before.trained.task)
    ]
    if sizes[0] != sizes[1]:
        raise RequestError(
            f"agents, observation_size and action_size of task {found.trained.task_id!r} are "
            f"{sizes[0]}; expected {sizes[1]}, as of {before.trained.task_id!r}, which is served"
        )


def _refusal(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=status)


def application(folder: str, verify: str | None = None, replicas: int = 1) -> Application:
    """Return the application of a folder.

    Args:
        folder: of the policy.
        verify: file of a public key, which must have signed the policy.
        replicas: processes that answer.
    """
    deployment = serve.deployment(num_replicas=replicas, max_ongoing_requests=OPEN_REQUESTS)
    return deployment(PolicyService).bind(folder, verify)


def build(args: dict[str, Any]) -> Application:
    """Return the application of a config file; Ray Serve takes builders of one parameter alone.

    Args:
        args: `folder` of the policy, and perhaps `verify`, the file of a public key.
    Raises:
        ConfigError: another argument, or no folder.
    """
    if "folder" not in args or not args.keys() <= {"folder", "verify"}:
        expected = "folder, and perhaps verify"
        raise ConfigError("args of the application", sorted(args), expected)
    return application(str(args["folder"]), args.get("verify"))
