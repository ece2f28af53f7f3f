"""What a method of distributed bandits is, and all of them by name: ours and its rivals."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol

from rolecast.core.errors import require_known
from rolecast.core.lazy_table import LazyTable
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_NUMBER, check, one_of, or_none
from rolecast.platform.optimizers.duets.domain import Domain
from rolecast.platform.optimizers.duets.kernel import KERNEL_FORMS, StationaryKernel
from rolecast.platform.search.bandit.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class BanditProblem:
    """What every method is told of a run."""

    domain: Domain
    agents: int
    """N."""

    rounds: int
    """T."""

    seed: int
    lengthscale: float
    """Lengthscale of the kernel, unless a setting says otherwise."""


class BanditMethod(Protocol):
    """Server and agents of one run, deterministic for a given seed."""

    def ask(self) -> Float:
        """Return the next queries [A, m, d], which depend on no value that is not told.

        Queries are counted in the order of m, then A; N of them are a round.
        """

    def tell(self, values: Float) -> None:
        """Add the values [A, m] of the last queries.

        Raises:
            RequestError: a value is not finite.
        """

    @property
    def ledger(self) -> Ledger:
        """What was sent so far."""

    @property
    def incumbent(self) -> Float:
        """Point [d] of greatest posterior mean, as the method sees it; told values are needed."""

    def records(self) -> list[dict[str, Any]]:
        """Return what happened at each exchange, as JSON values."""


@dataclass(frozen=True, kw_only=True)
class KernelSettings:
    """Settings of a method whose posterior has a stationary kernel."""

    noise_variance: float = 0.04
    """lambda, above 0."""

    kernel: str = "squared_exponential"
    """Form of the kernel."""

    lengthscale: float | None = None
    """Lengthscale, above 0; None: that of the function."""

    def __post_init__(self) -> None:
        rules = {
            "noise_variance": POSITIVE_NUMBER,
            "kernel": one_of(*KERNEL_FORMS),
            "lengthscale": or_none(POSITIVE_NUMBER),
        }
        check(type(self).__name__, vars(self), rules)

    def kernel_of(self, problem: BanditProblem) -> StationaryKernel:
        """Return the kernel."""
        return StationaryKernel(self.kernel, self.lengthscale or problem.lengthscale)


class BanditMethodConfig(Protocol):
    """Settings of one method: a frozen dataclass, checked when built."""

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return a fresh method."""


BANDIT_METHODS: Final[LazyTable[type[BanditMethodConfig]]] = LazyTable(
    {
        "duets": "rolecast.platform.search.bandit.duets:DuetsMethodConfig",
        "diskernelucb": "rolecast.baselines.bandits.ucb:DisKernelUcbConfig",
        "approxdiskernelucb": "rolecast.baselines.bandits.approximate:ApproxDisKernelUcbConfig",
        "asynckernelucb": "rolecast.baselines.bandits.asynchronous:AsyncKernelUcbConfig",
        "nkernelucb": "rolecast.baselines.bandits.ucb:NKernelUcbConfig",
        "centralised": "rolecast.baselines.bandits.ucb:CentralUcbConfig",
        "elimination": "rolecast.baselines.bandits.elimination:EliminationConfig",
    }
)
"""Config classes of methods."""


def method_config(name: str, settings: Mapping[str, Any]) -> BanditMethodConfig:
    """Build the config of a method.

    Raises:
        RequestError: unknown name or setting, with the nearest, or a value out of range.
    """
    require_known("method", [name], BANDIT_METHODS)
    config_class = BANDIT_METHODS[name]
    known = [field.name for field in fields(config_class)]  # type: ignore[arg-type]  # by contract
    require_known(f"setting of method {name!r}", settings, known)
    return config_class(**settings)
