"""Table 4 of the paper: single agents under sparse and late reward; mean and standard error.

`Differs:` Gymnasium's v5 robots, not v3. The paper does not print how many evaluations its search
had; here the search has as many env steps as the learners.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.parts import ONE_NET, SINGLE_AGENT, learners, xl_learners

EXPERIMENT: Final = Experiment(
    name="table4",
    summary="Single agents under sparse and late reward",
    tasks=("ant", "hopper", "swimmer", "walker2d"),
    rewards=(
        "dense",
        *(f"sparse={steps}" for steps in (2, 5, 20, 50, 100, 200)),
        *(f"delay={steps}" for steps in (1, 5, 20, 50, 100, 200)),
    ),
    methods=(ONE_NET, *learners(SINGLE_AGENT), *xl_learners(SINGLE_AGENT)),
    env_steps=200_000,
    test_episodes=20,
    final_test_episodes=100,
    paper="table4",
)
"""As the paper: 200,000 steps for each learner, policies of 10-10, five seeds."""
