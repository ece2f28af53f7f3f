"""ISAC, independent soft actor-critic: twin critics that see their own agent alone."""

from collections.abc import Mapping

from torch import Tensor, nn

from rolecast.baselines.maddpg.module import AgentCritics
from rolecast.baselines.masac.learner import MASACLearner
from rolecast.baselines.matd3.module import TwinAgentCritics
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.sac.module import SACModule


class ISACModule(SACModule):
    """Stochastic policy of all agents, two critics for each, and the temperature alpha."""

    def build_critics(self) -> nn.Module:  # type: ignore[override]
        """Return both sets of critics; each sees the observation and action of its agent."""
        first, second = (
            AgentCritics(
                self.agents,
                self.observation_size,
                self.action_size,
                self.critic_hidden,
                state_size=0,
                sees="own",
            )
            for _ in range(2)
        )
        return TwinAgentCritics(first, second)

    def state_of(self, batch: Mapping[str, Tensor], prefix: str = "") -> Tensor:
        """Return what the critics read: the observation of each agent [N, n, do]."""
        return batch[f"{prefix}observations"]


class ISACLearner(MASACLearner):
    """SAC of each agent by itself, whose policy and temperature all agents share.

    Values, targets and log-densities are [N, n], one of each agent.

    Source: Haarnoja et al. (2018, algorithm 1), with the view of independent DDPG, the yardstick of
    Lowe et al. (2017).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return half the sum over agents and both sets of each critic's mean squared TD error."""
        target = self.td_target(batch)
        values = self.net.critic(self.net.state_of(batch), batch["actions"])
        squares: Tensor = sum((each - target).square() for each in values)
        return 0.5 * squares.mean(dim=0).sum()

    @property
    def target_entropy(self) -> float:
        """Target of each agent's entropy in nats; by default minus the size of its action.

        Of agents that act with different sizes it is the mean: they have one temperature, whose
        loss is the mean over agents.
        """
        given = self.config.target_entropy
        return -sum(self.net.own_sizes) / self.net.agents if given is None else float(given)

    def sample_actions(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions [N, n, da] of the policy and the log-density [N, n] of each."""
        return self.sample_each(obs)
