"""Figure 9 of the paper on its robot, an ant of six agents, at a share of its budget.

Policy, evaluations and batches are those of `fig9_hdbo`. MuJoCo makes a thousandth of the steps
that tensors make: evaluations of 2 episodes, one seed.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.fig9_hdbo import FEW_FIRST
from rolecast.tune_configs.fig9_teams import BAYESIAN_SEARCHES, QUICK_SEARCHES, SLOW_SEARCHES
from rolecast.tune_configs.parts import searches

ANT_TASK: Final = ("manyagent_ant_6?obs=own&horizon=500",)

SEARCH_EVALUATIONS: Final = 1000
"""Of each, in batches of the paper's 15."""

EXPERIMENT: Final = Experiment(
    name="fig9_ant",
    summary="Optimisers of many dimensions on the role policy of an ant of six agents",
    tasks=ANT_TASK,
    methods=(
        *searches(
            (*QUICK_SEARCHES, *BAYESIAN_SEARCHES, *SLOW_SEARCHES),
            SEARCH_EVALUATIONS,
            ANT_TASK,
            episodes=2,
        ),
        *searches(("turbo",), SEARCH_EVALUATIONS, ANT_TASK, settings=FEW_FIRST, episodes=2),
    ),
    seeds=1,
    env_steps=1_000_000,
    points=10,
    test_episodes=10,
    final_test_episodes=100,
)
"""`env_steps` are those of evaluations in which no episode ends early."""
