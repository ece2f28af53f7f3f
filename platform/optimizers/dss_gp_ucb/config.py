"""Settings of DSS-GP-UCB: the local search with structure, and global searches."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import check, one_of, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.dss_gp_ucb.global_settings import GlobalSettings
from rolecast.platform.optimizers.dss_gp_ucb.structure_settings import StructureSettings
from rolecast.platform.optimizers.gp_ucb import require_sobol_points
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.protocol import Optimizer, Proposal
from rolecast.platform.optimizers.structure.settings import FinderSettings

GIVEN_GRAPH_SETTINGS: Final = frozenset(
    {
        "configuration",
        "outcome_transform",
        "evaluations",
        "batch_plan",
        *(field.name for field in fields(StructureSettings)),
    }
)
"""Settings that a search of a black box with given cliques accepts."""


@dataclass(frozen=True, kw_only=True)
class DssGpUcbConfig(StructureSettings, LocalGpConfig):
    """DSS-GP-UCB: structured Bayesian optimisation, local or global."""

    configuration: str | None = None
    """Search method: "local", the local search with structure; "paper", the paper's global search
    (Algorithm 4) with our caps. "paper" has the settings `beta`, `outcome_transform`, those of
    structure, `max_points` and `pool`. None: for a black box with given `cliques`, global Thompson
    sampling clique by clique; else "local". That sampling has the settings `cliques` and
    `outcome_transform`."""

    def __post_init__(self) -> None:
        StructureSettings.__post_init__(self)
        LocalGpConfig.__post_init__(self)
        check(type(self).__name__, vars(self), {"configuration": or_none(one_of("local"))})

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser.

        Raises:
            ConfigError: a clique is empty, repeats a dimension or names one that is not there; or a
                setting of the local search is given beside the cliques of a black box, or a
                structure that only policies have, or cliques without an effect.
        """
        if self.groups is None:
            self.require_black_box()
        cliques = self.checked_cliques(dimension)
        if self.groups is None and self.configuration == "local" and cliques is not None:
            self._require_interaction(cliques)
        if cliques is None or self.groups is not None or self.configuration is not None:
            return super().build(dimension=dimension, seed=seed)
        from rolecast.platform.optimizers.dss_gp_ucb.clique_search import CliqueSearch

        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in GIVEN_GRAPH_SETTINGS and value != field.default:
                expected = "configuration local where the cliques of a black box are given"
                raise ConfigError(f"{type(self).__name__}.{field.name}", value, expected)
        require_sobol_points(dimension)
        return CliqueSearch(
            dimension=dimension,
            seed=seed,
            cliques=cliques,
            outcome_transform=self.outcome_transform,
        )

    def _require_interaction(self, cliques: Sequence[Sequence[int]]) -> None:
        """Refuse cliques of one dimension each, which the common term of a local search covers."""
        if all(len(clique) == 1 for clique in cliques):
            field = f"{type(self).__name__}.cliques"
            expected = "one of two or more dimensions with configuration local"
            raise ConfigError(field, self.cliques, expected)

    @property
    def structure_used(self) -> str:
        """Structure of the kernel: none for a policy unless it, or its source, is named."""
        of_a_policy = self.groups is not None
        if of_a_policy and self.structure is None and self.structure_source is None:
            return "none"
        return super().structure_used

    def surrogate_cliques(self) -> Sequence[Sequence[int]] | None:
        """Return the cliques of the surrogate's second term; None for none."""
        return self.cliques

    def finder_settings(self) -> FinderSettings | None:
        """Return the settings of the structure finder in returns; None: off."""
        return self.finder_for(self.outcome_transform)

    def drawn_design(self, rng: np.random.Generator, shape: tuple[int, int]) -> Float:
        """Return the initial design [T0, D], drawn from the first cloud."""
        cloud = (
            self.search_defaults(shape[1]).radius / np.sqrt(shape[1]) * rng.standard_normal(shape)
        )
        return np.asarray(np.clip(0.5 + cloud, 0.0, 1.0))


@dataclass(frozen=True, kw_only=True)
class PaperDssGpUcbConfig(GlobalSettings, StructureSettings):
    """The paper's global search, Algorithm 4, with our caps: global UCB, batches of 15.

    Differs: the strongest edges up to a cap instead of a threshold on the sum of Hessians; edge
    scores are root mean squares unless `structure_score` is "signed"; cliques are capped in number
    and size, evaluations by `max_points`. A policy keeps its own centre (docs/policies.md), unless
    its parameterisation is set.
    """

    configuration: str = "paper"
    """Search method, "paper"; `DssGpUcbConfig` has the others."""

    beta: float = 0.2
    """Exploration factor of the upper confidence bound, above 0: beta_t = beta d log(2 t). Here t
    counts evaluations and d is the size of the largest clique, or 1."""

    max_points: int = 256
    """Maximum evaluations in the Gaussian process, at least 4. Half are those of highest posterior
    mean, half the latest."""

    pool: int = 512
    """Number of Sobol points from which a batch is chosen, a power of 2. A quarter as many near
    the incumbent are added."""

    def __post_init__(self) -> None:
        StructureSettings.__post_init__(self)
        GlobalSettings.__post_init__(self)
        check(type(self).__name__, vars(self), {"configuration": one_of("paper")})

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser.

        Raises:
            ConfigError: a clique is empty, repeats a dimension or names one that is not there.
        """
        from rolecast.platform.optimizers.dss_gp_ucb.paper_search import GlobalSearch

        require_sobol_points(dimension)
        return GlobalSearch(
            self,
            dimension=dimension,
            seed=seed,
            cliques=self.checked_cliques(dimension),
            finder=self.finder_for(self.outcome_transform),
        )

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose the paper's batches of 15 candidates (section 5)."""
        return default_batch_plan(budget_episodes, episodes=32, batch_size=15)
