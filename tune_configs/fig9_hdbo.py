"""Figure 9 of the paper: searches in many dimensions, all over the role policy.

`Differs:` of the paper's competitors none exists here (TuRBO, ALEBO, TreeBO, LineBO, GIBO); those
that do take their place. Its budget is not printed; here it is 800,000 env steps.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod

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
    methods=tuple(
        SearchMethod(optimizer=name)
        for name in ("dss_gp_ucb", "local_gp", "gp_ucb", "cmaes", "random")
    ),
    env_steps=800_000,
    final_test_episodes=100,
)
"""As the paper: robots' episodes of 500 steps, five seeds."""
