"""Seven gains of a MuJoCo swimmer: DUETS beside searches that choose by every return."""

from typing import Any, Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

POLICY_EVALUATIONS: Final = 150
"""Of every search, an episode each; 15 of them confirm, and 10 agents of DUETS have 13 each."""

EQUAL_BUDGET: Final[dict[str, Any]] = {
    "policy": "linear",
    "evaluations": POLICY_EVALUATIONS,
    "episodes": 1,
}

EXPERIMENT: Final = Experiment(
    name="duets_policies",
    summary="DUETS, GP-UCB, a local GP and CMA-ES on gains of a swimmer, at equal evaluations",
    tasks=("ma_swimmer_2x1?horizon=300",),
    methods=(
        SearchMethod(optimizer="duets", **EQUAL_BUDGET),
        SearchMethod(
            optimizer="duets",
            optimizer_settings={"beta": 0.2},
            label="duets, beta 0.2",
            **EQUAL_BUDGET,
        ),
        SearchMethod(optimizer="gp_ucb", **EQUAL_BUDGET),
        SearchMethod(optimizer="local_gp", **EQUAL_BUDGET),
        SearchMethod(optimizer="cmaes", **EQUAL_BUDGET),
        SearchMethod(optimizer="random", **EQUAL_BUDGET),
    ),
    seeds=5,
    env_steps=45_000,
    points=5,
    test_episodes=20,
    final_test_episodes=100,
)
"""The policy is linear, with weights that both joints share: gains of angles and of velocities, as
of a PD controller, and a bias."""
