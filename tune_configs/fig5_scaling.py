"""Figure 5, with figures 8, 10 and 12, of the paper: how methods bear a growing number of agents.

`Differs:` of the paper's competitors MADDPG, FACMAC and COMIX. RODE, CDS and SOG do not exist here;
G2ANet does (`g2anet`) and can be added. The searches have as many env steps as the learners, which
the paper does not print.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.tune_configs.parts import TEAM_SEARCHES, learners

EXPERIMENT: Final = Experiment(
    name="fig5_scaling",
    summary="Growing teams: the role policy and one net, searched, beside three learners",
    tasks=(
        *(f"pred_prey_{n}" for n in (6, 9, 15)),
        *(f"het_pred_prey_{n}" for n in (6, 9, 15)),
        *(f"manyagent_ant_{n}?obs=own" for n in (8, 12, 16)),
        *(f"manyagent_swimmer_{n}?obs=own" for n in (4, 8, 12)),
    ),
    methods=(*TEAM_SEARCHES, *learners(("maddpg", "facmac", "comix"))),
    env_steps=2_000_000,
    final_test_episodes=100,
)
"""As the paper: 2,000,000 steps, batches of 15 candidates, five seeds."""
