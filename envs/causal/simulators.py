"""Simulators of causal graphs: the value of every node for interventions and seeds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, Final, Protocol

import numpy as np

from rolecast.core.counter_random import draw, episode_keys
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.patience import CallEnded, Patience, StepTimeoutError
from rolecast.core.types import Float, Seeds
from rolecast.core.validation import LARGEST_RETURN
from rolecast.envs.causal.graph import CausalGraph

DRAWS_AT_ONCE: Final = 200_000
"""Draws computed in one piece, so that their arrays stay in the cache and in memory."""

SET_TOLERANCE: Final = 1e-6
"""Greatest difference of a node from what it was set to, by the largest value of its range or by
that value: simulators of single precision pass."""

NODE_VALUE: Final = f"a finite number of at most {LARGEST_RETURN:g} in size"
"""What a node may be, in words."""

Mechanism = Callable[[Mapping[str, Float]], Float]
"""Function [B] of a node without its noise, from the values [B] of actions and of nodes before."""

Simulate = Callable[[Mapping[str, float], np.random.Generator], Mapping[str, float]]
"""A user's simulator: interventions by name, those not made left out, to all nodes by name."""


class NodeSimulator(Protocol):
    """Draws all nodes for B interventions."""

    def draw(self, values: Float, seeds: Seeds) -> dict[str, Float]:
        """Return name to [B] for values [B, A], NaN where a node is not set, and seeds [B]."""


@dataclass(frozen=True)
class StructuralModel:
    """Structural causal model with additive noise: a mechanism a node, vectorised over draws."""

    graph: CausalGraph
    mechanisms: Mapping[str, Mechanism]

    def draw(self, values: Float, seeds: Seeds) -> dict[str, Float]:
        """Return name to [B], with noise that depends on each seed and node alone.

        Raises:
            RequestError: a mechanism gives what is no finite number, or is too large.
        """
        first, second = episode_keys(seeds)
        uniforms: dict[str, Float] = {
            node.name: (draw(first, second, np.uint32(place)).astype(np.float64) + 0.5) * 2.0**-32
            for place, node in enumerate(self.graph.nodes)
            if node.noise.kind != "none"
        }
        found = self.outcome(values, uniforms)
        for name, column in found.items():
            sound = np.abs(column) <= LARGEST_RETURN  # not of NaN
            if not sound.all():
                raise ConfigError(f"node {name!r}", float(column[~sound][0]), NODE_VALUE)
        return found

    def outcome(self, values: Float, uniforms: Mapping[str, Float]) -> dict[str, Float]:
        """Return name to [B].

        Args:
            values: [B, A], of interventions; NaN where a node is not set.
            uniforms: probabilities [B] in (0, 1) of each noisy node's noise.
        Raises:
            RequestError: a mechanism gives another shape than [B] and one number, or no numbers.
        """
        names = [each.name for each in self.graph.interventions]
        soft = len(self.graph.actions)
        known: dict[str, Float] = {name: values[:, k] for k, name in enumerate(names[:soft])}
        found = {}
        for node in self.graph.nodes:
            value = _column(self.mechanisms[node.name](known), node.name, len(values))
            if node.name in uniforms:
                value = value + node.noise.quantiles(uniforms[node.name])
            if node.name in names[soft:]:
                fixed = values[:, soft + names[soft:].index(node.name)]
                value = np.where(np.isnan(fixed), value, fixed)
            known[node.name] = found[node.name] = value
        return found

    def expected_rewards(self, values: Float, draws: int, seed: int) -> Float:
        """Return the mean reward [q] of interventions [q, A] over common draws of the noise."""
        rng = np.random.default_rng(seed)
        count = draws if self.graph.noisy else 1
        uniforms = {
            node.name: rng.random(count) for node in self.graph.nodes if node.noise.kind != "none"
        }
        means = []
        for start in range(0, len(values), max(1, DRAWS_AT_ONCE // count)):
            some = values[start : start + max(1, DRAWS_AT_ONCE // count)]
            common = {name: np.tile(draws_of, len(some)) for name, draws_of in uniforms.items()}
            found = self.outcome(np.repeat(some, count, axis=0), common)[self.graph.reward.name]
            means.append(found.reshape(len(some), count).mean(axis=1))
        return np.concatenate(means)


@dataclass(frozen=True)
class OneByOne:
    """A user's simulator, called once for each draw."""

    graph: CausalGraph
    simulate: Simulate

    def draw(
        self, values: Float, seeds: Seeds, patience: Patience | None = None
    ) -> dict[str, Float]:
        """Return name to [B].

        Args:
            values: [B, A], of interventions; NaN where a node is not set.
            seeds: [B].
            patience: with each call; None: it may last for ever.
        Raises:
            RequestError: the simulator leaves out a node, gives what is no finite number or too
                large, or gives a node another value than it was set to.
            StepTimeoutError: a call lasted too long.
        """
        names = [each.name for each in self.graph.interventions]
        rows = []
        for row, seed in zip(values, seeds, strict=True):
            made = {n: float(x) for n, x in zip(names, row, strict=True) if not np.isnan(x)}
            given = self._called(made, int(seed), patience)
            rows.append([_value(given, name) for name in self.graph.names])
            self._check_set(made, dict(zip(self.graph.names, rows[-1], strict=True)))
        columns = np.array(rows, dtype=np.float64).reshape(-1, len(self.graph.names))
        return dict(zip(self.graph.names, columns.T, strict=True))

    def _check_set(self, made: Mapping[str, float], found: Mapping[str, float]) -> None:
        """Refuse a node that has another value than it was set to."""
        for each in self.graph.do:
            if each.name not in made:
                continue
            value, expected = found[each.name], made[each.name]
            near = SET_TOLERANCE * max(abs(each.low), abs(each.high))
            if not math.isclose(value, expected, rel_tol=SET_TOLERANCE, abs_tol=near):
                raise ConfigError(
                    f"node {each.name!r}",
                    value,
                    f"{expected!r}, the value to which it was set",
                )

    def _called(self, made: Mapping[str, float], seed: int, patience: Patience | None) -> Any:
        """Return what the simulator gives for interventions."""
        rng = np.random.default_rng(seed)
        if patience is None:
            return self.simulate(made, rng)
        try:
            return patience.call(partial(self.simulate, made), rng, lambda: "the simulator", seed)
        except CallEnded as error:
            raise StepTimeoutError(
                f"the simulator has not answered for {patience.timeout_s:g} s in the episode of "
                f"seed {seed}; expected an answer, or a longer --step-timeout",
                seed,
            ) from error


def _value(given: Mapping[str, Any], name: str) -> float:
    """Return the value of a node in what a simulator gave; refuse one that it cannot have."""
    if not isinstance(given, Mapping):
        raise RequestError(f"the simulator gave {given!r}; expected a mapping of nodes to numbers")
    if name not in given:
        known = sorted(map(str, given))
        raise RequestError(f"node {name!r} is missing; the simulator gave {known}")
    found = given[name]
    try:
        plain = found.item() if isinstance(found, np.ndarray) else found
        value = np.nan if isinstance(plain, str | bytes) else float(plain)
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not abs(value) <= LARGEST_RETURN:
        raise ConfigError(f"node {name!r}", found, NODE_VALUE)
    return value


def _column(given: Any, name: str, count: int) -> Float:
    """Return what a mechanism gave as [B]; refuse another shape, and what are no real numbers."""
    numbers = f"{count} real numbers, or one"
    try:
        found = np.asarray(given)
    except ValueError as error:  # rows of unequal length
        raise ConfigError(f"node {name!r}", given, numbers) from error
    if found.shape not in {(), (1,), (count,)}:
        expected = f"({count},), one number a draw, or one number"
        raise ConfigError(f"shape of node {name!r}", found.shape, expected)
    plain = found.dtype.kind in "biuf"
    for each in [] if plain else found.reshape(-1).tolist():
        if not isinstance(each, Real):
            raise ConfigError(f"node {name!r}", each, numbers)
    try:
        column = np.array(found, dtype=np.float64)
    except OverflowError as error:  # an integer that no float holds
        raise ConfigError(f"node {name!r}", given, NODE_VALUE) from error
    return np.broadcast_to(column, (count,))
