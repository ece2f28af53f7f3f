"""The dial on a robot for which standing still is worth nothing: the swimmer, of 1,000 steps.

Sparse reward is paid once an episode, which is dense reward to a search.
"""

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.tune_configs.main_table import (
    ARS_SETTINGS,
    ROBOT_TEST_EPISODES,
    TABLE_HELD_OUT_SET,
)

TASK_NAME: Final = "swimmer"

SPARSE_REWARDS: Final = ("sparse=1000",)
"""Paid once an episode."""

SEARCH_REWARDS: Final = ("dense", "delay=100", "flip=0.2", "drop=0.9")
"""Those that change what a search sees."""

LONG_DISCOUNT: Final = 0.9999
"""Discount of learners on the swimmer, beside their authors' 0.99: a stroke pays late.

Source: Franceschetti et al. 2022, "Making Reinforcement Learning Work on Swimmer"; it is that of RL
Baselines3 Zoo too, whose TD3 earns 359 on Swimmer-v3 after 1,000,000 steps.
"""

_ARS_BATCH, _ARS_SETTINGS = ARS_SETTINGS[TASK_NAME]
_LINEAR_OPTIONS: Final = MappingProxyType({"normalise": "running"})

_UNTOLD_SEARCH: Final = SearchMethod(
    optimizer="dss_gp_ucb", optimizer_settings={"symmetry": "ignored"}
)
_LINEAR_SEARCHES: Final = (
    SearchMethod(optimizer="dss_gp_ucb"),
    replace(_UNTOLD_SEARCH, label="dss_gp_ucb_no_symmetry"),
    SearchMethod(optimizer="ars", optimizer_settings=_ARS_SETTINGS, batch_size=_ARS_BATCH),
    SearchMethod(optimizer="cmaes", optimizer_settings={"separable": True, "mirrored": True}),
)
_NET_SEARCH: Final = replace(_UNTOLD_SEARCH, policy="mlp", label="dss_gp_ucb_one_net")

ROBOT_SEARCHES: Final = (
    *(
        replace(search, policy="linear", policy_options=_LINEAR_OPTIONS, rewards=SEARCH_REWARDS)
        for search in _LINEAR_SEARCHES
    ),
    replace(_NET_SEARCH, rewards=SEARCH_REWARDS),
)
"""Of the linear policy as in the main table, and of a net of two layers of ten."""

ROBOT_LEARNERS: Final = tuple(
    LearnerMethod(
        algorithm=name,
        settings={} if gamma is None else {"gamma": gamma},
        label=name if gamma is None else f"{name}_gamma_{gamma:g}",
    )
    for name in ("sac", "td3", "ppo")
    for gamma in (None, LONG_DISCOUNT)
)
"""With the nets and settings of their authors, but for the discount."""

EXPERIMENT: Final = Experiment(
    name="broken_swimmer",
    summary="Searches and learners on the swimmer, with rewards ever more broken",
    tasks=(TASK_NAME,),
    rewards=("dense", *SPARSE_REWARDS, *SEARCH_REWARDS[1:]),
    methods=(*ROBOT_SEARCHES, *ROBOT_LEARNERS),
    seeds=3,
    env_steps=200_000,
    points=10,
    test_episodes=ROBOT_TEST_EPISODES,
    final_test_episodes=ROBOT_TEST_EPISODES,
    held_out_set=TABLE_HELD_OUT_SET,
)
"""Some ten core-hours, nearly all of them of SAC and TD3."""
