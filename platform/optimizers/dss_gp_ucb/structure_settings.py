"""Settings of structure, shared by the local search and the global search of the paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    POSITIVE_INTEGER,
    Rule,
    Rules,
    at_least,
    check,
    one_of,
    or_none,
)
from rolecast.platform.optimizers.structure.settings import FinderSettings

if TYPE_CHECKING:
    from rolecast.policies.protocol import Policy

STRUCTURE_SOURCES: Final = ("policy", "returns")
STRUCTURE_KINDS: Final = ("found", "none", "blocks", "random", "full")
DESIGN_STREAM: Final = 1
"""Random stream of the initial design, independent of the search's stream."""

STRUCTURE_RULES: Final[Rules] = {
    "structure": or_none(one_of(*STRUCTURE_KINDS)),
    "structure_source": or_none(one_of(*STRUCTURE_SOURCES)),
    "structure_score": one_of("rms", "signed"),
    "balance": BOOLEAN_VALUE,
    **dict.fromkeys(("edge_cap", "clique_cap"), POSITIVE_INTEGER),
    **dict.fromkeys(("clique_size", "structure_policies"), at_least(2)),
}
"""Allowed values of the settings; cliques are checked once the dimension is known."""

BLACK_BOX_RULES: Final[Rules] = {
    "structure": Rule(
        lambda value: value in (None, "found", "none"),
        "'found' or 'none' for a black box or tied weights",
    ),
    "structure_source": Rule(
        lambda value: value in (None, "returns"), "'returns' for a black box or tied weights"
    ),
}
"""Values that have an effect where there are no weights of a policy, or only orbits of them."""


@dataclass(frozen=True, kw_only=True)
class StructureSettings:
    """Cliques of the surrogate: given by the user, or found before or during the search."""

    structure: str | None = None
    """Structure of the kernel: "found" by Hessians or returns, or "none". Controls, for policies
    alone: "blocks" (one clique per net), "random" (a random graph with as many edges), "full" (one
    clique). None: "none" for a policy's weights in the local search, where cliques gain nothing;
    else "found"."""

    cliques: tuple[tuple[int, ...], ...] | None = None
    """Cliques given by the user, as tuples of dimensions from 0. None: found by `structure`. For a
    black box, evidence can then also choose the sum over all pairs of dimensions. Beside given
    cliques the other settings of structure must have their defaults. `configuration=local` has no
    term for a clique of one dimension: its common term covers all of them."""

    structure_source: str | None = None
    """Source of "found" cliques: "policy", its Hessians before the search; or "returns", a test of
    pairs during the search. That test runs at 100 evaluations, and whenever these have grown by
    half. None: "policy" for a policy with `relaxed_act`, "returns" for any other. A black box has
    "returns" alone."""

    structure_score: str = "rms"
    """Average over Hessians: root mean square "rms", or the paper's "signed" mean (Algorithm 4)."""

    balance: bool = False
    """Normalisation of edge scores by the mean scores of both dimensions. It leaves fewer
    dimensions without an edge under `edge_cap`."""

    edge_cap: int = 1500
    """Maximum number of edges, strongest first, at least 1; 1,500 is the paper's limit."""

    clique_cap: int = 128
    """Maximum number of maximal cliques, largest first, at least 1."""

    clique_size: int = 16
    """Maximum dimensions of a clique, at least 2; larger cliques are cut into even parts."""

    structure_policies: int = 16
    """Number of policies T0 whose Hessians are averaged, at least 2. They are the first evaluations
    of the search."""

    def __post_init__(self) -> None:
        check(type(self).__name__, vars(self), STRUCTURE_RULES)
        for name, default in _settings_of_the_search_for_cliques().items():
            if self.cliques is not None and getattr(self, name) != default:
                expected = f"{default!r} where cliques are given, for none are then looked for"
                field = f"{type(self).__name__}.{name}"
                raise ConfigError(field, getattr(self, name), expected)

    @property
    def structure_used(self) -> str:
        """Structure of the kernel, where it is left open too."""
        return self.structure or "found"

    def finder_for(self, outcome_transform: str | None) -> FinderSettings | None:
        """Return the settings of the structure finder in returns; None: off."""
        wanted = self.structure_used == "found" and self.structure_source != "policy"
        if self.cliques is not None or not wanted:
            return None
        return FinderSettings(
            edge_cap=self.edge_cap,
            clique_cap=self.clique_cap,
            clique_size=self.clique_size,
            outcome_transform=outcome_transform,
        )

    def initial_design(self, *, dimension: int, seed: int) -> Float | None:
        """Return the initial design [T0, D] for the Hessians; None where no Hessian is needed."""
        if self.structure_used == "none" or self.cliques is not None:
            return None
        if self.structure_used == "found" and self.structure_source == "returns":
            return None
        rng = np.random.default_rng((seed, DESIGN_STREAM))
        return self.drawn_design(rng, (self.structure_policies, dimension))

    def drawn_design(self, rng: np.random.Generator, shape: tuple[int, int]) -> Float:
        """Return points [T0, D], uniform in the cube (Algorithm 4, step 1)."""
        return rng.random(shape)

    def find_structure(
        self, policy: "Policy", candidates: Float, observations: Float
    ) -> dict[str, Any] | None:
        """Return edges and cliques by `structure`, as JSON values.

        Args:
            policy: the policy that is searched.
            candidates: [T0, D], from `initial_design`.
            observations: [S, n, do], states met by these candidates.
        Returns:
            The structure; None for a policy without `relaxed_act`: cliques then come from returns.
        Raises:
            ConfigError: `structure_source` is "policy", and the policy has no `relaxed_act`.
        """
        if self.structure_used == "found" and not hasattr(policy, "relaxed_act"):
            if self.structure_source == "policy":
                field = f"{type(self).__name__}.structure_source"
                raise ConfigError(field, "policy", "returns, for this policy has no relaxed_act")
            return None
        from rolecast.platform.optimizers.structure.discovery import discover

        return discover(self, policy, candidates, observations)

    def with_structure(self, structure: Mapping[str, Any]) -> Self:
        """Return these settings with the cliques of a structure, and defaults of how to find it."""
        cliques = tuple(tuple(clique) for clique in structure["cliques"])
        return replace(self, **_settings_of_the_search_for_cliques(), cliques=cliques)

    def require_black_box(self) -> None:
        """Refuse structures that only a policy has.

        Raises:
            ConfigError: cliques are neither given nor to be found in returns, nor left out.
        """
        owner, found = type(self).__name__, {name: getattr(self, name) for name in BLACK_BOX_RULES}
        if self.cliques is None:
            check(owner, found, BLACK_BOX_RULES)

    def checked_cliques(self, dimension: int) -> Sequence[Sequence[int]] | None:
        """Return the given cliques, with single dimensions for all others; None if not given.

        Raises:
            ConfigError: a clique is empty, repeats a dimension or names one outside 0 to D - 1.
        """
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


def _settings_of_the_search_for_cliques() -> dict[str, Any]:
    """Return the defaults by name of what given cliques leave without effect."""
    return {
        field.name: field.default for field in fields(StructureSettings) if field.name != "cliques"
    }
