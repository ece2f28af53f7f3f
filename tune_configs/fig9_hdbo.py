"""Figure 9 of the paper: searches in many dimensions, all over the role policy.

All make the same evaluations in batches of the paper's 15. `Differs:` the paper prints no budget;
here it is 1,000 evaluations of 32 episodes, and some methods have the same episodes once more as
4,000 evaluations of 8, for returns are mostly noise. SAASBO, for 100 dimensions, is not here.
"""

from collections.abc import Mapping
from typing import Any, Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

OWN_SEARCHES: Final = ("dss_gp_ucb", "local_gp", "gp_ucb", "cmaes", "random")
"""The project's searches, and yardsticks."""

HDBO_COMPETITORS: Final = (
    "turbo",
    "alebo",
    "treebo",
    "linebo",
    "gibo",
    "rducb",
    "logei",
    "baxus",
    "spherical_linear",
)
"""Bayesian optimisation in many dimensions; the first five are the paper's."""

EVOLUTION_STRATEGIES: Final = ("pgpe", "snes", "openai_es", "ars")
"""Evolution strategies."""

CHEAP_SEARCHES: Final = ("dss_gp_ucb", "local_gp", "cmaes", "turbo", "pgpe", "snes")
"""Those that have the episodes of the others in four times the evaluations too."""

FEW_FIRST: Final[Mapping[str, Any]] = {"initial": 200}
"""First design of TuRBO as its authors set it for some tasks; by its default, 2 D points, most of
this budget is spent before the model is asked."""

COMPETITOR_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {"turbo": FEW_FIRST}
"""What differs from defaults."""

EXPERIMENT: Final = Experiment(
    name="fig9_hdbo",
    summary="Optimisers of many dimensions on the role policy",
    tasks=(
        "manyagent_ant_6?obs=own&horizon=500",
        "pred_prey_3",
        "het_pred_prey_3",
        "drone_delivery_3",
        "het_pred_prey_6",
    ),
    methods=(
        *(
            SearchMethod(
                optimizer=name,
                optimizer_settings=COMPETITOR_SETTINGS.get(name, {}),
                evaluations=1000,
                episodes=32,
                batch_size=15,
            )
            for name in (*OWN_SEARCHES, *HDBO_COMPETITORS, *EVOLUTION_STRATEGIES)
        ),
        *(
            SearchMethod(
                optimizer=name,
                optimizer_settings=COMPETITOR_SETTINGS.get(name, {}),
                evaluations=4000,
                episodes=8,
                batch_size=60,
                label=f"{name}_8_episodes",
            )
            for name in CHEAP_SEARCHES
        ),
    ),
    env_steps=800_000,
    final_test_episodes=100,
)
"""As the paper: robots' episodes of 500 steps, five seeds. `env_steps` are predator-prey's."""
