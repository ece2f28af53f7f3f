"""What the rows of the dial say: returns by reward, duels of search and learner, sentences."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rolecast.benchmarks.result_table import Row
from rolecast.platform.reports.comparison.table import number
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.rewards import DENSE_REWARD
from rolecast.tune_configs.dial import (
    EXPERIMENT,
    HIGH_DISCOUNTS,
    KNOW_SYMMETRIES,
    NET_SEARCHES,
    SPARSE_REWARDS,
)

HEADLINE_SEARCHES: Final[Mapping[bool, str]] = {True: "dss_gp_ucb", False: "dss_gp_ucb_found"}
"""The default search, told the task's symmetries or not: no other is chosen by its result."""

GROUP_HEADINGS: Final = {
    True: "Methods that are told the task's symmetries",
    False: "Methods that are told none",
}
"""Of tables and panels."""

PLAIN_SEARCH: Final = "dss_gp_ucb_no_symmetry"
"""The same, which has none."""

KNOWLEDGE_WORDS: Final = {True: "told symmetries", False: "told none"}

NET_SEARCH: Final = "dss_gp_ucb_one_net"
"""The headline search, told symmetries, on the learners' own net."""

NET_LABELS: Final = frozenset(search.label for search in NET_SEARCHES)
"""Searches of the learners' own net."""

DISCOUNT_LABELS: Final = frozenset(
    method.label
    for method in EXPERIMENT.methods
    if isinstance(method, LearnerMethod) and "gamma" in method.settings
)
"""Learners whose discount is larger than their authors'."""

DIAL_CAVEATS: Final = """\
- **One task, one budget.** Learners go on rising after it with dense reward; see
  [baselines.md](baselines.md).
- **Few seeds of learners.** A mean without an interval has fewer than five seeds.
- **Settings are those for dense reward.** Nothing was tuned for broken reward, for searches or
  learners. {discounts}
- **Policies differ.** `hom` has 353 weights and agents that can talk; the learners' net has 478,
  and its agents cannot.{net}
- **Symmetries are used differently.** A search looks for weights that are symmetric; a learner
  maps each transition by a symmetry drawn at random. Learners were not given those that are found.
- **How symmetries are found was developed on this task**, among others, though not on these seeds:
  [notebook](../notebook/2026-11-found-symmetries.md).
- No time of these trials is told: they ran beside other work."""


@dataclass(frozen=True, kw_only=True)
class Duel:
    """The headline search beside the best learner that is told as much, under one reward."""

    reward: str
    searcher: str
    """Label of the search."""

    search: float
    search_seeds: int
    learner: str
    """The learner of the highest mean."""

    learner_mean: float
    learner_seeds: int


def returns_of(rows: Sequence[Row]) -> dict[str, dict[str, list[float]]]:
    """Return method to reward to held-out returns by seed; a search has dense as sparse ones."""
    found: dict[str, dict[str, list[float]]] = {}
    rows = of_one_budget(rows)
    for method in EXPERIMENT.methods:
        mine: dict[str, list[float]] = {}
        for reward in EXPERIMENT.rewards:
            values = [row["test_return"] for row in rows_of(rows, method.label, reward)]
            if values:
                mine[reward] = values
        if mine:
            found[method.label] = mine
    return found


def rows_of(rows: Sequence[Row], label: str, reward: str) -> list[Row]:
    """Return the trials of a method under a reward; of a search, dense ones stand for sparse."""
    source = _source(label, reward)
    return [row for row in rows if row["method"] == label and row["reward"] == source]


def of_one_budget(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the greatest budget: returns of different ones do not compare."""
    greatest = max((row["budget"] for row in rows), default=0)
    return [row for row in rows if row["budget"] == greatest]


def other_budgets_text(rows: Sequence[Row]) -> str:
    """Say how many rows are left out for their budget; nothing where all have one."""
    left = len(rows) - len(of_one_budget(rows))
    return f"{left} of {len(rows)} rows are of smaller budgets and left out.\n" if left else ""


def _source(label: str, reward: str) -> str:
    """Return the reward setting whose run stands for a method's under another."""
    search = isinstance(EXPERIMENT.method(label), SearchMethod)
    return DENSE_REWARD if search and reward in SPARSE_REWARDS else reward


def rewards_of(rows: Sequence[Row]) -> list[str]:
    """Return the reward settings of which there is a run, in the order of the dial."""
    known = {row["reward"] for row in rows}
    return [reward for reward in EXPERIMENT.rewards if reward in known]


def duels(rows: Sequence[Row], *, symmetries: bool) -> list[Duel]:
    """Return the search beside the best learner, both told symmetries or both told none."""
    returns = returns_of(rows)
    ours = returns.get(HEADLINE_SEARCHES[symmetries], {})
    found = []
    for reward in rewards_of(rows):
        theirs = {
            label: mine[reward]
            for label, mine in returns.items()
            if reward in mine
            and (label in KNOW_SYMMETRIES) == symmetries
            and not isinstance(EXPERIMENT.method(label), SearchMethod)
        }
        if reward not in ours or not theirs:
            continue
        best = max(theirs, key=lambda label: statistics.fmean(theirs[label]))
        found.append(
            Duel(
                reward=reward,
                searcher=HEADLINE_SEARCHES[symmetries],
                search=statistics.fmean(ours[reward]),
                search_seeds=len(ours[reward]),
                learner=best,
                learner_mean=statistics.fmean(theirs[best]),
                learner_seeds=len(theirs[best]),
            )
        )
    return found


def ahead_text(rows: Sequence[Row]) -> str:
    """Say which side has the higher mean under which rewards, and where no learner was run."""
    rewards = rewards_of(rows)
    parts = []
    for known, words in KNOWLEDGE_WORDS.items():
        found = duels(rows, symmetries=known)
        ours = [duel.reward for duel in found if duel.search > duel.learner_mean]
        theirs = [duel.reward for duel in found if duel.search <= duel.learner_mean]
        missing = [each for each in rewards if each not in {duel.reward for duel in found}]
        sides = [
            f"{side} has the higher mean under "
            f"{_listed(names) if len(names) < len(rewards) else _every(rewards)}"
            for side, names in (("the search", ours), ("a learner", theirs))
            if names
        ]
        left = f" (no learner was run: {_listed(missing)})" if missing else ""
        parts.append(f"{words}, {', '.join(sides) or 'nothing was run'}{left}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _every(rewards: Sequence[str]) -> str:
    planned = len(EXPERIMENT.rewards)
    if len(rewards) == planned:
        return "every reward"
    return f"each of the {len(rewards)} rewards run, of {planned} planned"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def worth_text(rows: Sequence[Row], *, brief: bool = False) -> str:
    """Say how much of the search's lead is knowledge of symmetries, and how much of it is found.

    Its lead is over rewards, each a setting of the learners. What symmetries are worth is over the
    runs of the search, of which that with dense reward is the one with sparse reward too.

    Args:
        rows: of one budget.
        brief: without the rewards for which the run with dense reward stands.
    """
    returns = returns_of(rows)
    told, found = (returns.get(HEADLINE_SEARCHES[known], {}) for known in (True, False))
    plain = returns.get(PLAIN_SEARCH, {})
    rivals, equals = (
        {duel.reward: duel.learner_mean for duel in duels(rows, symmetries=known)}
        for known in (False, True)
    )
    shared = [reward for reward in rivals if reward in told and reward in plain]
    if not shared:
        return "What symmetries are worth was not measured."
    runs = list(dict.fromkeys(_source(PLAIN_SEARCH, reward) for reward in shared))

    def mean(returns_by_reward: Mapping[str, Sequence[float]], over: Sequence[str]) -> float:
        return statistics.fmean(statistics.fmean(returns_by_reward[each]) for each in over)

    leads = [f"the best learner told none by {_lead(told, rivals, shared)}"]
    if all(reward in equals for reward in shared):
        leads.insert(0, f"the best learner told them by {_lead(told, equals, shared)}")
    again = ""
    if len(runs) < len(shared) and not brief:
        twice = [each for each in shared if _source(PLAIN_SEARCH, each) != each]
        again = f"; the search's dense run stands for {_listed(twice)} too"
    return (
        f"On average over these rewards ({len(shared)}{again}) the search told symmetries leads "
        f"{', '.join(leads)}. Over the rewards that differ for a search "
        f"({len(runs)}), symmetries are worth {number(mean(told, runs) - mean(plain, runs))} to it "
        f"if it is told them, {number(mean(found, runs) - mean(plain, runs))} if it has to find "
        "them."
    )


def _lead(
    returns: Mapping[str, Sequence[float]], rivals: Mapping[str, float], over: Sequence[str]
) -> str:
    """Return by how much a method's mean over rewards is above that of rivals."""
    return number(statistics.fmean(statistics.fmean(returns[each]) - rivals[each] for each in over))


def net_text(rows: Sequence[Row]) -> str:
    """Say what the search earns on the learners' own net; nothing where that was not run."""
    returns = returns_of(rows)
    own, theirs = (returns.get(label, {}) for label in (HEADLINE_SEARCHES[True], NET_SEARCH))
    shared = [each for each in own if each in theirs and each not in SPARSE_REWARDS]
    if not shared:
        return ""
    ours, same = (
        statistics.fmean(statistics.fmean(each[reward]) for reward in shared)
        for each in (own, theirs)
    )
    return (
        f"The search has `hom` (353 weights), learners a net of 478: on it the search told "
        f"symmetries earns {number(same)}, on `hom` {number(ours)} ({len(shared)} rewards)."
    )


def unrun_text(rows: Sequence[Row]) -> str:
    """Say which rewards and methods of the plan no row has; nothing where all are there."""
    runs = {row["method"] for row in rows}
    rewards = [reward for reward in EXPERIMENT.rewards if reward not in rewards_of(rows)]
    methods = [method.label for method in EXPERIMENT.methods if method.label not in runs]
    left = [
        f"{kind} {_listed(names)}"
        for kind, names in (("rewards", rewards), ("methods", methods))
        if names
    ]
    return f"Not run: {'; '.join(left)}.\n" if left else ""


def discounts_text(rows: Sequence[Row]) -> str:
    """Say that no learner was run with a larger discount; nothing where one was."""
    if _has_rows(rows, DISCOUNT_LABELS):
        return ""
    return f"Learners with larger discounts ({_discounts(', ')}) were not run."


def caveats(rows: Sequence[Row]) -> str:
    """Return what the dial does not show, an item each; of lines that there are."""
    discounts = (
        discounts_text(rows) or f"Discounts of {_discounts(' and ')} have lines of their own."
    )
    net = " Lines `_one_net` search that net." if _has_rows(rows, NET_LABELS) else ""
    return DIAL_CAVEATS.format(discounts=discounts, net=net)


def _discounts(between: str) -> str:
    return between.join(f"{discount:g}" for discount in HIGH_DISCOUNTS)


def _has_rows(rows: Sequence[Row], labels: frozenset[str]) -> bool:
    return any(row["method"] in labels for row in rows)
