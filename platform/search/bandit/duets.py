"""DUETS as a method of a bandit run: all parties in one process, messages counted."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import OPEN_FRACTION, POSITIVE_INTEGER, POSITIVE_NUMBER, check, one_of
from rolecast.platform.optimizers.duets.agent import require_values
from rolecast.platform.optimizers.duets.config import MOST_DIMENSIONS
from rolecast.platform.optimizers.duets.domain import Domain
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.local_parties import LocalParties
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.duets.server import EpochRecord
from rolecast.platform.search.bandit.ledger import Ledger
from rolecast.platform.search.bandit.method import BanditProblem, KernelSettings

PRESET_SETTINGS: Final[Mapping[str, Sequence[str]]] = {
    "paper": ("beta", "inducing_factor"),
    "theory": ("norm_bound", "noise_bound", "failure_probability"),
}
"""Settings that one preset alone uses."""

LARGEST_RATIO: Final = 3.0
"""Largest ratio of a variance of inducing points to the exact one, by Lemma A.3."""


@dataclass(frozen=True, kw_only=True)
class DuetsMethodConfig(KernelSettings):
    """Distributed uniform exploration of trimmed sets (Pavlovic, Salgia and Zhao, 2024)."""

    preset: str = "paper"
    """"paper": beta and p_0 as below, the constants of the experiments. "theory": beta and p_0 of
    Theorem 4.1, from norm_bound, noise_bound and failure_probability."""

    first_epoch: int = 2
    """T_1, at least 1 and at most T."""

    beta: float = 1.0
    """Width of the confidence band in deviations, above 0; of preset "paper"."""

    inducing_factor: float = 10.0
    """p_0, above 0; of preset "paper". A `noise_variance` below 0.01 needs a greater one."""

    norm_bound: float = 1.0
    """B, bound on the function's norm, above 0; of preset "theory"."""

    noise_bound: float = 0.2
    """R, the noise is R-sub-Gaussian, above 0; of preset "theory"."""

    failure_probability: float = 0.05
    """delta, in (0, 1]; of preset "theory"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = {
            "preset": one_of("paper", "theory"),
            "first_epoch": POSITIVE_INTEGER,
            **dict.fromkeys(
                ("beta", "inducing_factor", "norm_bound", "noise_bound"), POSITIVE_NUMBER
            ),
            "failure_probability": OPEN_FRACTION,
        }
        check(type(self).__name__, vars(self), rules)

    def protocol(self, problem: BanditProblem) -> DuetsProtocol:
        """Return what all parties know.

        Raises:
            ConfigError: there are fewer rounds than the first epoch has, or too many dimensions.
        """
        require_few_dimensions("duets", problem)
        found = DuetsProtocol(
            domain=problem.domain,
            kernel=self.kernel_of(problem),
            agents=problem.agents,
            rounds=problem.rounds,
            seed=problem.seed,
            first_epoch=self.first_epoch,
            beta=self.beta,
            inducing_factor=self.inducing_factor,
            noise_variance=self.noise_variance,
        )
        if self.preset == "paper":
            return found
        beta, factor = self.theory(found)
        return replace(found, beta=beta, inducing_factor=factor)

    def theory(self, protocol: DuetsProtocol) -> tuple[float, float]:
        """Return beta(delta') and p_0 of Theorem 4.1.

        beta = B + R sqrt(2 / lambda log(2 / delta')), p_0 = 72 log(4 N T / delta'), and
        delta' = delta / (2 |U_T| (log log(N T) + 4)).

        Differs: the paper has three forms of log log and two of p_0; these are those of its proof.
        |U_T| is the size of a grid whose cells the kernel's modulus of continuity allows.
        """
        total = protocol.agents * protocol.rounds
        epochs = math.log(max(math.log(max(total, 3)), 1.0)) + 4.0
        inverse = math.log(2.0 / self.failure_probability) + math.log(epochs)
        inverse += log_cover(protocol.domain, protocol.kernel, 1.0 / protocol.rounds)
        spread = math.sqrt(2.0 / self.noise_variance * (math.log(2.0) + inverse))
        beta = self.norm_bound + self.noise_bound * spread
        return beta, 72.0 * (math.log(4.0 * total) + inverse)

    def build(self, problem: BanditProblem) -> "DuetsMethod":
        """Return server and agents."""
        return DuetsMethod(self.protocol(problem))


def require_settings_of_preset(settings: Mapping[str, Any]) -> None:
    """Refuse given settings of "duets" that the preset does not use.

    Raises:
        ConfigError: names the first.
    """
    chosen = settings.get("preset", DuetsMethodConfig.preset)
    for preset, names in PRESET_SETTINGS.items():
        for name in names:
            if name in settings and preset != chosen:
                expected = f"none given: preset {chosen!r} does not use it, preset {preset!r} does"
                raise ConfigError(f"DuetsMethodConfig.{name}", settings[name], expected)


def coarseness(records: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on inducing points that describe a posterior badly; empty without such."""
    coarse = [each for each in records if each.get("variance_ratio", 0.0) > LARGEST_RATIO]
    if not coarse:
        return ""
    worst = max(coarse, key=lambda each: float(each["variance_ratio"]))
    return (
        f"the {worst['inducing']} inducing points of epoch {worst['epoch']} leave "
        f"{worst['variance_ratio']:.3g} times the largest variance, and the maximum may have been "
        "trimmed away; expected at most 3 times: a greater inducing_factor or noise_variance"
    )


def require_few_dimensions(method: str, problem: BanditProblem) -> None:
    """Refuse domains of more than ten dimensions for a method that samples a region uniformly.

    Raises:
        ConfigError: there are more.
    """
    dimension = problem.domain.dimension
    if dimension > MOST_DIMENSIONS:
        expected = (
            f"at most {MOST_DIMENSIONS}, for method {method!r} samples a whole region uniformly; "
            "nkernelucb and other methods take more"
        )
        raise ConfigError("number of inputs", dimension, expected)


def log_cover(domain: Domain, kernel: StationaryKernel, accuracy: float) -> float:
    """Return log |U|: a grid on which a function of the kernel's space is known to `accuracy`."""
    low, high = domain.bounds
    half = kernel.cover_radius(accuracy) / math.sqrt(domain.dimension)
    return float(np.log(np.ceil((high - low) / (2.0 * half))).sum())


class DuetsMethod:
    """Server and all agents in one process."""

    def __init__(self, protocol: DuetsProtocol) -> None:
        self.protocol = protocol
        self._parties = LocalParties(protocol)
        self.server = self._parties.server

    def ask(self) -> Float:
        """Return the points of an epoch, [N, T_j, d]."""
        return self._parties.agents.draw()

    def tell(self, values: Float) -> None:
        """Exchange and trim; the last epoch ends without.

        Raises:
            RequestError: a value is not finite.
        """
        agents = self._parties.agents
        require_values(agents.agents, values, agents.draw().shape[:2])
        if self.server.epoch < len(self.protocol.epochs):
            self._parties.exchange(values)

    @property
    def ledger(self) -> Ledger:
        """What was sent so far, message by message."""
        return ledger_of(self.exchanges())

    @property
    def incumbent(self) -> Float:
        """Maximiser of the last sparse mean; the domain's middle before the first exchange."""
        tests = self.server.region.tests
        return tests[-1].maximiser if tests else middle_of(self.protocol.domain)

    def records(self) -> list[dict[str, Any]]:
        """Return the epochs that ended with an exchange."""
        return [asdict(record) for record in self.exchanges()]

    def exchanges(self) -> Sequence[EpochRecord]:
        """Return the records of the epochs that ended with an exchange."""
        return self.server.records


def ledger_of(records: Sequence[EpochRecord]) -> Ledger:
    """Return what was sent in these epochs."""
    return Ledger(
        uplink=sum(record.uplink for record in records),
        downlink=sum(record.downlink for record in records),
    )


def middle_of(domain: Domain) -> Float:
    """Return the middle [d] of a domain's bounding box."""
    low, high = domain.bounds
    return np.asarray((low + high) / 2.0)
