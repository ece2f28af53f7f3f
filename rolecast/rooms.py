"""The folders that are mapped under `rolecast`: said once, for the installation and for checks."""

from typing import Final

ROOMS: Final = (
    "benchmarks",
    "tune_configs",
    "baselines",
    "platform",
    "policies",
    "envs",
    "core",
)
"""In the order of the import arrows: each may import those that follow it."""
