"""The measurement of the service counts what clients were answered."""

from typing import Any

from rolecast.benchmarks.speed.serving import CLIENT_COUNTS, REQUEST_BATCHES, measure_service
from rolecast.benchmarks.speed.serving import service_page as page


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
