"""How broken a reward may be before gradients fail: one dial on predator-prey, every method on it.

The dial turns from dense over sparse and late to noisy, false and lost reward. Two settings that
one would expect are not here, as each pays what another pays. A delay of 25 in an episode of 25
steps pays nothing, or, flushed at the end, what `sparse=25` pays. And sparse reward changes nothing
for a search, which sees an episode's sum: its run with dense reward is its run with `sparse=5` and
`sparse=25`, to the last digit.
"""

from typing import Final

from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.tune_configs.parts import learners

STEP_REWARD_STD: Final = 6.0
"""Standard deviation of a step's reward under the scripted chase, 6.1 in 500 episodes, rounded."""

SPARSE_REWARDS: Final = ("sparse=5", "sparse=25")
"""Paid five times an episode, and once."""

LATE_REWARDS: Final = ("delay=5", "delay=12")
"""Of 25 steps the first 20, and the first 13, are paid."""

MALFORMED_REWARDS: Final = (
    f"noise={0.5 * STEP_REWARD_STD:g}",
    f"noise={2.0 * STEP_REWARD_STD:g}",
    "flip=0.2",
    "drop=0.5",
    "drop=0.9",
)
"""Noise of half and of two standard deviations, a wrong sign of one in five, lost rewards."""

SEARCH_REWARDS: Final = ("dense", *LATE_REWARDS, *MALFORMED_REWARDS)
"""Those that change what a search sees."""

WAITING_REWARDS: Final = (*SPARSE_REWARDS, *LATE_REWARDS)
"""Those under which a discount chosen for dense reward may be the fault."""

HIGH_DISCOUNTS: Final = (0.95, 0.99)
"""Beside the 0.85 of predator-prey's authors."""

DISCOUNTED_LEARNERS: Final = ("facmac", "maddpg", "masac")
"""Learners whose default discount is 0.85, each shown with higher ones too."""

DIAL_SEARCHES: Final = tuple(
    SearchMethod(optimizer=name, policy=policy, label=label, rewards=SEARCH_REWARDS)
    for policy, words in (("hom", ""), ("mlp", "_one_net"))
    for name in ("dss_gp_ucb", "local_gp", "cmaes")
    for label in (f"{name}{words}",)
)
"""With the role policy, whose agents talk, and with the learners' own net, whose do not."""

EXPERIMENT: Final = Experiment(
    name="dial",
    summary="Searches and learners on predator-prey, with rewards ever more broken",
    tasks=("pred_prey_3",),
    rewards=("dense", *SPARSE_REWARDS, *LATE_REWARDS, *MALFORMED_REWARDS),
    methods=(
        *DIAL_SEARCHES,
        *learners(("facmac", "maddpg", "matd3", "masac", "mappo", "comix")),
        *(
            LearnerMethod(
                algorithm=name,
                settings={"size": "small", "gamma": gamma},
                label=f"{name}_gamma_{gamma:g}",
                rewards=WAITING_REWARDS,
            )
            for name in DISCOUNTED_LEARNERS
            for gamma in HIGH_DISCOUNTS
        ),
    ),
    seeds=5,
    env_steps=200_000,
    points=10,
)
"""Some 40 core-hours: run it in pieces, by `--resume`, or by `only` from Python."""
