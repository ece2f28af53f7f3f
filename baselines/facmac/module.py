"""The networks of FACMAC: a policy that all agents share, and the factored critic."""

import torch
from torch import Tensor, nn

from rolecast.baselines.rllib.mixing import mixer_of
from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import mlp


class FactoredCritic(nn.Module):
    """One utility network that all agents share, and a mixer of the utilities.

    The mixer reads the state: the task's own, or what all agents observe, laid end to end.

    Source: FACMAC, Peng et al. (2021, section 4.1).
    """

    def __init__(self, utility: nn.Module, mixer: nn.Module) -> None:
        """Join them.

        Args:
            utility: from observation and action [..., do + da] to [..., 1].
            mixer: from utilities [B, n] and states [B, S] to values [B].
        """
        super().__init__()
        self.utility, self.mixer = utility, mixer

    def utilities(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return [B, n] of observations [B, n, do] and actions [B, n, da]."""
        values: Tensor = self.utility(torch.cat((observations, actions), dim=-1))
        return values.squeeze(-1)

    def forward(self, observations: Tensor, actions: Tensor, state: Tensor) -> Tensor:
        """Return values [B] of joint actions [B, n, da].

        Args:
            observations: [B, n, do].
            actions: [B, n, da].
            state: [B, S].
        """
        value: Tensor = self.mixer(self.utilities(observations, actions), state)
        return value


class FACMACModule(JointModule):
    """Shared policy, factored critic, and target copies of both."""

    def build_critics(self) -> nn.Module:
        """Return the critic."""
        utility = mlp(self.observation_size + self.action_size, self.critic_hidden, 1)
        return FactoredCritic(utility, mixer_of(self))
