"""A running search in Ray's exporter, as Prometheus reads it; and the dashboard that draws it."""

import json
import re
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray

from rolecast.platform.actors import exporter
from rolecast.platform.actors.exporter import EXPORTED_METRICS
from rolecast.platform.search.progress import ProgressSnapshot
from rolecast.platform.search.run import search

ROOT = Path(__file__).resolve().parents[3]

BEGUN = ProgressSnapshot(
    batch=1, evaluations=10, env_steps=250, spent=0.1, best_return=1.0, best_stderr=None,
    incumbent_return=None, incumbent_stderr=None, env_steps_per_s=100.0, ask_s=0.0, tell_s=0.0,
    wall_time_s=2.5, time_left_s=None,
)  # fmt: skip


def scraped() -> str:
    """Return what the exporters of all nodes say."""
    return "".join(
        urllib.request.urlopen(
            f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics", timeout=5
        )
        .read()
        .decode()
        for node in ray.nodes()  # type: ignore[no-untyped-call]
    )


@pytest.mark.usefixtures("ray_cluster")
def test_a_search_with_workers_is_seen_by_prometheus(tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings: dict[str, Any] = {
        "policy": "mlp",
        "optimizer": "random",
        "evaluations": 40,
        "episodes": 2,
    }
    result = search("pred_prey_3", workers=1, out=out, **settings)
    expected, told = float(result.summary["policy_evaluations"]), 0.0
    deadline = time.monotonic() + 60.0
    pattern = re.compile(rf'ray_rolecast_evaluations\{{.*run="{re.escape(str(out))}".*\}} (\S+)')
    while told != expected and time.monotonic() < deadline:  # told in between is the search's midst
        time.sleep(0.5)
        told = max((float(value) for value in pattern.findall(scraped())), default=0.0)
    assert told == expected
    for name in EXPORTED_METRICS:
        assert f"ray_{name}{{" in scraped()


def test_the_dashboard_draws_metrics_that_are_exported() -> None:
    board = json.loads((ROOT / "deploy" / "grafana.json").read_text())
    drawn = re.findall(r"ray_(rolecast_\w+)", json.dumps(board))
    assert len(board["panels"]) == 7
    assert set(drawn) <= set(EXPORTED_METRICS)
    assert "rolecast_lost_workers" in drawn


def test_workers_that_had_started_and_are_gone_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, list[float]] = {}

    class Noted:
        """A gauge that keeps what it is set to."""

        def __init__(self, name: str, **_: Any) -> None:
            self._values = shown.setdefault(name, [])

        def set(self, value: float, tags: dict[str, str]) -> None:
            assert tags == {"run": "runs/hunt"}
            self._values.append(value)

    monkeypatch.setattr(exporter, "Gauge", Noted)
    metrics = exporter.SearchMetrics("runs/hunt")
    for workers in ({}, {"a": 2, "b": 2}, {"a": 1}, {"a": 2, "c": 2}):
        figures = replace(BEGUN, workers=workers)
        metrics.show(figures, queued=3, repeated=1)
    assert shown["rolecast_workers"] == [0, 4, 1, 4]
    assert shown["rolecast_lost_workers"] == [0, 0, 3, 0]
