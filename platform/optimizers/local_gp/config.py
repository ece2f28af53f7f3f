"""Config class of `local_gp`, the local search without structure."""

from dataclasses import dataclass

from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.protocol import Optimizer, Proposal


@dataclass(frozen=True, kw_only=True)
class LocalGpConfig(LocalGpSettings):
    """Local Bayesian optimisation: a Gaussian process in a moving trust region, no structure."""

    def build(self, *, dimension: int, seed: int) -> Optimizer:
        """Return a fresh optimiser."""
        from rolecast.platform.optimizers.local_gp.search import LocalSearch
        from rolecast.platform.optimizers.local_gp.starts import SeveralStarts

        if self.starts is not None and self.starts > 1:
            return SeveralStarts(self, starts=self.starts, dimension=dimension, seed=seed)
        return LocalSearch(self, dimension=dimension, seed=seed)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose `batch_plan`; without one, many candidates of few episodes."""
        if self.batch_plan is not None:
            episodes, batch_size = self.batch_plan
            return Proposal(episodes=episodes, batch_size=batch_size)
        return default_batch_plan(budget_episodes)
