"""What the rows of the dial say: returns by reward, duels of search and learner, sentences."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rolecast.benchmarks.dial.dials import Dial
from rolecast.benchmarks.kept_rows import of_one_budget
from rolecast.benchmarks.result_table import Row
from rolecast.benchmarks.rivals import with_enough_seeds
from rolecast.platform.reports.comparison.table import number

GROUP_HEADINGS: Final = {
    True: "Methods that are told the task's symmetries",
    False: "Methods that are told none",
}
"""Of tables and panels."""

KNOWLEDGE_WORDS: Final = {True: "told symmetries", False: "told none"}


@dataclass(frozen=True, kw_only=True)
class Duel:
    """The headline search beside the best learner that is told as much, under one reward."""

    reward: str
    searcher: str
    """Label of the search."""

    search: float
    search_seeds: int
    learner: str
    """The learner of the highest mean, of those with enough seeds."""

    learner_mean: float
    learner_seeds: int
    passed_over: Sequence[str]
    """Learners of a higher mean over too few seeds, each with its mean and seeds in words."""


def returns_of(dial: Dial, rows: Sequence[Row]) -> dict[str, dict[str, list[float]]]:
    """Return method to reward to held-out returns by seed; a search has dense as sparse ones."""
    kept = of_one_budget(rows)
    found = {
        method.label: {
            reward: [row["test_return"] for row in trials]
            for reward in dial.experiment.rewards
            if (trials := rows_of(dial, kept, method.label, reward))
        }
        for method in dial.experiment.methods
    }
    return {label: mine for label, mine in found.items() if mine}


def rows_of(dial: Dial, rows: Sequence[Row], label: str, reward: str) -> list[Row]:
    """Return the trials of a method under a reward; of a search, dense ones stand for sparse."""
    source = dial.source(label, reward)
    return [row for row in rows if row["method"] == label and row["reward"] == source]


def rewards_of(dial: Dial, rows: Sequence[Row]) -> list[str]:
    """Return the reward settings of which there is a run, in the order of the dial."""
    known = {row["reward"] for row in rows}
    return [reward for reward in dial.experiment.rewards if reward in known]


def duels(dial: Dial, rows: Sequence[Row], *, symmetries: bool) -> list[Duel]:
    """Return the search beside the best learner, both told symmetries or both told none.

    Only learners that `with_enough_seeds` names count.
    """
    returns = returns_of(dial, rows)
    ours = returns.get(dial.headline(told=symmetries), {})
    found = []
    for reward in rewards_of(dial, rows):
        theirs = {
            label: mine[reward]
            for label, mine in returns.items()
            if reward in mine
            and (label in dial.told_methods) == symmetries
            and not dial.is_search(label)
        }
        if reward not in ours or not theirs:
            continue
        enough = with_enough_seeds({label: len(each) for label, each in theirs.items()})
        best = max(enough, key=lambda label: statistics.fmean(theirs[label]))
        found.append(
            Duel(
                reward=reward,
                searcher=dial.headline(told=symmetries),
                search=statistics.fmean(ours[reward]),
                search_seeds=len(ours[reward]),
                learner=best,
                learner_mean=statistics.fmean(theirs[best]),
                learner_seeds=len(theirs[best]),
                passed_over=[
                    f"`{label}` {number(statistics.fmean(each))} ({len(each)})"
                    for label, each in theirs.items()
                    if statistics.fmean(each) > statistics.fmean(theirs[best])
                ],
            )
        )
    return found


def passed_over_text(dial: Dial, rows: Sequence[Row]) -> str:
    """Say which learners earn more than the compared ones, over fewer seeds; nothing if none do."""
    parts = [
        f"{KNOWLEDGE_WORDS[known]}, under `{duel.reward}` {', '.join(duel.passed_over)}"
        for known in dial.met_states
        for duel in duels(dial, rows, symmetries=known)
        if duel.passed_over
    ]
    named = "Learners of fewer seeds have higher means, which are not compared"
    return f"{named}: {'; '.join(parts)}." if parts else ""


def ahead_text(dial: Dial, rows: Sequence[Row]) -> str:
    """Say which side has the higher mean under which rewards, and where no learner was run."""
    rewards = rewards_of(dial, rows)
    parts = []
    for known in dial.met_states:
        words, found = KNOWLEDGE_WORDS[known], duels(dial, rows, symmetries=known)
        ours = [duel.reward for duel in found if duel.search > duel.learner_mean]
        theirs = [duel.reward for duel in found if duel.search <= duel.learner_mean]
        missing = [each for each in rewards if each not in {duel.reward for duel in found}]
        sides = [
            f"{side} has the higher mean under "
            f"{_listed(names) if len(names) < len(rewards) else _every(dial, rewards)}"
            for side, names in (("the search", ours), ("a learner", theirs))
            if names
        ]
        left = f" (no learner was run: {_listed(missing)})" if missing else ""
        parts.append(f"{words}, {', '.join(sides) or 'nothing was run'}{left}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _every(dial: Dial, rewards: Sequence[str]) -> str:
    planned = len(dial.experiment.rewards)
    if len(rewards) == planned:
        return "every reward"
    return f"each of the {len(rewards)} rewards run, of {planned} planned"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def worth_text(dial: Dial, rows: Sequence[Row], *, brief: bool = False) -> str:
    """Say how much of the search's lead is knowledge of symmetries, and how much of it is found.

    Its lead is over rewards, each a setting of the learners. What symmetries are worth is over the
    runs of the search, of which that with dense reward is the one with sparse reward too.

    Args:
        dial: whose rows they are.
        rows: of one budget.
        brief: without the rewards for which the run with dense reward stands.
    """
    returns = returns_of(dial, rows)
    told, found = (returns.get(dial.headline(told=known), {}) for known in (True, False))
    plain = returns.get(dial.plain, {})
    rivals, equals = (
        {duel.reward: duel.learner_mean for duel in duels(dial, rows, symmetries=known)}
        for known in (False, True)
    )
    shared = [reward for reward in rivals if reward in told and reward in plain]
    if not shared:
        return "What symmetries are worth was not measured."
    runs = list(dict.fromkeys(dial.source(dial.plain, reward) for reward in shared))

    def mean(returns_by_reward: Mapping[str, Sequence[float]], over: Sequence[str]) -> float:
        return statistics.fmean(statistics.fmean(returns_by_reward[each]) for each in over)

    leads = [f"the best learner told none by {_lead(told, rivals, shared)}"]
    if all(reward in equals for reward in shared):
        leads.insert(0, f"the best learner told them by {_lead(told, equals, shared)}")
    again = ""
    if len(runs) < len(shared) and not brief:
        twice = [each for each in shared if dial.source(dial.plain, each) != each]
        again = f"; the search's dense run stands for {_listed(twice)} too"
    worth = f"{number(mean(told, runs) - mean(plain, runs))} to it if it is told them"
    if dial.finds_symmetries:
        worth += f", {number(mean(found, runs) - mean(plain, runs))} if it has to find them"
    return (
        f"On average over these rewards ({len(shared)}{again}) the search told symmetries leads "
        f"{', '.join(leads)}. Over the rewards that differ for a search ({len(runs)}), symmetries "
        f"are worth {worth}."
    )


def _lead(
    returns: Mapping[str, Sequence[float]], rivals: Mapping[str, float], over: Sequence[str]
) -> str:
    """Return by how much a method's mean over rewards is above that of rivals."""
    return number(statistics.fmean(statistics.fmean(returns[each]) - rivals[each] for each in over))


def net_text(dial: Dial, rows: Sequence[Row]) -> str:
    """Say what the search earns on the learners' own net; nothing where that was not run."""
    returns = returns_of(dial, rows)
    own, theirs = (returns.get(label, {}) for label in (dial.told, dial.one_net))
    shared = [each for each in own if each in theirs and each not in dial.sparse_rewards]
    if not shared:
        return ""
    ours, same = (
        statistics.fmean(statistics.fmean(each[reward]) for reward in shared)
        for each in (own, theirs)
    )
    said = dial.one_net_words.format(same=number(same), own=number(ours))
    return f"{said} ({len(shared)} rewards)."


def unrun_text(dial: Dial, rows: Sequence[Row]) -> str:
    """Say which rewards and methods of the plan no row has; nothing where all are there."""
    runs = {row["method"] for row in rows}
    rewards = [reward for reward in dial.experiment.rewards if reward not in rewards_of(dial, rows)]
    methods = [method.label for method in dial.experiment.methods if method.label not in runs]
    left = [
        f"{kind} {_listed(names)}"
        for kind, names in (("rewards", rewards), ("methods", methods))
        if names
    ]
    return f"Not run: {'; '.join(left)}.\n" if left else ""


def discounts_text(dial: Dial, rows: Sequence[Row]) -> str:
    """Say that no learner was run with a larger discount; nothing where one was or none is to."""
    if not dial.high_discounts or _has_rows(rows, dial.discounted):
        return ""
    return f"Learners with larger discounts ({_discounts(dial, ', ')}) were not run."


def caveats(dial: Dial, rows: Sequence[Row]) -> str:
    """Return what the dial does not show, an item each; of lines that there are."""
    discounts = discounts_text(dial, rows)
    if _has_rows(rows, dial.discounted):
        one = len(dial.high_discounts) == 1
        words = (
            "A discount of {} has lines of its" if one else "Discounts of {} have lines of their"
        )
        discounts = f"{words.format(_discounts(dial, ' and '))} own."
    net = " Lines `_one_net` search that net." if _has_rows(rows, dial.net_searches) else ""
    return dial.caveats.format(discounts=discounts, net=net)


def _discounts(dial: Dial, between: str) -> str:
    return between.join(f"{discount:g}" for discount in dial.high_discounts)


def _has_rows(rows: Sequence[Row], labels: frozenset[str]) -> bool:
    return any(row["method"] in labels for row in rows)
