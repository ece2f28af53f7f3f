"""Who beats whom: the probability of improvement of chosen pairs, by setting and over all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rolecast.core.errors import RequestError, unknown_name
from rolecast.core.types import Float
from rolecast.platform.reports.comparison.groups import Groups
from rolecast.platform.reports.comparison.statistics import Estimate, probability_of_improvement

Pair = tuple[str, str]
"""Two methods: is the first better?"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Improvement:
    """How probable it is that a seed of one method earns more than one of another."""

    ours: str
    theirs: str

    task: str
    """Of the setting; empty for all settings."""

    reward: str
    """Of the setting; empty for all."""

    settings: int
    """How many settings it is over: those in which both have finished trials."""

    seeds: tuple[int, int]
    """Finished trials of each, over these settings."""

    estimate: Estimate | None
    """None where one of them has no finished trial."""


def improvements(whole: Groups, pairs: Sequence[Pair]) -> list[Improvement]:
    """Return, pair by pair, the probability over all settings and then in each, if several."""
    each = [[setting] for setting in whole.settings]
    spans = [whole.settings, *each] if len(each) > 1 else each
    return [_improvement(whole, pair, settings) for pair in pairs for settings in spans]


def _improvement(whole: Groups, pair: Pair, settings: Sequence[Pair]) -> Improvement:
    """Compare a pair over settings, of which those without a finished trial of both are left.

    A seed need not have finished in all of them: settings weigh alike, so nothing is gained by it.
    """
    both = [
        (task, reward)
        for task, reward in settings
        if all(len(whole.finals(task, reward, method)) for method in pair)
    ]
    ours, theirs = (whole.strata(both, method) for method in pair)
    task, reward = settings[0] if len(settings) == 1 else ("", "")
    return Improvement(
        ours=pair[0],
        theirs=pair[1],
        task=task,
        reward=reward,
        settings=len(both),
        seeds=(_count(ours), _count(theirs)),
        estimate=probability_of_improvement([*zip(ours, theirs, strict=True)]) if both else None,
    )


def _count(strata: Sequence[Float]) -> int:
    return sum(int(np.isfinite(each).sum()) for each in strata)


def chosen_pairs(whole: Groups, words: Sequence[str]) -> list[Pair]:
    """Return the pairs to compare: those asked for, or each search against each learner.

    Args:
        whole: the comparison.
        words: "OURS:THEIRS" each; without any, each search against each learner, and where a
            comparison has only one of the kinds, its first method against each other.
    Raises:
        RequestError: a word is of another form, or names a method that is not there.
    """
    pairs = []
    for word in words:
        ours, colon, theirs = word.partition(":")
        if not colon:
            raise RequestError(f"--pair {word!r} is not understood; expected METHOD:METHOD")
        for name in (ours, theirs):
            if name not in whole.methods:
                raise unknown_name("method of this comparison", name, whole.methods)
        pairs.append((ours, theirs))
    if pairs:
        return pairs
    searches = [method for method in whole.methods if whole.kinds[method].kind == "search"]
    learners = [method for method in whole.methods if method not in searches]
    found = [(ours, theirs) for ours in searches for theirs in learners]
    return found or [(whole.methods[0], theirs) for theirs in whole.methods[1:]]
