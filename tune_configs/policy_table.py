"""What a graph of parameters is worth on policies: searches of predator-prey, scored all along."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.main_table import TABLE_HELD_OUT_SET, TEAM_TEST_EPISODES

GRAPH_SEARCHES: Final = (
    SearchMethod(optimizer="random"),
    SearchMethod(optimizer="cmaes", label="cmaes separable"),
    SearchMethod(optimizer="cmaes", optimizer_settings={"separable": False}, label="cmaes full"),
    SearchMethod(optimizer="local_gp", label="local, none"),
    SearchMethod(
        optimizer="dss_gp_ucb", optimizer_settings={"structure": "found"}, label="local, found"
    ),
    SearchMethod(
        optimizer="dss_gp_ucb", optimizer_settings={"structure": "random"}, label="local, random"
    ),
    SearchMethod(optimizer="gp_ucb", label="global, none"),
)
"""Searches by scope and graph; nobody knows the true graph of a policy."""

EXPERIMENT: Final = Experiment(
    name="policy_table",
    summary="Searches of the role policy with a graph that is found, random or absent",
    tasks=("pred_prey_3", "het_pred_prey_3"),
    methods=GRAPH_SEARCHES,
    seeds=5,
    env_steps=800_000,
    points=12,
    test_episodes=TEAM_TEST_EPISODES,
    final_test_episodes=TEAM_TEST_EPISODES,
    held_out_set=TABLE_HELD_OUT_SET,
)
"""Scored at twelve points of the budget, on the same fresh episodes for all."""

TABLE: Final[Mapping[str, Sequence[Experiment]]] = MappingProxyType({"policies": (EXPERIMENT,)})
"""One heading, one experiment."""
