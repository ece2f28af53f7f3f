"""Ask/tell interface of all optimisers, of this project and of competitors.

Optimisers maximise over the unit cube [0, 1]^D: D dimensions, q candidates in a batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float

if TYPE_CHECKING:
    from rolecast.envs.causal.graph import CausalGraph
    from rolecast.policies.protocol import Policy


class Optimizer(Protocol):
    """Ask/tell optimiser of a noisy function; deterministic for a given seed."""

    def ask(self, q: int) -> Float:
        """Return q new candidates [q, D], which are pending until told."""

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations, in any order, also of points that were never asked for.

        Args:
            candidates: [q, D] in the unit cube.
            returns: [q], finite.
            stderrs: [q], standard error of each return, NaN where unknown; None: all unknown. Most
                Gaussian processes take an error of 0 as an unknown one, and estimate the noise.
        Raises:
            RequestError: a shape is wrong, a point lies outside, or a value is not finite.
        """

    def best(self) -> Float:
        """Return the incumbent [D], chosen by a model or an average, not by its own noisy return.

        It is the answer of a search up to now; see `platform/search/confirmation.py` for the end.

        Raises:
            RequestError: nothing was told yet.
        """

    def state_dict(self) -> dict[str, Any]:
        """Return the complete state, as nested arrays and JSON values."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state; the optimiser then continues exactly as the saved one."""


@runtime_checkable
class Paced(Protocol):
    """Optimiser with schedules over the share of the budget that is spent."""

    def pace(self, spent: float) -> None:
        """Set the share of the budget spent so far, in [0, 1]; called before each `ask`."""


@runtime_checkable
class KeepsPending(Protocol):
    """Optimiser whose proposals depend on candidates that were asked for and not told yet."""

    def forget_pending(self) -> None:
        """Count on none of them: an asynchronous search was resumed, and they are lost."""


@runtime_checkable
class WaitsForAll(Protocol):
    """Optimiser that goes on only once all of its candidates have values."""

    waits_for_all: bool
    """True."""


@runtime_checkable
class HintsByEvaluations(Protocol):
    """Settings of an optimiser that learns from whole epochs: its last ends with the budget."""

    def evaluation_hints(self, count: int) -> Mapping[str, Any]:
        """Return settings, where they are None, for a search of so many evaluations."""


@runtime_checkable
class OnDevice(Protocol):
    """Settings of an optimiser that can compute on a GPU."""

    @property
    def device(self) -> str:
        """Name of the device: "cpu", "cuda" or "cuda:1"."""


@runtime_checkable
class SavesEpisodes(Protocol):
    """Optimiser that can reduce the episodes of a candidate."""

    def episodes(self, planned: int) -> int:
        """Return the episodes of each candidate asked for next, from 1 to `planned`."""


@runtime_checkable
class SharesEpisodes(Protocol):
    """Optimizer that compares candidates on common episodes (common random numbers)."""

    def episode_rows(self) -> NDArray[np.int64]:
        """Return the row [q], in the last `ask`, whose episodes each candidate meets.

        A candidate with its own row meets episodes of its own. A row is never greater than the
        candidate's.
        """


@runtime_checkable
class Explains(Protocol):
    """Optimiser that reports its internal quantities, for the live view and the report."""

    def explain(self) -> dict[str, float]:
        """Return named numbers, such as noise share, structure share and cloud radius."""


@runtime_checkable
class ObservesNodes(Protocol):
    """Optimiser that learns from what was observed between candidate and return."""

    def tell_nodes(
        self,
        candidates: Float,
        returns: Float,
        stderrs: Float | None,
        nodes: Mapping[str, Float],
    ) -> None:
        """Add evaluations as `Optimizer.tell`, with metrics of the task.

        Args:
            candidates: [q, D].
            returns: [q].
            stderrs: [q], or None.
            nodes: metric to its values [q, E] in each episode, those of `observed_metrics`.
        """


@runtime_checkable
class UsesCausalGraph(Protocol):
    """Settings of an optimiser that uses the causal graph of a task's metrics."""

    @property
    def graph(self) -> Mapping[str, Any] | None:
        """The graph as JSON values; None until `with_graph`, where the user gave none."""

    @property
    def observed_metrics(self) -> tuple[str, ...]:
        """Metrics that its optimiser has to be told."""

    def with_graph(self, graph: "CausalGraph") -> "OptimizerConfig":
        """Return these settings with the graph of a task, unless they have one."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Division of a budget proposed by an optimiser; settings of the user override it."""

    episodes: int
    """E, episodes averaged into one evaluation."""

    batch_size: int
    """q, candidates of one batch."""


class OptimizerConfig(Protocol):
    """Settings of one optimiser: a frozen dataclass, checked when built."""

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""

    def proposal(self, budget_episodes: int) -> Proposal:
        """Return the division of a budget in episodes; an ample one has 20 batches or more."""


@runtime_checkable
class HasInitialDesign(Protocol):
    """Settings of an optimiser with an initial design, chosen before it is built."""

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
            policy: the policy that is searched.
            candidates: [T0, D], the initial design.
            observations: [S, n, do], states met by these candidates.
        """

    def with_structure(self, structure: Mapping[str, Any]) -> OptimizerConfig:
        """Return these settings with a structure that was found."""


@runtime_checkable
class NeedsPolicy(Protocol):
    """Settings of an optimiser, some values of which only a search of weights can use."""

    def require_black_box(self) -> None:
        """Refuse those values for a black box, and for weights that are tied.

        Raises:
            ConfigError: names the setting.
        """


def device_of(config: OptimizerConfig) -> str:
    """Return the device of an optimiser, "cpu" unless its settings name another."""
    return config.device if isinstance(config, OnDevice) else "cpu"
