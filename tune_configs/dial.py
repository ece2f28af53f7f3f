"""How broken a reward may be before gradients fail: one dial on predator-prey, every method on it.

The dial turns from dense over sparse and late to noisy, false and lost reward. Two settings that
one would expect are not here, as each pays what another pays. A delay of 25 in an episode of 25
steps pays nothing, or, flushed at the end, what `sparse=25` pays. And sparse reward changes nothing
for a search, which sees an episode's sum: its run with dense reward is its run with `sparse=5` and
`sparse=25`, to the last digit.
"""

from dataclasses import replace
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

ROLE_SEARCHES: Final = (
    SearchMethod(optimizer="dss_gp_ucb"),
    SearchMethod(
        optimizer="cmaes",
        optimizer_settings={"separable": True, "mirrored": True},
        policy_options={"tied_weights": True},
        label="cmaes_tied",
    ),
    SearchMethod(
        optimizer="dss_gp_ucb",
        policy_options={"symmetries": "found"},
        label="dss_gp_ucb_found",
    ),
    SearchMethod(
        optimizer="cmaes",
        optimizer_settings={"separable": True, "mirrored": True},
        policy_options={"tied_weights": True, "symmetries": "found"},
        label="cmaes_tied_found",
    ),
    SearchMethod(
        optimizer="dss_gp_ucb",
        optimizer_settings={"symmetry": "ignored"},
        label="dss_gp_ucb_no_symmetry",
    ),
    SearchMethod(optimizer="cmaes"),
)
"""Of the role policy, whose agents can talk. The first two know the task's symmetries: one accepts
them by evidence, one searches tied weights. The next two are told none, and look for some in random
play, which their budget pays. The last two have none. `cmaes` is no ablation of `cmaes_tied`: it
differs also in `mirrored`, which is off, so that its candidates are single and share no episodes.
`local_gp` is not here: on a policy, `dss_gp_ucb` without cliques is the same search, to the last
digit."""

NET_SEARCHES: Final = tuple(
    SearchMethod(optimizer=name, policy="mlp", label=f"{name}_one_net")
    for name in ("dss_gp_ucb", "cmaes")
)
"""Of the learners' own net, whose agents do not talk."""

DIAL_SEARCHES: Final = tuple(
    replace(search, rewards=SEARCH_REWARDS) for search in (*ROLE_SEARCHES, *NET_SEARCHES)
)
"""Each is run once where rewards pay the same sum."""

SYMMETRIC_LEARNERS: Final = tuple(
    LearnerMethod(
        algorithm=name,
        settings={"size": "small", "symmetries": True},
        label=f"{name}_symmetries",
    )
    for name in ("facmac", "masac")
)
"""Learners that know the task's symmetries as the searches do."""

DISCOUNTED_LEARNERS: Final = tuple(
    replace(
        learner,
        settings={**learner.settings, "gamma": gamma},
        label=f"{learner.label}_gamma_{gamma:g}",
        rewards=WAITING_REWARDS,
    )
    for learner in (*learners(("facmac", "maddpg", "masac")), SYMMETRIC_LEARNERS[0])
    for gamma in HIGH_DISCOUNTS
)
"""Learners whose default discount is 0.85, with higher ones."""

KNOW_SYMMETRIES: Final = frozenset(
    (
        *("dss_gp_ucb", "cmaes_tied", "dss_gp_ucb_one_net"),
        *(
            learner.label
            for learner in (*SYMMETRIC_LEARNERS, *DISCOUNTED_LEARNERS)
            if learner.settings.get("symmetries")
        ),
    )
)
"""Methods that make use of the symmetries that the task declares."""

EXPERIMENT: Final = Experiment(
    name="dial",
    summary="Searches and learners on predator-prey, with rewards ever more broken",
    tasks=("pred_prey_3",),
    rewards=("dense", *SPARSE_REWARDS, *LATE_REWARDS, *MALFORMED_REWARDS),
    methods=(
        *DIAL_SEARCHES,
        *learners(("facmac", "maddpg", "matd3", "masac", "mappo", "comix", "g2anet")),
        *SYMMETRIC_LEARNERS,
        *DISCOUNTED_LEARNERS,
    ),
    seeds=5,
    env_steps=200_000,
    points=10,
)
"""Some 50 core-hours: run it in pieces, by `--resume` and `--only`."""
