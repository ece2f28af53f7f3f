"""The networks of FACMAC: a policy that all agents share, and the factored critic."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from rolecast.baselines.rllib.mixing import make_mixer
from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import mlp


class FactoredCritic(nn.Module):
    """One utility network that all agents share, and a mixer of the utilities.

    The mixer reads the state: the task's own, or what all agents observe, laid end to end.

    Source: FACMAC, Peng et al. (2021, section 4.1).
    """

    def __init__(
        self,
        agents: int,
        observation_size: int,
        action_size: int,
        hidden: Sequence[int],
        *,
        state_size: int,
        mixer: str,
        embedding: int,
        hypernet: int,
    ) -> None:
        """Draw the weights.

        Args:
            agents: n.
            observation_size: do.
            action_size: da.
            hidden: widths of the utility's hidden layers.
            state_size: S.
            mixer: one of `rolecast.baselines.rllib.mixing.MIXER_NETWORKS`.
            embedding: hidden units of the mixing network.
            hypernet: hidden units between the state and the mixing weights; 0 for a linear map.

        Raises:
            RequestError: no mixer has this name, or a size is out of its range.
        """
        super().__init__()
        self.utility = mlp(observation_size + action_size, hidden, 1)
        self.mixer = make_mixer(
            mixer,
            agents=agents,
            state_size=state_size,
            embedding=embedding,
            hypernet=hypernet,
        )

    def utilities(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return [B, n] of observations [B, n, do] and actions [B, n, da]."""
        values: Tensor = self.utility(torch.cat((observations, actions), dim=-1))
        return values.squeeze(-1)

    def forward(self, observations: Tensor, actions: Tensor, state: Tensor | None = None) -> Tensor:
        """Return values [B] of joint actions [B, n, da].

        Args:
            observations: [B, n, do].
            actions: [B, n, da].
            state: [B, S]; None for all observations, laid end to end.
        """
        state = observations.flatten(1) if state is None else state
        value: Tensor = self.mixer(self.utilities(observations, actions), state)
        return value


class FACMACModule(JointModule):
    """Shared policy, factored critic, and target copies of both."""

    def build_critics(self) -> nn.Module:
        """Return the critic."""
        return FactoredCritic(
            self.agents,
            self.observation_size,
            self.action_size,
            self.critic_hidden,
            state_size=self.state_size,
            mixer=self.settings["mixer"],
            embedding=self.settings["mixing_embedding"],
            hypernet=self.settings["mixing_hypernet"],
        )
