"""Interface of policies: a function of weights and observations, without state."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rolecast.core.types import Float, Float32, KernelCalls
from rolecast.policies.space import ParameterSpace

if TYPE_CHECKING:
    from torch import Tensor  # seconds to load, and only Hessians need it


class LanePolicy(Protocol):
    """Compiled float32 form of a policy, over K blocks of W lanes (`rolecast.envs.spec`).

    Every lane has its own weights, so that any mix of candidates and episodes fills a block.
    """

    def act(self, weights: Float32, observations: Float32, actions: Float32) -> None:
        """Write actions [K, n, da, W] for weights [K, D, W] and observations [K, n, do, W]."""


@runtime_checkable
class PolicyKernels(Protocol):
    """Compiled form whose kernels can be called from inside others, and on CUDA.

    They return nothing, and write to the actions.
    """

    def workspace_rows(self, agents: int) -> int:
        """Return the rows that a kernel has for what it computes in between."""

    def calls(self, weights: Any, observations: Any, actions: Any) -> KernelCalls:
        """Return what `LanePolicy.act` calls."""


class Policy(Protocol):
    """Policy: actions from weights and observations, batched over candidates and episodes."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Settings as JSON values; `make_policy(name, task, **options)` builds this policy again.

        Defaults are resolved, and the seed is included.
        """

    @property
    def space(self) -> ParameterSpace:
        """Named blocks of parameters, and the map from the unit cube to weights."""

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] in [-1, 1] for weights [P, D], observations [P, B, n, do].

        The readable float64 reference of the compiled form.
        """

    def relaxed_act(self, weights: "Tensor", observations: "Tensor") -> "Tensor":
        """Return actions [S, n, da], twice differentiable in weights [D], for [S, n, do].

        Optional: without it, structure is found in returns.
        """

    def lanes(self) -> LanePolicy:
        """Return the compiled form; several may be called at once, each on a thread of its own."""


@runtime_checkable
class NamesCoordinates(Protocol):
    """Policy whose few parameters have names, by which a causal graph refers to them."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the parameters [D], in their order."""


@runtime_checkable
class HintsAtSettings(Protocol):
    """Policy with settings of an optimiser that suit its search."""

    @property
    def search_hints(self) -> Mapping[str, Any]:
        """Settings of optimisers by name.

        A hint is taken where the optimiser has the setting and the user gave none (None).
        """


@runtime_checkable
class HintsByBudget(Protocol):
    """Policy with settings that suit a search by its budget."""

    def budget_hints(self, budget_episodes: int) -> Mapping[str, Any]:
        """Return hints as `search_hints` for env steps of so many whole episodes.

        A run keeps those with which it was begun, whatever budget it is given later.
        """


@runtime_checkable
class RemarksOnTask(Protocol):
    """Policy with a remark where it does not suit the task that it was made for."""

    @property
    def remark(self) -> str | None:
        """One sentence that a search tells; None where the policy suits the task."""
