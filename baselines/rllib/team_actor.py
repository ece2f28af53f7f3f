"""A team's policy that tells its agents apart: by their number, or by weights of their own."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from rolecast.baselines.rllib.networks import mlp
from rolecast.baselines.rllib.stacked_mlp import StackedMLP


class AgentNumbers(nn.Module):
    """Appends to each agent's observation which of the n agents it is, as n numbers."""

    identity: Tensor
    """[n, n]."""

    def __init__(self, agents: int) -> None:
        """Make it for n agents."""
        super().__init__()
        self.register_buffer("identity", torch.eye(agents), persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        """Return observations [..., n, do + n] of [..., n, do]."""
        shape = (*observations.shape[:-1], self.identity.shape[1])
        return torch.cat((observations, self.identity.expand(shape)), dim=-1)


class TeamActor(nn.Module):
    """One network for all agents, or one for each: [..., n, do] to [..., n, da]."""

    def __init__(
        self,
        agents: int,
        observation_size: int,
        hidden: Sequence[int],
        action_size: int,
        *,
        agent_id: bool,
        share_policy: bool,
    ) -> None:
        """Draw the weights.

        Args:
            agents: n.
            observation_size: do.
            hidden: widths between.
            action_size: da.
            agent_id: whether a network reads which agent it acts for.
            share_policy: whether all agents have one network.
        """
        super().__init__()
        inputs = observation_size + (agents if agent_id else 0)
        self.numbers: nn.Module = AgentNumbers(agents) if agent_id else nn.Identity()
        self.shared = share_policy
        self.network: nn.Module = (
            mlp(inputs, hidden, action_size)
            if share_policy
            else StackedMLP(agents, (inputs, *hidden, action_size))
        )

    def forward(self, observations: Tensor) -> Tensor:
        """Return what each agent's network says of its observation."""
        seen = self.numbers(observations)
        if self.shared:
            told: Tensor = self.network(seen)
            return told
        rows = seen.reshape(-1, *seen.shape[-2:]).transpose(0, 1)
        outputs: Tensor = self.network(rows).transpose(0, 1)
        return outputs.reshape(*seen.shape[:-1], outputs.shape[-1])
