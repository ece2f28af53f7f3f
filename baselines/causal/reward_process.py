"""GP-UCB on interventions: one process from actions to the reward, which sees no other node."""

from dataclasses import dataclass

from rolecast.core.errors import RequestError
from rolecast.envs.causal.graph import CausalGraph, CausalNode, NodeNoise
from rolecast.platform.optimizers.mcbo.config import (
    McboConfig,
    OptimisticProposer,
    RewardNoiseConfig,
)
from rolecast.platform.optimizers.mcbo.search import CausalSearch


@dataclass(frozen=True, kw_only=True)
class CausalGpUcbConfig(McboConfig, RewardNoiseConfig):
    """GP-UCB on the actions of a causal graph, with the known noise of its reward.

    Differs: the authors' rival has mean + sqrt(beta) s and a noise variance of 1e-6 on noisy tasks
    too; here it is mean + beta s, as MCBO's, and the noise is the true one, so that it is not weak.
    """

    @property
    def observed_metrics(self) -> tuple[str, ...]:
        """No metric beside the return."""
        return ()

    def build(self, *, dimension: int, seed: int) -> CausalSearch:
        """Return a fresh search.

        Raises:
            RequestError: the graph has hard interventions or a choice of sets.
        """
        whole = self.resolved_graph(dimension)
        if whole.do or whole.limit is not None or whole.sets is not None:
            raise RequestError("gp_ucb has no sets of interventions; expected soft ones alone")
        noise = whole.reward.noise
        if self.reward_noise is not None:
            exact = self.reward_noise == 0.0
            noise = NodeNoise() if exact else NodeNoise(kind="normal", scale=self.reward_noise)
        names = tuple(each.name for each in whole.actions)
        node = CausalNode(name=whole.reward.name, actions=names, noise=noise)
        graph = CausalGraph(nodes=(node,), actions=whole.actions)
        return self.search_of(graph, OptimisticProposer(self), dimension=dimension, seed=seed)
