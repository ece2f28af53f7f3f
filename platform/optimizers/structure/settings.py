"""Settings of structure discovery, before a search and during it."""

from dataclasses import dataclass
from typing import Protocol


class DiscoverySettings(Protocol):
    """Settings of structure found before a search; the fields of `DssGpUcbConfig` document them."""

    @property
    def structure_used(self) -> str:
        """Name of the structure: "found", "blocks", "random" or "full"."""

    @property
    def structure_score(self) -> str:
        """Average over Hessians: "rms" or "signed"."""

    @property
    def balance(self) -> bool:
        """Whether scores are divided by the mean scores of their dimensions."""

    @property
    def edge_cap(self) -> int:
        """Maximum number of edges."""

    @property
    def clique_cap(self) -> int:
        """Maximum number of maximal cliques."""

    @property
    def clique_size(self) -> int:
        """Maximum number of dimensions in one clique."""


@dataclass(frozen=True, kw_only=True)
class FinderSettings:
    """Settings of structure found in evaluations during a search."""

    edge_cap: int
    """Maximum number of edges, strongest first."""

    clique_cap: int
    """Maximum number of maximal cliques, largest first."""

    clique_size: int
    """Maximum number of dimensions in one clique; larger ones are cut."""

    outcome_transform: str | None
    """Transform of the returns: "signed_sqrt", "rank", "none" or "automatic"; None is "none"."""
