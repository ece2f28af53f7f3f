"""The dial's page, its picture and its sentences in the README, all from the rows of dial.json."""

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rolecast.benchmarks.result_table import Row, markdown_table, sets_text
from rolecast.platform.reports.comparison.method_styles import method_styles
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL, estimate
from rolecast.platform.reports.comparison.table import number
from rolecast.platform.reports.style import panel_grid, panel_style
from rolecast.platform.tuning.methods import SearchMethod
from rolecast.platform.tuning.rewards import DENSE_REWARD
from rolecast.tune_configs.dial import EXPERIMENT, KNOW_SYMMETRIES, SPARSE_REWARDS

HEADLINE_SEARCHES: Final[Mapping[bool, str]] = {True: "dss_gp_ucb", False: "dss_gp_ucb_found"}
"""The default search, told the task's symmetries or not: no other is chosen by its result."""

PLAIN_SEARCH: Final = "dss_gp_ucb_no_symmetry"
"""The same, which has none."""

GROUP_HEADINGS: Final = {
    True: "Methods that are told the task's symmetries",
    False: "Methods that are told none",
}

POINT_SPREAD: Final = 0.03
"""Distance between methods in a picture, of that between rewards."""

DIAL_CAVEATS: Final = """\
What this does not show:

- **One task, one budget.** Learners go on rising after it with dense reward; see
  [baselines.md](baselines.md).
- **Few seeds of learners.** A mean without an interval has fewer than five seeds.
- **Settings are those for dense reward.** Nothing was tuned for broken reward, for searches or
  learners. Discounts of 0.95 and 0.99 have lines of their own where they were run.
- **Policies differ.** `hom` has 353 weights and agents that can talk; the learners' net has 478,
  and its agents cannot. Lines `_one_net` search that net.
- **Symmetries are used differently.** A search looks for weights that are symmetric; a learner
  maps each transition by a symmetry drawn at random. Learners were not given those that are found.
- **How symmetries are found was developed on this task**, among others, though not on these seeds:
  [notebook](../notebook/2026-11-found-symmetries.md).
- No time of these trials is told: they ran beside other work."""


@dataclass(frozen=True, kw_only=True)
class Duel:
    """The headline search beside the best learner that is told as much, under one reward."""

    reward: str
    search: float
    search_seeds: int
    learner: str
    """The learner of the highest mean."""

    learner_mean: float
    learner_seeds: int


def returns_of(rows: Sequence[Row]) -> dict[str, dict[str, list[float]]]:
    """Return method to reward to held-out returns by seed; a search has dense as sparse ones."""
    found: dict[str, dict[str, list[float]]] = {}
    for method in EXPERIMENT.methods:
        mine: dict[str, list[float]] = {}
        for reward in EXPERIMENT.rewards:
            source = _source(method.label, reward)
            values = [
                row["test_return"]
                for row in rows
                if row["method"] == method.label and row["reward"] == source
            ]
            if values:
                mine[reward] = values
        if mine:
            found[method.label] = mine
    return found


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
                search=statistics.fmean(ours[reward]),
                search_seeds=len(ours[reward]),
                learner=best,
                learner_mean=statistics.fmean(theirs[best]),
                learner_seeds=len(theirs[best]),
            )
        )
    return found


def report(rows: Sequence[Row], *, speed: str = "") -> str:
    """Return dial.md.

    Args:
        rows: finished trials.
        speed: a section on wall time, from other tables.
    """
    returns = returns_of(rows)
    episodes = " or ".join(f"{each:,}" for each in sorted({row["test_episodes"] for row in rows}))
    budget = " or ".join(f"{each:,}" for each in sorted({row["budget"] for row in rows}))
    parts = [
        "# Where gradients fail: the dial\n",
        f"`{EXPERIMENT.tasks[0]}`, {budget} env steps a trial, reward ever more broken "
        "([rewards](../rewards.md)). Entries: mean held-out return, in round brackets its 95 % "
        f"interval where there are {LEAST_SEEDS_OF_INTERVAL} seeds, in square ones each seed; over "
        f"{episodes} held-out episodes of {sets_text(rows)}, reward as earned. `rolecast bench "
        "dial` makes rows that are missing, this page and the picture; `rolecast bench dial --only "
        "method=facmac --only seed=0` some of them. A search sees an episode's sum: sparse reward "
        "is dense reward to it.\n",
        "![Held-out return by reward](dial.png)\n",
        "Mean held-out return (number of seeds) of the search and of the learner that earns most, "
        "told the symmetries of the task or told none; the search then looks for some, which its "
        f"budget pays:\n\n{_best_table(rows)}\n\n{_sentences(rows)}\n",
    ]
    for known, heading in GROUP_HEADINGS.items():
        mine = {label: returns[label] for label in returns if (label in KNOW_SYMMETRIES) == known}
        if mine:
            parts.append(f"## {heading}\n\n{_table(mine, rewards_of(rows))}\n")
    parts += [f"{DIAL_CAVEATS}\n", speed]
    return "\n".join(filter(None, parts))


def _table(returns: Mapping[str, Mapping[str, Sequence[float]]], rewards: Sequence[str]) -> str:
    lines = [
        (f"`{label}`", *(_entry(mine.get(reward, ())) for reward in rewards))
        for label, mine in returns.items()
    ]
    return markdown_table(("method", *rewards), lines)


def _entry(returns: Sequence[float]) -> str:
    if not returns:
        return "-"
    found = estimate([np.asarray(returns)])
    bounds = ""
    if found.low is not None and found.high is not None:
        bounds = f" ({number(float(found.low))} to {number(float(found.high))})"
    each = " ".join(f"{value:.0f}" for value in returns)
    return f"**{number(float(found.value))}**{bounds} [{each}]"


def picture(rows: Sequence[Row]) -> Figure:
    """Return the picture: return against reward, one panel for each state of knowledge."""
    returns = returns_of(rows)
    rewards = rewards_of(rows)
    styles = method_styles(list(returns))
    drawing, panels = panel_grid(2, 2, width=11.0, height=4.6, sharey=True)
    for axes, (known, heading) in zip(panels, GROUP_HEADINGS.items(), strict=True):
        panel_style(axes, heading, scale="linear")
        mine = [label for label in returns if (label in KNOW_SYMMETRIES) == known]
        for place, label in enumerate(mine):
            shift = POINT_SPREAD * (place - (len(mine) - 1) / 2)
            _draw(axes, label, returns[label], rewards, shift, styles[label].line(len(rewards)))
        axes.set_xticks(range(len(rewards)), rewards, rotation=30)
        if mine:
            axes.legend(fontsize=7, frameon=False)
    panels[0].set_ylabel("held-out return, as earned")
    return drawing


def _draw(
    axes: Axes,
    label: str,
    returns: Mapping[str, Sequence[float]],
    rewards: Sequence[str],
    shift: float,
    style: Mapping[str, Any],
) -> None:
    """Draw a method's means as a line, its seeds as points, intervals of five seeds as bars."""
    values = [returns.get(reward, ()) for reward in rewards]
    means = [statistics.fmean(each) if each else math.nan for each in values]
    shown = {**style, "marker": "o", "ms": 4, "markevery": 1}
    axes.plot(np.arange(len(rewards)) + shift, means, label=label, lw=1.4, **shown)
    for place, each in enumerate(values):
        if not each:
            continue
        at = place + shift
        axes.scatter([at] * len(each), each, s=9, color=style["color"], alpha=0.6, lw=0)
        found = estimate([np.asarray(each)])
        if found.low is not None and found.high is not None:
            bounds = [float(found.low), float(found.high)]
            axes.plot([at, at], bounds, color=style["color"], lw=1.0)


def readme_region(rows: Sequence[Row]) -> str:
    """Return the README's part: the picture, and who is ahead under which reward."""
    budget = max(row["budget"] for row in rows)
    return (
        "![Held-out return by reward, of searches and learners](docs/results/dial.png)\n\n"
        f"`{EXPERIMENT.tasks[0]}` after {budget:,} env steps; {_seeds(rows)}. Each method, seed "
        f"and interval: [the dial](docs/results/dial.md).\n\n{_sentences(rows)}\n"
    )


def _seeds(rows: Sequence[Row]) -> str:
    """Say how many seeds the means of the sentences have."""
    found = [duel for known in (True, False) for duel in duels(rows, symmetries=known)]
    ours = {duel.search_seeds for duel in found}
    theirs = {duel.learner_seeds for duel in found}
    return f"seeds of a search: {_span(ours)}, of a learner: {_span(theirs)}"


def _span(counts: Collection[int]) -> str:
    """Return counts as text: one number where all are equal."""
    least, most = min(counts, default=0), max(counts, default=0)
    return f"{least}" if least == most else f"{least} to {most}"


def _best_table(rows: Sequence[Row]) -> str:
    """Return the search and the best learner under each reward, by what both know."""
    found = [
        {duel.reward: duel for duel in duels(rows, symmetries=known)} for known in (True, False)
    ]
    head = ("reward", "search, told", "learner, told", "search, not told", "learner, not told")
    lines = [
        (reward, *chain.from_iterable(_sides(each.get(reward)) for each in found))
        for reward in rewards_of(rows)
    ]
    return markdown_table(head, lines)


def _sides(duel: Duel | None) -> tuple[str, str]:
    """Return what the search and the learner earn; "-" where no learner was run."""
    if duel is None:
        return "-", "-"
    learner = f"{number(duel.learner_mean)} ({duel.learner_seeds}), `{duel.learner}`"
    return f"{number(duel.search)} ({duel.search_seeds})", learner


def _sentences(rows: Sequence[Row]) -> str:
    both, neither = (duels(rows, symmetries=known) for known in (True, False))
    return f"{_ahead(both, neither, rewards_of(rows))} {_worth(rows)}"


def _ahead(both: Sequence[Duel], neither: Sequence[Duel], rewards: Sequence[str]) -> str:
    """Say which side has the higher mean under which rewards, and where no learner was run."""
    parts = []
    for words, found in (("told symmetries", both), ("told none", neither)):
        ours = [duel.reward for duel in found if duel.search > duel.learner_mean]
        theirs = [duel.reward for duel in found if duel.search <= duel.learner_mean]
        missing = [each for each in rewards if each not in {duel.reward for duel in found}]
        everything = len(rewards)
        sides = [
            f"{side} has the higher mean under "
            f"{_listed(names) if len(names) < everything else 'every reward'}"
            for side, names in (("the search", ours), ("a learner", theirs))
            if names
        ]
        left = f" (not run: {_listed(missing)})" if missing else ""
        parts.append(f"{words}, {', '.join(sides) or 'nothing was run'}{left}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _worth(rows: Sequence[Row]) -> str:
    """Say how much of the search's lead is knowledge of symmetries, and how much of it is found."""
    returns = returns_of(rows)
    told, found = (returns.get(HEADLINE_SEARCHES[known], {}) for known in (True, False))
    plain = returns.get(PLAIN_SEARCH, {})
    rivals = {duel.reward: duel.learner_mean for duel in duels(rows, symmetries=False)}
    shared = [reward for reward in rivals if reward in told and reward in plain]
    if not shared:
        return "What symmetries are worth was not measured."

    def mean(returns_by_reward: Mapping[str, Sequence[float]]) -> float:
        return statistics.fmean(statistics.fmean(returns_by_reward[each]) for each in shared)

    lead = mean(told) - statistics.fmean(rivals[reward] for reward in shared)
    return (
        f"On average over these rewards ({len(shared)}) the search told symmetries leads the best "
        f"learner told none by {number(lead)}. Symmetries are worth "
        f"{number(mean(told) - mean(plain))} to the search if it is told them, "
        f"{number(mean(found) - mean(plain))} if it has to find them."
    )
