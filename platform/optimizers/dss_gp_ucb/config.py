"""Settings of DSS-GP-UCB: what structure, found how, and whether the search is local or literal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import COUNT, FLAG, Rules, at_least, check, one_of, or_none
from rolecast.platform.optimizers.batch_plan import many_cheap
from rolecast.platform.optimizers.gp_ucb import GLOBAL_RULES
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.protocol import Optimizer, Proposal
from rolecast.platform.optimizers.structure.settings import FinderSettings

if TYPE_CHECKING:
    from rolecast.policies.protocol import Policy

CONFIGURATIONS: Final = ("local", "paper")
DESIGN: Final = 1
"""Keeps the draws of the initial design apart from those of the search."""

SOURCES: Final = ("policy", "returns")
STRUCTURES: Final = ("found", "none", "blocks", "random", "full")


STRUCTURE_RULES: Final[Rules] = {
    **GLOBAL_RULES,
    "configuration": one_of(*CONFIGURATIONS),
    "structure": one_of(*STRUCTURES),
    "structure_source": or_none(one_of(*SOURCES)),
    "structure_score": one_of("rms", "signed"),
    "balance": FLAG,
    **dict.fromkeys(("edge_cap", "clique_cap"), COUNT),
    **dict.fromkeys(("clique_size", "structure_policies"), at_least(2)),
}
"""What the settings may be that `local_gp` has not; those of cliques depend on the dimension."""


@dataclass(frozen=True, kw_only=True)
class DssGpUcbConfig(LocalGpConfig):
    """DSS-GP-UCB: structured Bayesian optimisation; local by default, literal on request."""

    configuration: str = "local"
    """"local": structure inside the local search; "paper": algorithm 4 as printed, global UCB."""

    structure: str = "found"
    """Which cliques: "found" by the policy's Hessian, "none", "blocks" (one a net), "random" (a
    random graph of as many edges), "full" (one clique)."""

    cliques: tuple[tuple[int, ...], ...] | None = None
    """Dimensions of each clique, given by the user; None: a search finds them as `structure` says.
    A black box may then be a sum over all pairs of its dimensions too, by evidence."""

    structure_source: str | None = None
    """Where "found" cliques come from: Hessians of the "policy", before the search, or "returns"
    alone, looked at again whenever there are half as many evaluations more. None: "policy" where
    there is one that can be differentiated, "returns" for any other and for a black box."""

    structure_score: str = "rms"
    """How Hessians are averaged: "rms", or the paper's "signed"."""

    balance: bool = False
    """Divide scores by what their dimensions reach, so that the cap leaves fewer alone."""

    edge_cap: int = 1500
    """Most edges, strongest first (the paper's limit)."""

    clique_cap: int = 128
    """Most maximal cliques, largest first."""

    clique_size: int = 16
    """Larger cliques are cut."""

    structure_policies: int = 16
    """T0, policies whose Hessians are averaged; they are the first evaluations of the search."""

    max_points: int = 256
    """Most evaluations in the process; configuration "paper"."""

    pool: int = 512
    """Sobol points among which a batch is chosen; configuration "paper"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        check(owner, vars(self), STRUCTURE_RULES)
        if self.configuration == "paper" and self.device != "cpu":
            field = f"{owner}.device"
            raise ConfigError(field, self.device, "cpu, where configuration is paper: it is small")

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser.

        Raises:
            ConfigError: a clique is empty, repeats a dimension or names one that is not there.
        """
        cliques = self._checked_cliques(dimension)
        if self.configuration == "local":
            return super().build(dimension=dimension, seed=seed)
        from rolecast.platform.optimizers.dss_gp_ucb.paper_search import GlobalSearch

        return GlobalSearch(
            self, dimension=dimension, seed=seed, cliques=cliques, finder=self.finder_settings()
        )

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose the paper's batches of 15 for the literal search, many cheap ones else."""
        if self.configuration == "paper":
            return many_cheap(budget_episodes, episodes=32, batch_size=15)
        return many_cheap(budget_episodes)

    def surrogate_cliques(self) -> Sequence[Sequence[int]] | None:
        """Return the cliques of the surrogate's second term; None for none."""
        return self.cliques

    def finder_settings(self) -> FinderSettings | None:
        """Return how cliques are looked for in the evaluations; None: they are not."""
        looks = self.structure == "found" and self.structure_source != "policy"
        if self.cliques is not None or not looks:
            return None
        return FinderSettings(
            edge_cap=self.edge_cap,
            clique_cap=self.clique_cap,
            clique_size=self.clique_size,
            levelling=self.levelling,
        )

    def initial_design(self, *, dimension: int, seed: int) -> Float | None:
        """Return the T0 policies [T0, D] from which structure is found; None where it is not.

        They are drawn as the search itself begins: from the first cloud, or uniformly.
        """
        if self.structure == "none" or self.cliques is not None:
            return None
        if self.structure == "found" and self.structure_source == "returns":
            return None
        rng = np.random.default_rng((seed, DESIGN))
        shape = (self.structure_policies, dimension)
        if self.configuration == "paper":
            return rng.random(shape)
        cloud = self.reach(dimension).radius / np.sqrt(dimension) * rng.standard_normal(shape)
        return np.asarray(np.clip(0.5 + cloud, 0.0, 1.0))

    def find_structure(
        self, policy: "Policy", candidates: Float, observations: Float
    ) -> dict[str, Any] | None:
        """Find edges and cliques as `structure` says, as JSON values.

        None where they are to be found by the policy's Hessian and it has none, no `relaxed_act`:
        then the search finds them in its returns.

        Args:
            policy: whose parameters are searched.
            candidates: [T0, D], from `initial_design`.
            observations: [S, n, do], states that they met.
        Raises:
            ConfigError: `structure_source` is "policy", and this one cannot be differentiated.
        """
        if self.structure == "found" and not hasattr(policy, "relaxed_act"):
            if self.structure_source == "policy":
                field = f"{type(self).__name__}.structure_source"
                raise ConfigError(field, "policy", "returns, for this policy has no relaxed_act")
            return None
        from rolecast.platform.optimizers.structure.discovery import discover

        return discover(self, policy, candidates, observations)

    def with_structure(self, structure: Mapping[str, Any]) -> "DssGpUcbConfig":
        """Return these settings with the cliques that were found."""
        return replace(self, cliques=tuple(tuple(clique) for clique in structure["cliques"]))

    def _checked_cliques(self, dimension: int) -> Sequence[Sequence[int]] | None:
        if self.cliques is None:
            return None
        field = f"{type(self).__name__}.cliques"
        if not isinstance(self.cliques, tuple | list) or not self.cliques:
            raise ConfigError(field, self.cliques, "at least one clique, or none at all")
        for clique in self.cliques:
            if not isinstance(clique, tuple | list) or not all(type(one) is int for one in clique):
                raise ConfigError(field, clique, "cliques that are tuples of integers")
            if not clique or len(set(clique)) != len(clique):
                raise ConfigError(field, clique, "cliques of at least one dimension, each once")
            if min(clique) < 0 or max(clique) >= dimension:
                raise ConfigError(field, clique, f"dimensions from 0 to {dimension - 1}")
        alone = set(range(dimension)) - {member for clique in self.cliques for member in clique}
        return (*self.cliques, *((member,) for member in sorted(alone)))
