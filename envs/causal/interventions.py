"""Interventions as points of the unit cube, so that every optimiser can choose them.

A point has one coordinate for each intervention. Where several sets are allowed, a first coordinate
chooses the set: the cube is cut into as many equal slabs. Coordinates outside the set are ignored.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import FINITE_NUMBER
from rolecast.envs.causal.graph import CausalGraph


class InterventionSpace:
    """The allowed interventions of a graph: K sets over A coordinates."""

    def __init__(self, graph: CausalGraph) -> None:
        self.graph = graph
        names = [each.name for each in graph.interventions]
        chosen = graph.sets if graph.sets is not None else tuple(_implied_sets(graph))
        kept = _without_repeats(graph, chosen)
        self.sets: tuple[tuple[str, ...], ...] = tuple(
            dict.fromkeys(tuple(sorted(one, key=names.index)) for one in kept)
        )
        """Allowed sets without those whose minimal core is allowed too."""
        if not any(self.sets):
            expected = "one that has an effect on the reward, the last node"
            raise ConfigError("sets of interventions", self.sets, expected)
        self._low = np.array([each.low for each in graph.interventions])
        self._high = np.array([each.high for each in graph.interventions])
        for each in graph.actions:
            left_out = any(each.name not in one for one in self.sets)
            if left_out and not each.low <= 0.0 <= each.high:
                bounds = (each.low, each.high)
                raise ConfigError(
                    f"range of {each.name!r}", bounds, "one with 0, which is no intervention"
                )

    @property
    def size(self) -> int:
        """A, number of interventions."""
        return len(self._low)

    @property
    def chooses(self) -> bool:
        """Whether there is a choice of sets."""
        return len(self.sets) > 1

    @property
    def dimension(self) -> int:
        """D, of the cube."""
        return self.size + self.chooses

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """[K, A], whether a set contains an intervention."""
        names = [each.name for each in self.graph.interventions]
        return np.array([[name in one for name in names] for one in self.sets], dtype=np.bool_)

    @cached_property
    def rest(self) -> Float:
        """[A], place in [0, 1] of a soft intervention of 0; the middle for hard ones."""
        soft = len(self.graph.actions)
        places = np.full(self.size, 0.5)
        places[:soft] = -self._low[:soft] / (self._high - self._low)[:soft]
        return np.asarray(np.clip(places, 0.0, 1.0))

    def decode(self, candidates: Float) -> tuple[NDArray[np.int64], Float]:
        """Return sets [q] and places [q, A] of candidates [q, D]; `rest` where not set."""
        candidates = np.asarray(candidates, dtype=np.float64)
        count = len(self.sets)
        if self.chooses:
            chosen = np.minimum((candidates[:, 0] * count).astype(np.int64), count - 1)
            places = candidates[:, 1:]
        else:
            chosen, places = np.zeros(len(candidates), dtype=np.int64), candidates
        return chosen, np.where(self.members[chosen], places, self.rest)

    def encode(self, chosen: NDArray[np.int64], places: Float) -> Float:
        """Return candidates [q, D] of sets [q] and places [q, A]; the inverse of `decode`."""
        kept = np.where(self.members[chosen], np.asarray(places, dtype=np.float64), self.rest)
        if not self.chooses:
            return kept
        first = (np.asarray(chosen) + 0.5) / len(self.sets)
        return np.concatenate([first[:, None], kept], axis=1)

    def values(self, candidates: Float) -> Float:
        """Return values [q, A] in their own units; NaN for hard interventions not in the set."""
        chosen, places = self.decode(candidates)
        found = self._low + (self._high - self._low) * places
        outside = ~self.members[chosen]
        soft = len(self.graph.actions)
        found[:, :soft][outside[:, :soft]] = 0.0
        found[:, soft:][outside[:, soft:]] = np.nan
        return np.asarray(found)

    def named_values(self, candidate: Float) -> dict[str, float]:
        """Return what a point [D] sets, by name, in units of its own; undoes `candidate`."""
        chosen, _ = self.decode(candidate[None])
        made = zip(self.values(candidate[None])[0], self.members[chosen[0]], strict=True)
        return {
            each.name: float(value)
            for each, (value, member) in zip(self.graph.interventions, made, strict=True)
            if member
        }

    def candidate(self, **values: float) -> Float:
        """Return the point [D] of interventions by name; those not named are not made.

        Raises:
            RequestError: a value is outside its range, or the set is not allowed.
        """
        given = tuple(each.name for each in self.graph.interventions if each.name in values)
        if given not in self.sets or len(given) < len(values):
            raise ConfigError("interventions", tuple(values), f"one of the sets {self.sets}")
        places = self.rest.copy()
        for column, each in enumerate(self.graph.interventions):
            if each.name in values:
                value = values[each.name]
                if not FINITE_NUMBER.allows(value) or not each.low <= value <= each.high:
                    raise ConfigError(each.name, value, f"a number in [{each.low}, {each.high}]")
                places[column] = (value - each.low) / (each.high - each.low)
        chosen = np.array([self.sets.index(given)])
        return np.asarray(self.encode(chosen, places[None])[0])


def _without_repeats(
    graph: CausalGraph, sets: tuple[tuple[str, ...], ...]
) -> list[tuple[str, ...]]:
    """Return the sets but those whose minimal core, which reaches the same, is among them.

    The core has the same soft interventions, and the hard ones that are not superfluous.
    """
    hard = frozenset(each.name for each in graph.do)
    named = {frozenset(one) for one in sets}
    kept = []
    for one in sets:
        made = hard.intersection(one)
        superfluous = made - graph.causes_of_reward(cut=made)
        if not superfluous or frozenset(one) - superfluous not in named:
            kept.append(one)
    return kept


def _implied_sets(graph: CausalGraph) -> Iterator[tuple[str, ...]]:
    """Yield the sets of a graph that names none: all soft ones, or all minimal sets."""
    soft = [each.name for each in graph.actions]
    if not graph.do and graph.limit is None:
        yield tuple(soft)
        return
    limit = len(graph.interventions) if graph.limit is None else graph.limit
    if graph.limit is None:
        for one in minimal_sets(graph, limit):
            yield (*soft, *one)
        return
    for hard in minimal_sets(graph, limit):
        free = graph.causes_of_reward(cut=hard).difference(hard)
        entering = {name for node in graph.nodes if node.name in free for name in node.actions}
        useful = [name for name in soft if name in entering]
        for count in range(min(limit - len(hard), len(useful)) + 1):
            for some in combinations(useful, count):
                yield (*some, *hard)


def minimal_sets(graph: CausalGraph, limit: int | None = None) -> list[tuple[str, ...]]:
    """Return the minimal sets of hard interventions, the empty one first, small before large.

    Each part of a minimal set is minimal, as it cuts fewer edges: so only minimal sets grow.

    Args:
        graph: its `do` names the nodes that may be set.
        limit: greatest size of a set.
    """
    names = [each.name for each in graph.do]
    most = len(names) if limit is None else min(limit, len(names))
    grown: list[tuple[str, ...]] = [()]
    found = list(grown)
    for _ in range(most):
        grown = [
            (*one, name)
            for one in grown
            for name in names[names.index(one[-1]) + 1 if one else 0 :]
            if is_minimal(graph, frozenset((*one, name)))
        ]
        found += grown
    return found


def is_minimal(graph: CausalGraph, hard: frozenset[str]) -> bool:
    """Return whether each intervention of a set matters to the reward beside the others.

    A set is minimal if all of it are ancestors of the reward in the graph whose edges into the set
    are cut. Source: Lee and Bareinboim (2018), proposition 1, and (2019), section 3.
    """
    return hard <= graph.causes_of_reward(cut=hard)
