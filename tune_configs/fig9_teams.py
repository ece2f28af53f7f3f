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

FIRST: Final = ("pred_prey_3",)
"""Where all are asked."""

OTHERS: Final = ("het_pred_prey_3", "drone_delivery_3")
"""Where all have it but the searches of a smaller cube."""

LARGE: Final = ("het_pred_prey_6",)
"""Where what is asked elsewhere with four times the evaluations is not."""

TEAMS: Final = (*FIRST, *OTHERS, *LARGE)

QUICK: Final = (
    "dss_gp_ucb",
    "local_gp",
    "cmaes",
    "random",
    "snes",
    "pgpe",
    "openai_es",
    "ars",
)
"""They think for milliseconds."""

CHEAP: Final = ("dss_gp_ucb", "local_gp", "cmaes", "snes", "pgpe", "ars")
"""Those that have the episodes of the others in four times the evaluations too."""

BAYESIAN: Final = ("gp_ucb", "baxus", "linebo", "gibo")
"""Beside TuRBO: seconds a batch towards the end."""

SLOW: Final = ("rducb", "treebo", "logei", "alebo")
"""Some ten seconds a batch towards the end."""

GLOBAL: Final = ("gp_ucb", "baxus", "linebo")
"""Those, beside TuRBO and `logei`, that look at the whole cube first."""

WITHIN: Final = 0.1
"""Side of a cube about the middle of the whole one. The local searches begin at the middle, with a
cloud of radius 0.2 to 0.4; a point of the whole cube is 5.4 from it, one of this cube 0.54."""

NEAR: Final[Mapping[str, Any]] = {
    "ranges": {
        kind: half * (1.0 if kind == "message" else WITHIN) for kind, half in CENTRED_RANGES.items()
    }
}
"""The role policy of that cube; the factor on messages is on these ranges already."""

NARROW: Final[Mapping[str, Any]] = {"width": 0.02}
"""GIBO as near its centre as the local searches are: the authors' 0.1 is for tens of weights, of
which each moves the policy as much as many of these together."""

EXPERIMENT: Final = Experiment(
    name="fig9_teams",
    summary="Optimisers of many dimensions on the role policy of teams",
    tasks=TEAMS,
    methods=(
        *searches(QUICK, 1000, TEAMS),
        *searches(CHEAP, 4000, (*FIRST, *OTHERS), "_8_episodes", episodes=8, batch_size=60),
        *searches(BAYESIAN, 1000, TEAMS),
        *searches(("turbo",), 1000, TEAMS, "_initial_200", settings=FEW_FIRST),
        *searches(SLOW, 1000, TEAMS),
        *searches(("gibo",), 1000, FIRST, "_narrow", settings=NARROW),
        *searches(("random", *GLOBAL), 1000, FIRST, "_near", policy=NEAR),
        *searches(("turbo",), 1000, FIRST, "_near", settings=FEW_FIRST, policy=NEAR),
        *searches(("logei",), 255, FIRST, "_near_255", policy=NEAR),
    ),
    seeds=3,
    env_steps=800_000,
)
"""`env_steps` are predator-prey's; three seeds, 1,000 held-out episodes at the end."""
