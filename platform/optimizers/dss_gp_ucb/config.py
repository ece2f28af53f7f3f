"""Settings of the local search, without structure (`local_gp`) and with it (`dss_gp_ucb`)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rolecast.envs.errors import ConfigError
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Optimizer, Proposal
from rolecast.platform.surrogate.levelling import check_levelling

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class LocalGpConfig:
    """A Gaussian process over a cloud around a moving centre; no structure.

    Differs: the paper searches the whole cube. In some 350 dimensions, with returns that are
    mostly noise, that finds nothing (docs/optimizers.md), so the process looks at a cloud of
    radius `radius` round a centre which climbs its posterior mean.
    """

    radius: float = 0.2
    """Root mean square distance of a candidate from the centre at first; the cube has side 1."""

    final_radius: float = 0.04
    """The same at the end of a schedule; it shrinks geometrically in between."""

    step: float = 0.3
    """Longest move of the centre in one batch, as a share of the radius."""

    averaged: float = 0.1
    """Share of all batches so far, the latest ones, whose centres are averaged into the incumbent:
    the centre itself walks at random about a summit."""

    window: int = 480
    """Latest evaluations that the process sees."""

    levelling: str = "signed_sqrt"
    """How returns are made comparable: "signed_sqrt", "rank" or "none"."""

    stderr_weight: float = 0.25
    """How far an evaluation's own standard error sets its noise: 0 all alike, 1 wholly. A standard
    error from 8 episodes is itself uncertain by a quarter, so it is trusted in part."""

    groups: tuple[int, ...] | None = None
    """Group of each dimension for the relevance; None: each its own. A search fills it with the
    policy's `input_groups`."""

    relevance_power: float = 0.5
    """How strongly relevance stretches the metric at first; 0 turns it off."""

    relevance_cloud: float = 0.5
    """How strongly relevance shapes the cloud, as a share of how it stretches the metric."""

    relevance_start: int = 300
    """Evaluations before relevance is trusted."""

    relevance_end: int = 3200
    """Evaluations at which it has faded out, linearly."""

    evaluations: int = 4000
    """Least length of the schedule. A larger budget stretches it; a smaller one narrows the cloud
    less far, for a cloud that narrows before the centre has climbed stands still."""

    def __post_init__(self) -> None:
        if not 0.0 < self.final_radius <= self.radius:
            raise ConfigError(
                f"{type(self).__name__}.final_radius", self.final_radius, "above 0, <= radius"
            )
        for name in ("radius", "step"):
            if not getattr(self, name) > 0.0:
                raise ConfigError(f"{type(self).__name__}.{name}", getattr(self, name), "above 0")
        for name in ("averaged", "relevance_power", "relevance_cloud", "stderr_weight"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ConfigError(f"{type(self).__name__}.{name}", getattr(self, name), "in [0, 1]")
        for name in ("window", "relevance_start", "relevance_end", "evaluations"):
            if not (isinstance(getattr(self, name), int) and getattr(self, name) >= 1):
                raise ConfigError(
                    f"{type(self).__name__}.{name}", getattr(self, name), "an integer >= 1"
                )
        check_levelling(self.levelling)

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""
        from rolecast.platform.optimizers.dss_gp_ucb.local_search import LocalSearch

        return LocalSearch(self, dimension=dimension, seed=seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose many candidates of few episodes."""
        return many_cheap(budget_episodes)

    def surrogate_cliques(self) -> "Sequence[Sequence[int]] | None":
        """Return the cliques of the surrogate's second term; None for none."""
        return None
