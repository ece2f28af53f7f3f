"""The paper's single-agent comparison on two robots, at the least and the most malformed reward."""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.parts import ONE_NET, learners

EXPERIMENT: Final = Experiment(
    name="single_agent",
    summary="A search and four learners on hopper and swimmer, reward dense, sparse and late",
    tasks=("hopper", "swimmer"),
    rewards=("dense", "sparse=100", "delay=100"),
    methods=(ONE_NET, *learners(("td3", "sac", "ppo", "ddpg"))),
    seeds=3,
    env_steps=200_000,
    test_episodes=20,
    final_test_episodes=100,
    paper="table4",
)
"""Policies of 10-10 throughout. An episode is up to 1000 steps, hence fewer held-out ones."""
