"""The part of `single_agent` that two cores finish within the hour: hopper, without replay.

Learners with a replay make an update for each env step, which takes the better part of an hour for
each of their trials.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.parts import ONE_NET, learners

EXPERIMENT: Final = Experiment(
    name="hopper",
    summary="Two searches and PPO on hopper, reward dense, sparse and late",
    tasks=("hopper",),
    rewards=("dense", "sparse=100", "delay=100"),
    methods=(ONE_NET, SearchMethod(optimizer="cmaes", policy="mlp"), *learners(("ppo",))),
    seeds=3,
    env_steps=200_000,
    points=10,
    test_episodes=20,
    final_test_episodes=100,
    paper="table4",
)
"""Policies of 10-10 throughout, as in the paper."""
