"""A running search in Ray's exporter, as Prometheus reads it; and the dashboard that draws it."""

import json
import re
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import ray

from rolecast.platform.actors.exporter import EXPORTED_METRICS
from rolecast.platform.search.run import search

ROOT = Path(__file__).resolve().parents[3]


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
    assert len(board["panels"]) == 6
    assert set(drawn) <= set(EXPORTED_METRICS)
