"""The networks of TD3: a deterministic policy and two critics."""

from torch import Tensor, nn

from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import joint_input, mlp


class TwinCritics(nn.Module):
    """Two independent estimates of an action's value."""

    def __init__(self, inputs: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.first, self.second = mlp(inputs, hidden, 1), mlp(inputs, hidden, 1)

    def forward(self, state: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return both values [N] of actions [N, n, da], given a state [N, S].

        The state may be observations [N, n, do], which are laid end to end.
        """
        both = joint_input(state, actions)
        return self.first(both).squeeze(-1), self.second(both).squeeze(-1)

    def value(self, state: Tensor, actions: Tensor) -> Tensor:
        """Return the first value [N] alone."""
        value: Tensor = self.first(joint_input(state, actions)).squeeze(-1)
        return value


class TD3Module(JointModule):
    """Policy, twin critics, and target copies of all three."""

    critic: TwinCritics

    def build_critics(self) -> nn.Module:
        """Return both critics, over joint observations and actions."""
        return TwinCritics(
            self.agents * (self.observation_size + self.action_size), self.critic_hidden
        )
