"""The networks of MADDPG: a policy that all agents share, and a critic for each."""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn

from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.stacked_mlp import StackedMLP
from rolecast.core.errors import unknown_name

CRITIC_VIEWS: Final = ("all", "own")
"""What a critic may see: all agents, or its own agent alone (independent DDPG)."""


class AgentCritics(nn.Module):
    """n separate critics, one for each agent.

    Source: MADDPG, Lowe et al. (2017, section 4.1); with `sees="own"` independent DDPG, the
    yardstick of the same paper.
    """

    own: Tensor
    """[n, n], true where an action is the critic's own agent's."""

    def __init__(
        self,
        agents: int,
        observation_size: int,
        action_size: int,
        hidden: Sequence[int],
        *,
        state_size: int,
        sees: str = "all",
    ) -> None:
        """Draw the weights.

        Args:
            agents: n.
            observation_size: do.
            action_size: da.
            hidden: widths of the hidden layers of each critic.
            state_size: S, of what a centralised critic reads beside all actions.
            sees: one of `CRITIC_VIEWS`.

        Raises:
            RequestError: there is no such view.
        """
        super().__init__()
        if sees not in CRITIC_VIEWS:
            raise unknown_name("view of a critic", sees, CRITIC_VIEWS)
        self.agents, self._all = agents, sees == "all"
        own_inputs = observation_size + action_size
        inputs = state_size + agents * action_size if self._all else own_inputs
        self.networks = StackedMLP(agents, (inputs, *hidden, 1))
        self.register_buffer("own", torch.eye(agents, dtype=torch.bool), persistent=False)

    def forward(self, observations: Tensor, actions: Tensor, state: Tensor | None = None) -> Tensor:
        """Return values [B, n], one of each critic, of joint actions that were taken.

        Args:
            observations: [B, n, do].
            actions: [B, n, da].
            state: [B, S]; None for all observations, laid end to end.
        """
        if not self._all:
            return self._values(torch.cat((observations, actions), dim=-1).transpose(0, 1))
        state = observations.flatten(1) if state is None else state
        joint = torch.cat((state, actions.flatten(1)), dim=-1)
        return self._values(joint.expand(self.agents, -1, -1))

    def values_of_policy_actions(
        self,
        observations: Tensor,
        actions: Tensor,
        policy_actions: Tensor,
        state: Tensor | None = None,
    ) -> Tensor:
        """Return values [B, n]; critic i sees its agent's policy action and the others' actions.

        Args:
            observations: [B, n, do].
            actions: [B, n, da], from the replay.
            policy_actions: [B, n, da], of the current policies.
            state: [B, S]; None for all observations, laid end to end.
        """
        if not self._all:
            return self.forward(observations, policy_actions, state)
        mixed = torch.where(self.own[:, None, :, None], policy_actions, actions).flatten(2)
        state = observations.flatten(1) if state is None else state
        states = state.expand(self.agents, -1, -1)
        return self._values(torch.cat((states, mixed), dim=-1))

    def _values(self, inputs: Tensor) -> Tensor:
        """Return [B, n] of inputs [n, B, in]."""
        values: Tensor = self.networks(inputs).squeeze(-1).transpose(0, 1)
        return values


class MADDPGModule(JointModule):
    """Shared policy, one critic an agent, and target copies of all."""

    def build_critics(self) -> nn.Module:
        """Return the critics."""
        return AgentCritics(
            self.agents,
            self.observation_size,
            self.action_size,
            self.critic_hidden,
            state_size=self.state_size,
            sees=self.settings["critic_sees"],
        )
