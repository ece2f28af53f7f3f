"""Figure 9 of the paper on its robot, an ant of six agents, at a small share of its budget.

Policy and batches are those of `fig9_hdbo`. MuJoCo makes a thousandth of the steps that tensors
make: 240 evaluations of 2 episodes, one seed. `Differs:` two episodes, for an ant's returns vary by
candidate, hardly by episode.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.tune_configs.fig9_teams import EVOLUTION, QUICK

EVALUATIONS: Final = 240
"""Sixteen batches."""

FEW_FIRST: Final = {"initial": 60}
"""First design of TuRBO; its 2 D points would be more than all."""

EXPERIMENT: Final = Experiment(
    name="fig9_ant",
    summary="Optimisers of many dimensions on the role policy of an ant of six agents",
    tasks=("manyagent_ant_6?obs=own&horizon=500",),
    methods=tuple(
        SearchMethod(
            optimizer=name,
            optimizer_settings=settings,
            evaluations=EVALUATIONS,
            episodes=2,
            batch_size=15,
            label=name,
        )
        for name, settings in (*((name, {}) for name in (*QUICK, *EVOLUTION)), ("turbo", FEW_FIRST))
    ),
    seeds=1,
    env_steps=240_000,
    points=4,
    test_episodes=10,
    final_test_episodes=100,
)
"""`env_steps` are those of 240 evaluations in which no episode ends early."""
