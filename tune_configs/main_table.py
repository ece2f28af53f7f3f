"""The main table: every optimiser on every task, an experiment for each budget.

Each budget is a search of its own, because an optimiser's schedules follow the budget it is given:
the figure at 400,000 env steps is what a user gets who asks for 400,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.files import file_name
from rolecast.envs.mujoco.robots import ROBOT_MODELS
from rolecast.platform.rollout.held_out import SEALED_SET
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.rewards import DENSE_REWARD

TEAM_BUDGETS: Final = (400_000, 800_000, 1_600_000)
"""Of predator-prey, env steps."""

HOPPER_BUDGETS: Final = (250_000, 1_000_000)
SWIMMER_BUDGETS: Final = (150_000,)
LONG_BUDGETS: Final = (1_000_000,)
"""Of `walker2d` and `ant`, env steps."""

TEAM_TEST_EPISODES: Final = 10_000
"""Held-out episodes of predator-prey: a standard error of some 0.8 for half a second."""

ROBOT_TEST_EPISODES: Final = 20
"""Held-out episodes of the robots, which take forty times the steps."""

TABLE_HELD_OUT_SET: Final = SEALED_SET
"""Held-out episodes of the result tables, on which nothing was ever chosen."""

TEAM_OPTIMIZERS: Final = (
    SearchMethod(optimizer="dss_gp_ucb"),
    SearchMethod(optimizer="local_gp"),
    SearchMethod(
        optimizer="cmaes", optimizer_settings={"separable": True}, label="cmaes separable"
    ),
    SearchMethod(optimizer="cmaes", optimizer_settings={"separable": False}, label="cmaes full"),
    SearchMethod(
        optimizer="local_gp",
        policy_options={"tied_weights": True},
        label="local_gp, tied weights",
    ),
    SearchMethod(
        optimizer="cmaes",
        optimizer_settings={"separable": True, "mirrored": True},
        policy_options={"tied_weights": True},
        label="cmaes separable, pairs, tied weights",
    ),
    SearchMethod(
        optimizer="dss_gp_ucb",
        optimizer_settings={"configuration": "paper"},
        label="dss_gp_ucb paper",
    ),
    SearchMethod(optimizer="gp_ucb"),
    SearchMethod(optimizer="random"),
)
"""Of predator-prey, in the order of the table; its tasks declare symmetries."""

ARS_SETTINGS: Final[Mapping[str, tuple[int, Mapping[str, float]]]] = MappingProxyType(
    {
        "hopper": (16, {"radius": 0.0125 * 36**0.5, "step_size": 0.4, "top_share": 0.5}),
        "swimmer": (4, {"radius": 0.005 * 18**0.5, "step_size": 2.0}),
        "walker2d": (80, {"radius": 0.0125 * 108**0.5, "step_size": 1.2, "top_share": 0.75}),
        "ant": (120, {"radius": 0.0125 * 224**0.5, "step_size": 0.6, "top_share": 1.0 / 3.0}),
    }
)
"""Batch size and settings of `ars` by robot: its authors' choice of alpha, nu, N and b.

The side of the cube is 2 of a weight: sigma = nu / 2, and a step is alpha / nu sigma. hopper: 0.01,
0.025, 8, 4; swimmer: 0.02, 0.01, 1, 1; walker2d: 0.03, 0.025, 40, 30; ant: 0.015, 0.025, 60, 20.
Differs: on `swimmer`, N is 2, the fewest that have a spread.
"""


def robot_optimizers(task: str) -> tuple[SearchMethod, ...]:
    """Return the optimisers of a robot's linear policy, in the order of the table.

    Args:
        task: name of the task, without settings.
    """
    batch_size, settings = ARS_SETTINGS[task]
    ars = SearchMethod(optimizer="ars", optimizer_settings=settings, batch_size=batch_size)
    raw = replace(ars, policy_options={"normalise": "none"}, label="ars, raw observations")
    return (
        SearchMethod(optimizer="dss_gp_ucb"),
        ars,
        *(() if ROBOT_MODELS[task].pays_survival else (raw,)),  # the authors' for the swimmer
        SearchMethod(optimizer="gibo", batch_size=8),
        SearchMethod(
            optimizer="cmaes",
            optimizer_settings={"separable": True, "mirrored": True},
            label="cmaes separable, pairs",
        ),
        SearchMethod(optimizer="random"),
    )


def experiment(
    heading: str,
    task: str,
    methods: Sequence[SearchMethod],
    *,
    policy: str,
    policy_options: Mapping[str, Any] = MappingProxyType({}),
    env_steps: int,
    test_episodes: int,
    reward: str = DENSE_REWARD,
) -> Experiment:
    """Return optimisers on one task with one policy, at one budget in env steps."""
    return Experiment(
        name=file_name(f"main_{heading}_{env_steps}"),
        summary=f"Every optimiser on {heading}, {env_steps:,} env steps",
        tasks=(task,),
        rewards=(reward,),
        methods=tuple(
            replace(
                method,
                policy=policy,
                policy_options={**policy_options, **method.policy_options},
            )
            for method in methods
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
        experiment(
            heading,
            task,
            TEAM_OPTIMIZERS,
            policy="hom",
            policy_options=policy_options,
            env_steps=budget,
            test_episodes=TEAM_TEST_EPISODES,
        )
        for budget in TEAM_BUDGETS
    )


def _robot(task: str, budgets: Sequence[int], *rewards: str) -> dict[str, list[Experiment]]:
    """Return a section: a linear policy, normalised observations, reward without the bonus."""
    heading = ", ".join([task, *(reward.replace("=", " ") for reward in rewards)])
    paid = [*rewards, "survival=0"] if ROBOT_MODELS[task].pays_survival else [*rewards]
    experiments = [
        experiment(
            heading,
            task,
            robot_optimizers(task),
            policy="linear",
            policy_options={"normalise": "running"},
            env_steps=budget,
            test_episodes=ROBOT_TEST_EPISODES,
            reward="&".join(paid) or DENSE_REWARD,
        )
        for budget in budgets
    ]
    return {heading: experiments}


TABLE: Final[Mapping[str, Sequence[Experiment]]] = MappingProxyType(
    {
        "pred_prey_3": _team("pred_prey_3", "pred_prey_3"),
        "pred_prey_3 with role net": _team(
            "pred_prey_3 with role net", "pred_prey_3", {"role_assignment": True}
        ),
        "het_pred_prey_3": _team("het_pred_prey_3", "het_pred_prey_3"),
        "pred_prey_6": _team("pred_prey_6", "pred_prey_6"),
        **_robot("hopper", HOPPER_BUDGETS),
        **_robot("hopper", HOPPER_BUDGETS[:1], "sparse=100"),
        **_robot("hopper", HOPPER_BUDGETS[:1], "delay=100"),
        **_robot("swimmer", SWIMMER_BUDGETS),
        **_robot("swimmer", SWIMMER_BUDGETS, "sparse=100"),
        **_robot("swimmer", SWIMMER_BUDGETS, "delay=100"),
        **_robot("walker2d", LONG_BUDGETS),
        **_robot("ant", LONG_BUDGETS),
    }
)
"""Heading to experiments, by budget; the first is the main one, which `docs/results.md` quotes."""

TABLE_ORDER: Final = tuple(
    dict.fromkeys(
        method.label
        for experiments in TABLE.values()
        for each in experiments
        for method in each.methods
    )
)
"""Labels of the optimisers in the order of the table."""
