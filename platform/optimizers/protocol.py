"""The one ask/tell face of every searcher of the project, ours and the competitors'.

Optimisers maximise over the unit cube [0, 1]^D. D dimensions, q candidates of a batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rolecast.core.types import Float

if TYPE_CHECKING:
    from rolecast.policies.protocol import Policy


class Optimizer(Protocol):
    """Proposes candidates and learns from their noisy returns. Deterministic for a given seed."""

    def ask(self, q: int) -> Float:
        """Return q candidates [q, D], none of which repeats one before. Pending until told."""

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; also of points that were never asked for, in any order.

        Args:
            candidates: [q, D] in the unit cube.
            returns: [q], finite.
            stderrs: [q], standard error of each return, 0 where exact; None when unknown.
        Raises:
            RequestError: a shape is wrong, a point lies outside, or a value is not finite.
        """

    def best(self) -> Float:
        """Return the incumbent [D]: of highest posterior mean, never of the luckiest draw.

        Raises:
            RequestError: nothing was told yet.
        """

    def state_dict(self) -> dict[str, Any]:
        """Return all that decides future answers, as arrays and JSON values (nested)."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the optimiser that gave this state stood."""


@runtime_checkable
class Paced(Protocol):
    """An optimiser whose schedules follow the share of the budget that is spent."""

    def pace(self, spent: float) -> None:
        """Take in the share of the budget spent so far, in [0, 1]; called before each `ask`."""


@runtime_checkable
class OnDevice(Protocol):
    """Settings of an optimiser that can compute on a GPU."""

    @property
    def device(self) -> str:
        """Where it computes: "cpu", or "cuda" with or without a number."""


@runtime_checkable
class SavesEpisodes(Protocol):
    """An optimiser that says where fewer episodes a candidate do."""

    def episodes(self, planned: int) -> int:
        """Return how many episodes each candidate asked for next needs, from 1 to those planned."""


@runtime_checkable
class Explains(Protocol):
    """An optimiser that can say what it believes, for the live view and the report."""

    def explain(self) -> dict[str, float]:
        """Return named numbers: noise share, structure share, cloud width and the like."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """How an optimiser would like its budget spent; the user's own settings override."""

    episodes: int
    """E, episodes averaged into one evaluation."""

    batch_size: int
    """q."""


class OptimizerConfig(Protocol):
    """Settings of one optimiser: a frozen dataclass, checked when built."""

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget, in episodes of the task, into batches: some 20 or more of them."""


@runtime_checkable
class HasInitialDesign(Protocol):
    """Settings of an optimiser whose first evaluations are chosen before it is built."""

    def initial_design(self, *, dimension: int, seed: int) -> Float | None:
        """Return the candidates [T0, D] of the initial design; None for none."""


@runtime_checkable
class UsesPolicyStructure(Protocol):
    """Settings of an optimiser that can use the structure of a policy."""

    def find_structure(
        self, policy: "Policy", candidates: Float, observations: Float
    ) -> dict[str, Any] | None:
        """Return the structure of a policy as JSON values; None where it has none.

        Args:
            policy: whose weights are searched.
            candidates: [T0, D], the initial design.
            observations: [S, n, do], states met by running it.
        """

    def with_structure(self, structure: Mapping[str, Any]) -> OptimizerConfig:
        """Return these settings with a structure that was found."""


def device_of(config: OptimizerConfig) -> str:
    """Return where an optimiser computes: "cpu" unless its settings say otherwise."""
    return config.device if isinstance(config, OnDevice) else "cpu"
