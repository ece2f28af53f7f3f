"""Table 5 of the paper: divided robots under sparse and late reward; mean and standard error.

Agents see their own joints alone (`obs=own`), as the paper's parameter counts have it.
`Differs:` gymnasium-robotics' robots, not those of MultiagentMuJoCo. The paper does not print how
many evaluations its search had; here the search has as many env steps as the learners.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.parts import MULTI_AGENT, ONE_NET, learners, xl_learners

EXPERIMENT: Final = Experiment(
    name="table5",
    summary="Divided robots under sparse and late reward",
    tasks=tuple(
        f"{name}?obs=own"
        for name in ("ma_ant_4x2", "ma_hopper_3x1", "ma_swimmer_2x1", "ma_walker2d_2x3")
    ),
    rewards=(
        "dense",
        *(f"sparse={steps}" for steps in (5, 50, 100, 200)),
        *(f"delay={steps}" for steps in (1, 5, 50, 100, 200)),
    ),
    methods=(ONE_NET, *learners(MULTI_AGENT), *xl_learners(MULTI_AGENT)),
    env_steps=2_000_000,
    test_episodes=20,
    final_test_episodes=100,
    paper="table5",
)
"""As the paper: 2,000,000 steps for each learner, one shared net of 14-14, five seeds."""
