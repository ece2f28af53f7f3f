"""The networks of MATD3: a policy that all agents share, and two critics for each."""

import torch
from torch import Tensor, nn

from rolecast.baselines.maddpg.module import AgentCritics, MADDPGModule


class TwinAgentCritics(nn.Module):
    """Two independent sets of n critics, one of each set for an agent.

    Source: MATD3, Ackermann et al. (2019, section 4).
    """

    def __init__(self, critics: AgentCritics, second: AgentCritics) -> None:
        super().__init__()
        self.first, self.second = critics, second

    def forward(
        self, observations: Tensor, actions: Tensor, state: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return both values [B, n] of joint actions that were taken; see `AgentCritics`."""
        return (
            self.first(observations, actions, state),
            self.second(observations, actions, state),
        )

    def smaller(self, observations: Tensor, actions: Tensor, state: Tensor) -> Tensor:
        """Return the smaller of both values [B, n]."""
        return torch.minimum(*self.forward(observations, actions, state))

    def values_of_policy_actions(
        self, observations: Tensor, actions: Tensor, policy_actions: Tensor, state: Tensor
    ) -> Tensor:
        """Return the first set's values [B, n] of each agent's policy action."""
        return self.first.values_of_policy_actions(observations, actions, policy_actions, state)


class MATD3Module(MADDPGModule):
    """Shared policy, two critics an agent, and target copies of all."""

    def build_critics(self) -> nn.Module:
        """Return both sets of critics."""
        first, second = super().build_critics(), super().build_critics()
        assert isinstance(first, AgentCritics)
        assert isinstance(second, AgentCritics)
        return TwinAgentCritics(first, second)
