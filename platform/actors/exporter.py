"""Metrics of a running search in Ray's exporter, from which Prometheus reads them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ray.util.metrics import Gauge

from rolecast.platform.search.progress import ProgressSnapshot

EXPORTED_METRICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "rolecast_evaluations": "evaluations done",
        "rolecast_env_steps": "steps of all episodes",
        "rolecast_env_steps_per_second": "steps a second since the first batch",
        "rolecast_budget_spent": "share of the budget used, in [0, 1]",
        "rolecast_incumbent_return": "return of the incumbent, measured or estimated",
        "rolecast_workers": "rollout workers that have started",
        "rolecast_lost_workers": "rollout workers that had started and do not answer, or are late",
        "rolecast_workers_wait": "share of the time in which no episode ran, in [0, 1]",
        "rolecast_queued_chunks": "chunks of the last batch that workers shared; no queue",
        "rolecast_repeated_chunks": "chunks given to a second worker, the first being late",
    }
)
"""Name, to which Ray adds `ray_` in front, to meaning. All have the tag `run`, the run's folder."""


class SearchMetrics:
    """Gauges of one search."""

    def __init__(self, run: str) -> None:
        self._gauges = {
            name: Gauge(name, description=meaning, tag_keys=("run",))
            for name, meaning in EXPORTED_METRICS.items()
        }
        self._tags = {"run": run}
        self._most = 0

    def show(self, figures: ProgressSnapshot, *, queued: int, repeated: int) -> None:
        """Set all gauges.

        Args:
            figures: where the search stands.
            queued: chunks of the last batch that workers shared.
            repeated: chunks that were given to a second worker so far.
        """
        there = sum(figures.workers.values())
        self._most = max(self._most, there)
        values: dict[str, float | None] = {
            "rolecast_evaluations": figures.evaluations,
            "rolecast_env_steps": figures.env_steps,
            "rolecast_env_steps_per_second": figures.env_steps_per_s,
            "rolecast_budget_spent": figures.spent,
            "rolecast_incumbent_return": figures.incumbent_return,
            "rolecast_workers": there,
            "rolecast_lost_workers": self._most - there,
            "rolecast_workers_wait": figures.workers_wait,
            "rolecast_queued_chunks": queued,
            "rolecast_repeated_chunks": repeated,
        }
        for name, value in values.items():
            if value is not None:
                self._gauges[name].set(value, tags=self._tags)
