"""ISAC, independent soft actor-critic: twin critics that see their own agent alone."""

from typing import cast

import torch
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


class ISACLearner(MASACLearner):
    """SAC of each agent by itself, whose policy and temperature all agents share.

    Source: Haarnoja et al. (2018, algorithm 1), with the view of independent DDPG, the yardstick of
    Lowe et al. (2017).
    """

    @torch.no_grad()
    def td_target(self, batch: Tensors) -> Tensor:
        """Return the soft targets [N, n] of both critics of each agent."""
        net, next_obs = self.net, batch["next_observations"]
        next_actions, next_log_prob = self.sample_actions(next_obs)
        next_state = net.state_of(batch, "next_")
        critics = cast(TwinAgentCritics, net.targets["critic"])
        next_values = critics.smaller(next_obs, next_actions, next_state)
        # Equation 3 for each agent: V(o') = Q(o', a') - alpha log pi(a' | o').
        return self.agent_targets(batch, next_values - net.log_alpha.exp() * next_log_prob)

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return half the sum over agents and both sets of each critic's mean squared TD error."""
        net, target = self.net, self.td_target(batch)
        values = net.critic(batch["observations"], batch["actions"], net.state_of(batch))
        squares: Tensor = sum((each - target).square() for each in values)
        return 0.5 * squares.mean(dim=0).sum()

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return alpha times the mean log-density, minus the mean of the smaller value."""
        net, obs = self.net, batch["observations"]
        actions, log_prob = self.sample_actions(obs)
        self._log_prob = log_prob.detach()
        critics = cast(TwinAgentCritics, net.critic)
        # Equations 7 and 9 for each agent, whose value depends on its own action alone.
        values = critics.smaller(obs, actions, net.state_of(batch))
        loss: Tensor = (net.log_alpha.detach().exp() * log_prob - values).mean()
        return loss

    @property
    def target_entropy(self) -> float:
        """Target of each agent's entropy in nats; by default minus the size of its action."""
        given = self.config.target_entropy
        return -float(self.net.action_size) if given is None else float(given)

    def sample_actions(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions [N, n, da] of the policy and the log-density [N, n] of each."""
        shape = (*obs.shape[:-1], self.net.action_size)
        return self.net.actor.sample(obs, self.noise(obs.new_empty(shape)))
