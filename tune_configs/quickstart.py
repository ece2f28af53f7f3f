"""A first look: two searches and three learners on predator-prey, reward dense, sparse and late."""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.parts import learners

EXPERIMENT: Final = Experiment(
    name="quickstart",
    summary="Searches and learners on predator-prey, with the reward dense, sparse and late",
    tasks=("pred_prey_3",),
    rewards=("dense", "sparse=5", "delay=5"),
    methods=(
        SearchMethod(optimizer="dss_gp_ucb"),
        SearchMethod(optimizer="cmaes"),
        *learners(("maddpg", "facmac", "ppo")),
    ),
    seeds=3,
    env_steps=25_000,
)
"""Minutes on two cores. Too short for learners to end: it shows how a comparison reads."""
