"""Figure 4 (left), with figures 11 and 13, of the paper: drone delivery, whose reward is sparse.

`Differs:` the paper does not say how many drones there are; here three, as in its figure 9. The
searches have as many env steps as the learners, which it does not print either.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.parts import TEAM_SEARCHES, learners

EXPERIMENT: Final = Experiment(
    name="fig4_drone",
    summary="Drone delivery: the role policy and one net, searched, beside three learners",
    tasks=("drone_delivery_3",),
    methods=(*TEAM_SEARCHES, *learners(("maddpg", "facmac", "comix"))),
    env_steps=2_000_000,
    final_test_episodes=100,
)
"""As the paper: 2,000,000 steps, batches of 15 candidates, five seeds."""
