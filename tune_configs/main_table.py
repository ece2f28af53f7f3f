"""The main table: every optimiser on every task, an experiment for each budget.

Each budget is a search of its own, because an optimiser's schedules follow the budget it is given:
the figure at 400,000 env steps is what a user gets who asks for 400,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.files import file_name
from rolecast.platform.rollout.held_out import SEALED_SET
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

TEAM_BUDGETS: Final = (400_000, 800_000, 1_600_000)
"""Of predator-prey, env steps."""

ROBOT_BUDGETS: Final = (250_000, 1_000_000)
"""Of the locomotion tasks, env steps."""

TEAM_TEST_EPISODES: Final = 10_000
"""Held-out episodes of predator-prey: a standard error of some 0.8 for half a second."""

ROBOT_TEST_EPISODES: Final = 20
"""Held-out episodes of the locomotion tasks, which take forty times the steps."""

TABLE_HELD_OUT_SET: Final = SEALED_SET
"""Held-out episodes of the result tables, on which nothing was ever chosen."""

SYMMETRIC_TASKS: Final = ("pred_prey_3", "het_pred_prey_3", "pred_prey_6")
"""Tasks of the table that declare symmetries, by which weights can be tied."""

TABLE_OPTIMIZERS: Final = (
    SearchMethod(optimizer="dss_gp_ucb"),
    SearchMethod(optimizer="local_gp"),
    SearchMethod(
        optimizer="local_gp",
        optimizer_settings={"restart_at_centre": False},
        label="local_gp, start unheeded",
    ),
    SearchMethod(
        optimizer="cmaes", optimizer_settings={"separable": True}, label="cmaes separable"
    ),
    SearchMethod(optimizer="cmaes", optimizer_settings={"separable": False}, label="cmaes full"),
    SearchMethod(
        optimizer="local_gp",
        policy_options={"tied_weights": True},
        label="local_gp, tied weights",
        tasks=SYMMETRIC_TASKS,
    ),
    SearchMethod(
        optimizer="cmaes",
        optimizer_settings={"separable": True, "mirrored": True},
        policy_options={"tied_weights": True},
        label="cmaes separable, pairs, tied weights",
        tasks=SYMMETRIC_TASKS,
    ),
    SearchMethod(
        optimizer="dss_gp_ucb",
        optimizer_settings={"configuration": "paper"},
        label="dss_gp_ucb paper",
    ),
    SearchMethod(optimizer="gp_ucb"),
    SearchMethod(optimizer="random"),
)
"""In the order of the table."""


def optimizers_of(task: str) -> tuple[SearchMethod, ...]:
    """Return the optimisers of the table that search a task."""
    return tuple(method for method in TABLE_OPTIMIZERS if task in (method.tasks or (task,)))


def experiment(
    heading: str,
    task: str,
    policy: str,
    env_steps: int,
    test_episodes: int,
    policy_options: Mapping[str, Any] = MappingProxyType({}),
) -> Experiment:
    """Return all optimisers on one task with one policy, at one budget in env steps."""
    return Experiment(
        name=file_name(f"main_{heading}_{env_steps}"),
        summary=f"Every optimiser on {heading}, {env_steps:,} env steps",
        tasks=(task,),
        methods=tuple(
            replace(
                method,
                policy=policy,
                policy_options={**method.policy_options, **policy_options},
                tasks=(),
            )
            for method in optimizers_of(task)
        ),
        seeds=5,
        env_steps=env_steps,
        points=1,
        final_test_episodes=test_episodes,
        held_out_set=TABLE_HELD_OUT_SET,
    )


def _team(
    heading: str, task: str, policy_options: Mapping[str, Any] = MappingProxyType({})
) -> Sequence[Experiment]:
    return tuple(
        experiment(heading, task, "hom", budget, TEAM_TEST_EPISODES, policy_options)
        for budget in TEAM_BUDGETS
    )


def _robot(heading: str, task: str, policy: str) -> Sequence[Experiment]:
    return tuple(
        experiment(heading, task, policy, budget, ROBOT_TEST_EPISODES) for budget in ROBOT_BUDGETS
    )


TABLE: Final[Mapping[str, Sequence[Experiment]]] = MappingProxyType(
    {
        "pred_prey_3": _team("pred_prey_3", "pred_prey_3"),
        "pred_prey_3 with role net": _team(
            "pred_prey_3 with role net", "pred_prey_3", {"role_assignment": True}
        ),
        "het_pred_prey_3": _team("het_pred_prey_3", "het_pred_prey_3"),
        "pred_prey_6": _team("pred_prey_6", "pred_prey_6"),
        "Swimmer-v5": _robot("Swimmer-v5", "gym:Swimmer-v5", "mlp"),
        "Hopper-v5": _robot("Hopper-v5", "gym:Hopper-v5", "mlp"),
        "walker2d": _robot("walker2d", "walker2d", "mlp"),
        "ant": _robot("ant", "ant", "mlp"),
        "ma_ant_4x2": _robot("ma_ant_4x2", "ma_ant_4x2", "hom"),
    }
)
"""Heading to experiments, by budget; the first is the main one, which `docs/results.md` quotes."""
