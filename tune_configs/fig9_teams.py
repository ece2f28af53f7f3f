"""Figure 9 of the paper on teams alone, with three seeds and searches of a smaller cube.

Policy, batches and episodes are those of `fig9_hdbo`. What has fewer evaluations says so in its
label: against evaluations, its curve ends where they do.
"""

from collections.abc import Mapping
from typing import Any, Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.policies.parameterisation import CENTRED_RANGES
from rolecast.tune_configs.fig9_hdbo import FEW_FIRST
from rolecast.tune_configs.parts import searches

FIRST_TASK: Final = ("pred_prey_3",)
"""Where all are asked."""

OTHER_TASKS: Final = ("het_pred_prey_3", "drone_delivery_3")
"""Where all have it but the searches of a smaller cube."""

LARGE_TASKS: Final = ("het_pred_prey_6",)
"""Where what is asked elsewhere with four times the evaluations is not."""

TEAM_TASKS: Final = (*FIRST_TASK, *OTHER_TASKS, *LARGE_TASKS)

QUICK_SEARCHES: Final = (
    "dss_gp_ucb",
    "local_gp",
    "cmaes",
    "random",
    "snes",
    "pgpe",
    "openai_es",
    "ars",
)
"""Those whose proposals take milliseconds."""

CHEAP_SEARCHES: Final = ("dss_gp_ucb", "local_gp", "cmaes", "snes", "pgpe", "ars")
"""Those that have the episodes of the others in four times the evaluations too."""

BAYESIAN_SEARCHES: Final = ("gp_ucb", "baxus", "linebo", "gibo")
"""Beside TuRBO: seconds a batch towards the end."""

SLOW_SEARCHES: Final = ("rducb", "treebo", "logei", "alebo")
"""Some ten seconds a batch towards the end."""

GLOBAL_SEARCHES: Final = ("gp_ucb", "baxus", "linebo")
"""Those, beside TuRBO and `logei`, that look at the whole cube first."""

CUBE_SIDE: Final = 0.1
"""Side of a cube about the middle of the whole one. The local searches begin at the middle, with a
cloud of radius 0.2 to 0.4; a point of the whole cube is 5.4 from it, one of this cube 0.54."""

NEAR_POLICY: Final[Mapping[str, Any]] = {
    "ranges": {
        kind: half * (1.0 if kind == "message" else CUBE_SIDE)
        for kind, half in CENTRED_RANGES.items()
    }
}
"""The role policy of that cube; the factor on messages is on these ranges already."""

NARROW_SETTINGS: Final[Mapping[str, Any]] = {"width": 0.02}
"""GIBO as near its centre as the local searches are: the authors' 0.1 is for tens of weights, of
which each moves the policy as much as many of these together."""

EXPERIMENT: Final = Experiment(
    name="fig9_teams",
    summary="Optimisers of many dimensions on the role policy of teams",
    tasks=TEAM_TASKS,
    methods=(
        *searches(QUICK_SEARCHES, 1000, TEAM_TASKS),
        *searches(
            CHEAP_SEARCHES,
            4000,
            (*FIRST_TASK, *OTHER_TASKS),
            "_8_episodes",
            episodes=8,
            batch_size=60,
        ),
        *searches(BAYESIAN_SEARCHES, 1000, TEAM_TASKS),
        *searches(("turbo",), 1000, TEAM_TASKS, "_initial_200", settings=FEW_FIRST),
        *searches(SLOW_SEARCHES, 1000, TEAM_TASKS),
        *searches(("gibo",), 1000, FIRST_TASK, "_narrow", settings=NARROW_SETTINGS),
        *searches(("random", *GLOBAL_SEARCHES), 1000, FIRST_TASK, "_near", policy=NEAR_POLICY),
        *searches(("turbo",), 1000, FIRST_TASK, "_near", settings=FEW_FIRST, policy=NEAR_POLICY),
        *searches(("logei",), 255, FIRST_TASK, "_near_255", policy=NEAR_POLICY),
    ),
    seeds=3,
    env_steps=800_000,
)
"""`env_steps` are predator-prey's; three seeds, 1,000 held-out episodes at the end."""
