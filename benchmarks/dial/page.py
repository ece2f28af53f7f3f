"""The dial's page and its sentences in the README, all from the rows of dial.json."""

import statistics
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from rolecast.benchmarks.dial.dials import Dial
from rolecast.benchmarks.dial.findings import (
    GROUP_HEADINGS,
    Duel,
    ahead_text,
    caveats,
    discounts_text,
    duels,
    net_text,
    passed_over_text,
    returns_of,
    rewards_of,
    unrun_text,
    worth_text,
)
from rolecast.benchmarks.kept_rows import commits_text, of_one_budget, other_budgets_text
from rolecast.benchmarks.result_table import Row, markdown_table, sets_text
from rolecast.platform.reports.comparison.statistics import (
    LEAST_SEEDS_OF_INTERVAL,
    estimate,
    probability_of_improvement,
    told_apart,
)
from rolecast.platform.reports.comparison.table import number


def report(dial: Dial, rows: Sequence[Row], *, terms: str = "", speed: str = "") -> str:
    """Return a dial's page.

    Args:
        dial: whose rows they are.
        rows: finished trials.
        terms: which rows are of other episodes or settings than the plan has.
        speed: a section on wall time, from other tables.
    """
    others, rows = other_budgets_text(rows), of_one_budget(rows)
    returns, budget = returns_of(dial, rows), f"{rows[0]['budget']:,}"
    episodes = " or ".join(f"{each:,}" for each in sorted({row["test_episodes"] for row in rows}))
    command = f"rolecast bench dial{dial.option}"
    learner = next(each.label for each in dial.experiment.methods if not dial.is_search(each.label))
    told = "told the symmetries of the task or told none" if any(dial.met_states) else "told none"
    looks = (
        "; the search then looks for some, which its budget pays" if dial.finds_symmetries else ""
    )
    fewer = passed_over_text(dial, rows)
    sentences = fewer, ahead_text(dial, rows), worth_text(dial, rows), net_text(dial, rows)
    parts = [
        f"# Where gradients fail: the dial{dial.heading}\n",
        f"`{dial.task}`, {budget} env steps a trial, reward ever more broken "
        "([rewards](../rewards.md)). Entries: mean held-out return, in round brackets its 95 % "
        f"interval where there are {LEAST_SEEDS_OF_INTERVAL} seeds, in square ones each seed; bold "
        "is, of those with an interval, what is not told apart from the best of its table and "
        "reward. Over "
        f"{episodes} held-out episodes of {sets_text(rows)}, reward as earned. `{command}` makes "
        f"rows that are missing, this page and the picture; `{command} --only method={learner} "
        "--only seed=0` some of them. A search sees an episode's sum: sparse reward "
        "is dense reward to it.\n",
        f"![Held-out return by reward]({dial.stem}.png)\n",
        "Mean held-out return (number of seeds) of the search and of the learner that earns most, "
        f"of those with {LEAST_SEEDS_OF_INTERVAL} seeds or, where none has as many, with the most, "
        f"{told}{looks}:\n\n{_best_table(dial, rows)}\n\n"
        f"{' '.join(filter(None, sentences))}\n",
        "How probable it is that a seed of the search earns more than a seed of that learner, with "
        f"a 95 % interval where both have {LEAST_SEEDS_OF_INTERVAL} seeds:\n\n"
        f"{_improvement_table(dial, rows)}\n",
        f"![Held-out return against env steps]({dial.stem}_steps.png)\n",
    ]
    for known, heading in GROUP_HEADINGS.items():
        mine = {label: returns[label] for label in returns if (label in dial.told_methods) == known}
        if mine:
            parts.append(f"## {heading}\n\n{_table(mine, rewards_of(dial, rows))}\n")
    parts += [
        terms and f"{terms}\n",
        others and f"{others}\n",
        f"{commits_text(rows)}\n",
        unrun_text(dial, rows),
        f"What this does not show:\n\n{caveats(dial, rows)}\n",
        speed,
    ]
    return "\n".join(filter(None, parts))


def _table(returns: Mapping[str, Mapping[str, Sequence[float]]], rewards: Sequence[str]) -> str:
    bold = {reward: _not_told_apart(returns, reward) for reward in rewards}
    lines = [
        (
            f"`{label}`",
            *(_entry(mine.get(reward, ()), bold=label in bold[reward]) for reward in rewards),
        )
        for label, mine in returns.items()
    ]
    return markdown_table(("method", *rewards), lines)


def _not_told_apart(
    returns: Mapping[str, Mapping[str, Sequence[float]]], reward: str
) -> frozenset[str]:
    """Return the method of the highest mean, and those that may be as good by their seeds.

    Of those with seeds enough for an interval: fewer tell nothing apart.
    """
    there = {
        label: np.asarray(mine[reward])
        for label, mine in returns.items()
        if len(mine.get(reward, ())) >= LEAST_SEEDS_OF_INTERVAL
    }
    if not there:
        return frozenset()
    leader = max(there, key=lambda label: float(there[label].mean()))
    return frozenset(
        label for label, each in there.items() if not told_apart([(there[leader], each)])
    )


def _entry(returns: Sequence[float], *, bold: bool) -> str:
    if not returns:
        return "-"
    found = estimate([np.asarray(returns)])
    bounds = ""
    if found.low is not None and found.high is not None:
        bounds = f" ({number(float(found.low))} to {number(float(found.high))})"
    each = " ".join(f"{value:.0f}" for value in returns)
    mean = number(statistics.fmean(returns))
    return f"{f'**{mean}**' if bold else mean}{bounds} [{each}]"


def readme_region(dial: Dial, rows: Sequence[Row]) -> str:
    """Return the README's part: the picture, and what search and learner earn under each reward."""
    rows = of_one_budget(rows)
    budget = rows[0]["budget"]
    sentences = worth_text(dial, rows, brief=True), net_text(dial, rows), discounts_text(dial, rows)
    said = " ".join(filter(None, sentences))
    return (
        "![Held-out return by reward, of searches and learners](docs/results/dial.png)\n\n"
        f"`{dial.task}` after {budget:,} env steps, mean held-out return of the search "
        f"and of the best learner with {LEAST_SEEDS_OF_INTERVAL} seeds (or as in brackets); "
        "learners of fewer can earn more: [the dial](docs/results/dial.md)."
        f"\n\n{_best_table(dial, rows, brief=True)}\n\n{said}\n"
    )


def _best_table(dial: Dial, rows: Sequence[Row], *, brief: bool = False) -> str:
    """Return the search and the best learner by what both know, where a learner was run.

    Args:
        dial: whose rows they are.
        rows: of one budget.
        brief: without the learner's name, and the number of seeds where it is usual.
    """
    found = _duels_by_reward(dial, rows)
    states = ("told" if known else "not told" for known in dial.met_states)
    sides = ((f"search, {state}", f"learner, {state}") for state in states)
    lines = [
        (reward, *chain.from_iterable(_sides(each.get(reward), brief=brief) for each in found))
        for reward in rewards_of(dial, rows)
        if any(reward in each for each in found)
    ]
    return markdown_table(("reward", *chain.from_iterable(sides)), lines)


def _duels_by_reward(dial: Dial, rows: Sequence[Row]) -> list[dict[str, Duel]]:
    """Return the duels of methods that are told symmetries, then of those that are not."""
    return [
        {duel.reward: duel for duel in duels(dial, rows, symmetries=known)}
        for known in dial.met_states
    ]


def _improvement_table(dial: Dial, rows: Sequence[Row]) -> str:
    """Return how probable it is that the search beats the best learner that knows as much."""
    returns = returns_of(dial, rows)
    found = _duels_by_reward(dial, rows)
    lines = [
        (reward, *(_chance(returns, each.get(reward)) for each in found))
        for reward in rewards_of(dial, rows)
        if any(reward in each for each in found)
    ]
    states = ("both told" if known else "neither told" for known in dial.met_states)
    return markdown_table(("reward", *states), lines)


def _chance(returns: Mapping[str, Mapping[str, Sequence[float]]], duel: Duel | None) -> str:
    if duel is None:
        return "-"
    ours, theirs = (
        np.asarray(returns[label][duel.reward]) for label in (duel.searcher, duel.learner)
    )
    return f"{probability_of_improvement([(ours, theirs)]).text}, `{duel.learner}`"


def _sides(duel: Duel | None, *, brief: bool) -> tuple[str, str]:
    """Return what the search and the learner earn; "-" where no learner was run."""
    if duel is None:
        return "-", "-"
    search, learner = (
        number(mean) if brief and seeds == LEAST_SEEDS_OF_INTERVAL else f"{number(mean)} ({seeds})"
        for mean, seeds in (
            (duel.search, duel.search_seeds),
            (duel.learner_mean, duel.learner_seeds),
        )
    )
    return search, learner if brief else f"{learner}, `{duel.learner}`"
