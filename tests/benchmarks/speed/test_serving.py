"""The measurement of the service counts what clients were answered."""

import socket
import threading
from typing import Any

import pytest

from rolecast.benchmarks.speed import serving
from rolecast.benchmarks.speed.serving import CLIENT_COUNTS, REQUEST_BATCHES, measure_service
from rolecast.benchmarks.speed.serving import service_page as page
from rolecast.core.errors import RunError


def test_every_batch_and_number_of_clients_is_measured(ray_cluster: Any) -> None:
    notes: list[str] = []
    found = measure_service(quick=True, note=notes.append)
    met = [(row["batch"], row["clients"]) for row in found["rows"]]
    assert met == [(batch, clients) for batch in REQUEST_BATCHES for clients in CLIENT_COUNTS]
    assert len(notes) == len(met)
    for row in found["rows"]:
        assert row["requests"] > 0
        assert 0.0 < row["p50_ms"] <= row["p99_ms"]
    assert "| 64 | 8 |" in page(found)


def test_an_answer_that_is_cut_off_is_a_failure() -> None:
    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            while b"{}" not in connection.recv(65_536):
                pass
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nxx")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(RunError, match="failed: IncompleteRead"):
            serving._load(listener.getsockname()[1], "{}", 1, 1.0)
