"""Metrics of the service, as Prometheus reads them."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

LATENCY_BOUNDS_S: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
"""Upper bounds of the buckets of answering times, in seconds."""


class ServiceMetrics:
    """Counters of one replica."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "rolecast_serve_requests",
            "requests to /act, by HTTP status",
            ["status"],
            registry=self._registry,
        )
        self._observation_sets = Counter(
            "rolecast_serve_observation_sets",
            "observation sets that were answered by actions",
            registry=self._registry,
        )
        self._seconds = Histogram(
            "rolecast_serve_act_seconds",
            "time from the body of a request to its answer, in the replica",
            buckets=LATENCY_BOUNDS_S,
            registry=self._registry,
        )
        self._swaps = Counter(
            "rolecast_serve_policy_swaps",
            "new policies that were taken in place of an older one",
            registry=self._registry,
        )
        self._version = Gauge(
            "rolecast_serve_policy", "1 for the policy in use", ["version"], registry=self._registry
        )

    def answered(self, status: int, sets: int, seconds: float | None) -> None:
        """Count a request.

        Args:
            status: of HTTP.
            sets: observation sets in it.
            seconds: that it took from its body on; None where no whole body came.
        """
        self._requests.labels(str(status)).inc()
        self._observation_sets.inc(sets)
        if seconds is not None:
            self._seconds.observe(seconds)

    def uses(self, version: str, before: str | None = None) -> None:
        """Name the policy in use, and the one before it."""
        if before is not None:
            self._version.remove(before)
            self._swaps.inc()
        self._version.labels(version).set(1)

    def text(self) -> str:
        """Return all of them in the format of Prometheus."""
        return generate_latest(self._registry).decode()
