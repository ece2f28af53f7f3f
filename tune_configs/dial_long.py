"""The dial of `dial` at four times its budget, with three seeds."""

from dataclasses import replace
from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.dial import EXPERIMENT as SHORT_EXPERIMENT

EXPERIMENT: Final[Experiment] = replace(
    SHORT_EXPERIMENT,
    name="dial_long",
    summary="The dial at 800,000 env steps",
    env_steps=800_000,
    seeds=3,
    points=20,
)
"""Some 120 core-hours."""
