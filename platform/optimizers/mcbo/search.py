"""Ask/tell searches over interventions in a causal graph: all that their acquisitions share.

An initial design, the observations of all nodes, one model a round, candidates that are pending,
and a state that repeats all of it. What is maximised comes as an argument (`Proposer`).
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.envs.causal.graph import CausalGraph
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel, node_noise
from rolecast.platform.optimizers.mcbo.node_data import Observed, node_values
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
    still_pending,
)

OBSERVATIONAL_ROWS: Final = 10
ROWS_OF_A_SET: Final = 2
"""Initial evaluations without intervention, and of each set of hard interventions."""

INCUMBENT_SAMPLES: Final = 64
"""Samples of the noise by which candidates are compared for the incumbent."""

GOOD_CANDIDATES: Final = 8
"""Candidates of highest posterior mean from which an acquisition is climbed, too."""

REPEAT_STEP: Final = 1e-6
"""Step in the cube by which a candidate leaves one that was asked for before."""


class Proposer(Protocol):
    """Maximiser of an acquisition function."""

    def propose(
        self, model: GraphModel, good: Float, rng: np.random.Generator
    ) -> tuple[Float, float]:
        """Return the candidate [D] of highest acquisition value, and that value.

        Args:
            model: of all nodes; pending candidates are imputed.
            good: [G, D], candidates of high posterior mean, the best first.
            rng: source of randomness.
        """


def initial_design(space: InterventionSpace, rng: np.random.Generator) -> Float:
    """Return the candidates [T0, D] of the initial design.

    Hard interventions: 10 evaluations without one, 2 of every other set at random. Soft ones only:
    2 A + 1 at random, as the paper has it; its code has 2 (A + 1). Where a limit gives sets of soft
    ones, those 2 A + 1 are of random sets.
    """
    count = 2 * space.size + 1
    if not space.chooses:
        return rng.random((count, space.size))
    if not space.graph.do:
        some = rng.permutation(np.arange(max(count, len(space.sets))) % len(space.sets))[:count]
        return space.encode(some, rng.random((count, space.size)))
    natural = [k for k, one in enumerate(space.sets) if not one]
    others = [k for k, one in enumerate(space.sets) if one]
    chosen = np.array([*natural * OBSERVATIONAL_ROWS, *np.repeat(others, ROWS_OF_A_SET)])
    return space.encode(chosen, rng.random((len(chosen), space.size)))


class CausalSearch:
    """Ask/tell search of interventions; see `rolecast.platform.optimizers.protocol.Optimizer`."""

    def __init__(
        self,
        graph: CausalGraph,
        proposer: Proposer | None,
        *,
        dimension: int,
        seed: int,
        constant_mean: bool = False,
        device: str = "cpu",
    ) -> None:
        """Begin a search.

        Args:
            graph: of the nodes.
            proposer: chooses after the initial design; None: at random.
            dimension: D, for a check.
            seed: of all random choices.
            constant_mean: of all processes, as of `ProcessConfig`.
            device: of the model's tensors.
        Raises:
            RequestError: the graph has other interventions than the dimension says.
        """
        self.graph, self.space = graph, InterventionSpace(graph)
        if self.space.dimension != dimension:
            raise RequestError(
                f"the graph's interventions have {self.space.dimension} coordinates; expected "
                f"{dimension}, those of what is searched"
            )
        self._proposer, self._device, self._constant_mean = proposer, device, constant_mean
        self._rng = np.random.default_rng(seed)
        self._design = initial_design(self.space, self._rng)
        self._asked = 0
        self._data = Observed.none(dimension, len(graph.nodes))
        self._pending = np.zeros((0, dimension))
        self._model: GraphModel | None = None
        self._good_rows: Float | None = None
        self._last_value = 0.0

    def ask(self, q: int) -> Float:
        """Return q new candidates [q, D]: of the initial design, then of the acquisition."""
        count = require_batch(q)
        rows: list[Float] = []
        model: GraphModel | None = None
        for _ in range(count):
            if self._asked < len(self._design):
                row = self._design[self._asked]
            elif self._proposer is None or not len(self._data):
                row = self._random()
            else:
                fresh = np.array(rows).reshape(-1, self.space.dimension)
                waiting = np.concatenate([self._pending, fresh])
                model = self._imagining(model, waiting)
                row, self._last_value = self._proposer.propose(model, self._good(), self._rng)
                row = self._apart(row, waiting)
            self._asked += 1
            rows.append(row)
        asked = np.array(rows)
        self._pending = np.concatenate([self._pending, asked])
        return asked.copy()

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations of a graph whose only node is the reward; see `tell_nodes`."""
        self.tell_nodes(candidates, returns, stderrs, {})

    def tell_nodes(
        self,
        candidates: Float,
        returns: Float,
        stderrs: Float | None,
        nodes: Mapping[str, Float],
    ) -> None:
        """Add evaluations with what was observed of the nodes.

        Args:
            candidates: [q, D].
            returns: [q], the reward node.
            stderrs: [q], or None.
            nodes: metric to its values [q, E].
        Raises:
            RequestError: as of `Optimizer.tell`; or a node is missing or not finite.
        """
        told = Observations(self.space.dimension)  # refuses all or nothing
        told.add(candidates, returns, stderrs)
        values, variances = node_values(self.graph, told.returns, told.stderrs, nodes)
        self._data = self._data.joined(Observed(told.candidates, values, variances))
        self._pending = still_pending(self._pending, told.candidates)
        self._model = self._good_rows = None

    def forget_pending(self) -> None:
        """Forget candidates that will not be told.

        Those of the initial design are not asked for again.
        """
        self._pending = self._pending[:0]

    def best(self) -> Float:
        """Return the candidate [D] of highest expected reward by the posterior means.

        A search without a model has no means: it is the highest return.
        """
        if not len(self._data):
            raise RequestError("the incumbent needs at least one evaluation; expected a tell first")
        return np.array(self._good()[0])

    def explain(self) -> dict[str, float]:
        """Return the model's mean of the incumbent, and the last acquisition value."""
        if self._proposer is None or not len(self._data):
            return {}
        mean = self._means(self.best()[None])[0]
        return {"incumbent_mean": float(mean), "acquisition": float(self._last_value)}

    def state_dict(self) -> dict[str, Any]:
        """Return the complete state; the model follows from the observations."""
        return {
            "data": self._data.state_dict(),
            "pending": self._pending.copy(),
            "asked": self._asked,
            "last_value": float(self._last_value),
            "rng": generator_state(self._rng),
            "design": self._design.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data = Observed(**{name: np.array(x) for name, x in state["data"].items()})
        self._pending = np.array(state["pending"])
        self._asked, self._last_value = int(state["asked"]), float(state["last_value"])
        self._design = np.array(state["design"])
        self._rng = restored_generator(state["rng"])
        self._model = self._good_rows = None

    def _random(self) -> Float:
        """Return a random candidate [D]: a set, all alike, and its values."""
        chosen = self._rng.integers(len(self.space.sets), size=1)
        return np.asarray(self.space.encode(chosen, self._rng.random((1, self.space.size)))[0])

    def _fitted(self) -> GraphModel:
        """Return the model of all that was told, fitted once."""
        if self._model is None:
            self._model = GraphModel(
                self.space, self._data, constant_mean=self._constant_mean, device=self._device
            )
        return self._model

    def _imagining(self, model: GraphModel | None, waiting: Float) -> GraphModel:
        """Return the model with pending candidates imputed by their posterior means.

        Args:
            model: of the candidate before in this batch; None for the first.
            waiting: [P, D], all that are pending, those of this batch last.
        """
        if model is not None:
            return model.imagined(waiting[-1:])
        return self._fitted().imagined(waiting) if len(waiting) else self._fitted()

    def _means(self, candidates: Float) -> Float:
        noise = node_noise(self.space, INCUMBENT_SAMPLES, np.random.default_rng(0), self._device)
        return self._fitted().mean_rewards(candidates, noise)

    def _good(self) -> Float:
        """Return candidates that were told, of highest posterior mean, the best first."""
        if self._good_rows is None:
            self._good_rows = self._ranked()
        return self._good_rows

    def _ranked(self) -> Float:
        known = self._data.candidates
        if self._proposer is None:
            return np.array(known[np.argsort(-self._data.values[:, -1], kind="stable")])
        unlike = np.sort(np.unique(known, axis=0, return_index=True)[1])
        order = np.argsort(-self._means(known[unlike]), kind="stable")
        return np.asarray(known[unlike][order[:GOOD_CANDIDATES]])

    def _apart(self, row: Float, waiting: Float) -> Float:
        """Return a candidate a little inside the cube if it equals an earlier one.

        One without any value to choose, such as no intervention at all, may come again.
        """
        known = np.concatenate([self._data.candidates, waiting])
        members = self.space.members[self.space.decode(row[None])[0][0]]
        while members.any() and (known == row).all(axis=1).any():
            step = REPEAT_STEP * self._rng.random(len(row)) * np.where(row > 0.5, -1.0, 1.0)
            free = np.concatenate([np.zeros(len(row) - len(members), dtype=bool), members])
            row = np.where(free, row + step, row)
        return row
