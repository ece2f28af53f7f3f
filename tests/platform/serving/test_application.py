"""The service answers over HTTP, and takes a new policy without losing a request."""

import asyncio
import http.client
import json
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.requests import Request

import rolecast
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import read_json, write_json
from rolecast.envs.registry import make_task
from rolecast.platform.serving.application import (
    MOST_BODY_BYTES,
    PolicyService,
    build,
    require_same_sizes,
)
from rolecast.platform.serving.config import ServeConfig
from rolecast.platform.serving.run import serving
from rolecast.platform.serving.served_policy import ServedPolicy, policy_version
from rolecast.policies.artefact import save_policy
from rolecast.policies.registry import make_policy

OBSERVATIONS = np.random.default_rng(3).normal(size=(64, 3, 16))
TAKEN_WITHIN_S = 30.0
"""Seconds after which a new policy must have been taken."""


@pytest.fixture(scope="module")
def folder(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of an artefact, which tests may replace."""
    return Path(shutil.copytree(small_run / "policy", tmp_path_factory.mktemp("serve") / "policy"))


@pytest.fixture(scope="module")
def port(ray_cluster: Any, folder: Path) -> Iterator[int]:
    """Port of the service of that folder."""
    told: list[str] = []
    with serving(folder, ServeConfig(port=0), told.append) as url:
        assert told == [f"Ray at {ray_cluster}: 1 node, 2 CPUs"]
        yield int(url.rpartition(":")[2])


def ask(
    port: int, method: str, path: str, body: object = None, *, timeout: float = 60.0
) -> tuple[int, str]:
    """Return the status and the text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        text = body if isinstance(body, str | None) else json.dumps(body)
        connection.request(method, path, text)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("given", [OBSERVATIONS[0], OBSERVATIONS], ids=["one", "batch"])
def test_actions_are_those_of_the_policy(port: int, folder: Path, given: Any) -> None:
    status, text = ask(port, "POST", "/act", {"observations": given.tolist()})
    assert status == 200
    found = np.array(json.loads(text)["actions"])
    np.testing.assert_array_equal(found, rolecast.load_policy(folder).act(given))


def test_slow_clients_do_not_stop_the_service(port: int) -> None:
    """Each of twelve sends a part of its body and no more; Ray Serve alone takes five requests."""
    with ExitStack() as opened:
        for _ in range(12):
            client = opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            client.sendall(b"POST /act HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        time.sleep(0.5)
        assert ask(port, "GET", "/health", timeout=20)[0] == 200
        given = {"observations": OBSERVATIONS[0].tolist()}
        assert ask(port, "POST", "/act", given, timeout=20)[0] == 200


def test_a_wrong_shape_is_422_with_one_sentence(port: int) -> None:
    status, text = ask(port, "POST", "/act", {"observations": [[1.0, 2.0]]})
    assert status == 422
    sentence = json.loads(text)["error"]
    assert "have shape [1, 2]; expected numbers [3, 16]" in sentence
    assert ask(port, "POST", "/act", "{")[0] == 422


def test_the_service_tells_of_itself(port: int, folder: Path) -> None:
    status, text = ask(port, "GET", "/health")
    assert status == 200
    told = {"status": "ok", "version": policy_version(folder), "refused_policy": None}
    assert json.loads(text) == told
    assert json.loads(ask(port, "GET", "/policy")[1])["task"] == "pred_prey_3"
    metrics = ask(port, "GET", "/metrics")[1]
    assert f'rolecast_serve_policy{{version="{policy_version(folder)}"}} 1.0' in metrics
    assert 'rolecast_serve_requests_total{status="422"}' in metrics
    assert ask(port, "GET", "/nothing")[0] == 404
    assert ask(port, "GET", "/act")[0] == 405
    assert ask(port, "HEAD", "/act")[0] == 405
    assert ask(port, "HEAD", "/health") == (200, "")


def test_a_new_policy_is_taken_under_load_without_a_lost_request(port: int, folder: Path) -> None:
    """Four clients ask without a pause while the policy is replaced; each answer is checked.

    Each is that of the version that it names, so no request met half of a policy.
    """
    task = make_task("pred_prey_3")
    policy = make_policy("linear", task)
    weights = policy.space.weights(np.random.default_rng(1).random(policy.space.dimension))
    expected = {policy_version(folder): rolecast.load_policy(folder).act(OBSERVATIONS[0])}
    answers: list[tuple[int, str]] = []
    over = threading.Event()

    def client() -> None:
        while not over.is_set():
            answers.append(ask(port, "POST", "/act", {"observations": OBSERVATIONS[0].tolist()}))

    clients = [threading.Thread(target=client) for _ in range(4)]
    for each in clients:
        each.start()
    try:
        save_policy(folder, policy, weights, task.spec)
        new = policy_version(folder)
        expected[new] = rolecast.load_policy(folder).act(OBSERVATIONS[0])
        deadline = time.monotonic() + TAKEN_WITHIN_S
        while not any(new in text for _, text in answers[-4:]) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
    finally:
        over.set()
        for each in clients:
            each.join()
        task.close()
    assert {status for status, _ in answers} == {200}
    versions = set()
    for _, text in answers:
        answer = json.loads(text)
        versions.add(answer["version"])
        np.testing.assert_array_equal(answer["actions"], expected[answer["version"]])
    assert versions == set(expected)


def test_a_damaged_policy_is_told_and_not_taken(port: int, folder: Path) -> None:
    before = json.loads(ask(port, "GET", "/health")[1])["version"]
    whole = (folder / "policy.json").read_text()
    (folder / "policy.json").write_text("{}")
    try:
        deadline = time.monotonic() + TAKEN_WITHIN_S
        told: dict[str, Any] = {"refused_policy": None}
        # It may be read while it is still empty, and is then told in other words at first.
        while "names no schema" not in str(told["refused_policy"]) and time.monotonic() < deadline:
            time.sleep(0.1)
            told = json.loads(ask(port, "GET", "/health")[1])
    finally:
        (folder / "policy.json").write_text(whole)
    assert "names no schema" in str(told["refused_policy"])
    assert told["version"] == before


@pytest.mark.parametrize("error", [KeyError("BF16"), FileNotFoundError("policy.json")])
def test_after_any_failure_to_load_a_good_policy_is_still_taken(
    small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Without Ray: of three new policies, loading the first fails as nobody foresaw."""
    monkeypatch.setattr("rolecast.platform.serving.application.WATCH_INTERVAL_S", 0.01)
    folder = Path(shutil.copytree(small_run / "policy", tmp_path / "policy"))
    service, first = PolicyService(str(folder)), policy_version(folder)
    load = ServedPolicy.load

    def fail(folder: Path, verify: Path | None) -> ServedPolicy:
        raise error

    monkeypatch.setattr(ServedPolicy, "load", fail)
    stored = read_json(folder / "policy.json")
    write_json(folder / "policy.json", stored | {"extra": {"number": 1}})
    told = health_of(service, lambda told: told["refused_policy"] is not None)
    assert told["refused_policy"].startswith(f"{type(error).__name__}: ")
    assert told["version"] == first
    monkeypatch.setattr(ServedPolicy, "load", load)
    told = health_of(service, lambda told: told["version"] != first)
    assert told["version"] == policy_version(folder)
    assert told["refused_policy"] is None


def test_other_requests_are_answered_while_a_batch_is_computed(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Ray: the batch ends only once the other request has its answer."""
    service, asked = PolicyService(str(small_run)), threading.Event()

    def act(_: ServedPolicy, __: bytes) -> Any:
        assert asked.wait(TAKEN_WITHIN_S)
        return OBSERVATIONS[0]

    monkeypatch.setattr(ServedPolicy, "act", act)

    async def both() -> list[int]:
        acting = asyncio.create_task(service(request_of("POST", "/act", b"{}")))
        await asyncio.sleep(0.1)
        health = await service(request_of("GET", "/health"))
        asked.set()
        return [health.status_code, (await acting).status_code]

    assert asyncio.run(both()) == [200, 200]


def test_a_body_that_is_too_long_is_refused_by_the_limit(small_run: Path) -> None:
    service = PolicyService(str(small_run))
    body = b" " * (MOST_BODY_BYTES + 1)
    answer = asyncio.run(service(request_of("POST", "/act", body)))
    assert answer.status_code == 422
    expected = f"the body is too long; expected at most {MOST_BODY_BYTES} bytes"
    assert json.loads(bytes(answer.body)) == {"error": expected}


def test_a_body_that_does_not_come_is_408(small_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rolecast.platform.serving.application.BODY_TIMEOUT_S", 0.05)

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(TAKEN_WITHIN_S)
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "POST", "path": "/act", "headers": []}
    answer = asyncio.run(PolicyService(str(small_run))(Request(scope, receive)))
    assert answer.status_code == 408
    expected = "the body came too slowly; expected all of it within 0.05 s"
    assert json.loads(bytes(answer.body)) == {"error": expected}


def request_of(method: str, path: str, body: bytes = b"") -> Request:
    """Return a request whose body comes in two parts."""
    half = len(body) // 2
    parts = [(body[:half], True), (body[half:], False)]

    async def receive() -> dict[str, Any]:
        part, more = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": more}

    return Request({"type": "http", "method": method, "path": path, "headers": []}, receive)


def health_of(service: PolicyService, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return what `GET /health` tells, as soon as that is wanted, or after a while."""
    request = request_of("GET", "/health")
    deadline = time.monotonic() + TAKEN_WITHIN_S
    while True:
        told: dict[str, Any] = json.loads(bytes(asyncio.run(service(request)).body))
        if wanted(told) or time.monotonic() > deadline:
            return told
        time.sleep(0.01)


def test_a_policy_of_other_sizes_is_refused_by_naming_both(small_run: Path, tmp_path: Path) -> None:
    task = make_task("drone_delivery_3")
    policy = make_policy("linear", task)
    save_policy(tmp_path / "other", policy, np.zeros(policy.space.size), task.spec)
    task.close()
    with pytest.raises(RequestError, match=r"of task 'drone_delivery_3'.*as of 'pred_prey_3'"):
        require_same_sizes(ServedPolicy.load(small_run), ServedPolicy.load(tmp_path / "other"))


def test_a_wrong_argument_of_a_config_file_is_named() -> None:
    with pytest.raises(ConfigError, match=r"args of the application is \['path'\]"):
        build({"path": "x"})
