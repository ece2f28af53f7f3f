"""What several experiments have in common: reward settings, competitors, searches by name."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod

SINGLE_AGENT: Final = ("ddpg", "ppo", "sac", "td3", "intrinsic_ppo")
"""Competitors of tables 1, 4 and 7."""

MULTI_AGENT: Final = ("covdn", "comix", "maddpg", "facmac")
"""Competitors of tables 5 and 8."""

XL_REWARDS: Final = ("sparse=100", "sparse=200", "delay=100", "delay=200")
"""Reward settings in which the paper also has competitors with two layers of 400."""

ONE_NET: Final = SearchMethod(optimizer="dss_gp_ucb", policy="mlp")
"""The paper's search of one small net: its single agent, and its "CTDE" for a team."""


TEAM_SEARCHES: Final = tuple(
    SearchMethod(optimizer="dss_gp_ucb", policy=policy, batch_size=15, label=label)
    for policy, label in (("hom", "dss_mm"), ("mlp", "dss_ctde"))
)
"""The paper's searches for teams, in batches of its 15: of the role policy and of one net."""


def learners(names: tuple[str, ...]) -> tuple[LearnerMethod, ...]:
    """Return learners whose policy has exactly as many parameters as the searched one."""
    return tuple(LearnerMethod(algorithm=name, settings={"size": "small"}) for name in names)


def xl_learners(names: tuple[str, ...]) -> tuple[LearnerMethod, ...]:
    """Return the same with large nets, in the settings in which the paper has them."""
    return tuple(
        LearnerMethod(
            algorithm=name, settings={"size": "xl"}, label=f"{name}_xl", rewards=XL_REWARDS
        )
        for name in names
    )


def searches(
    names: Iterable[str],
    evaluations: int,
    tasks: tuple[str, ...],
    words: str = "",
    *,
    episodes: int = 32,
    batch_size: int = 15,
    settings: Mapping[str, Any] = MappingProxyType({}),
    policy: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[SearchMethod, ...]:
    """Return one search for each optimiser, called by its name and further words."""
    return tuple(
        SearchMethod(
            optimizer=name,
            optimizer_settings=settings,
            policy_options=policy,
            evaluations=evaluations,
            episodes=episodes,
            batch_size=batch_size,
            label=f"{name}{words}",
            tasks=tasks,
        )
        for name in names
    )
