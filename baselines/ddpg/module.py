"""The networks of DDPG: a deterministic policy and one critic."""

from torch import Tensor, nn

from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import joint_input, mlp


class Critic(nn.Module):
    """An estimate of an action's value."""

    def __init__(self, inputs: int, hidden: tuple[int, ...], last_layer: float | None) -> None:
        super().__init__()
        self.net = mlp(inputs, hidden, 1, last_layer=last_layer)

    def forward(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return values [N] for observations [N, n, do] and actions [N, n, da]."""
        value: Tensor = self.net(joint_input(observations, actions)).squeeze(-1)
        return value


class DDPGModule(JointModule):
    """Policy, critic, and target copies of both."""

    critic: Critic

    def build_actor(self) -> nn.Module:
        """Return the policy, whose first actions are near 0 unless its last layer is drawn wide."""
        last = self.settings["last_layer"]
        return mlp(self.observation_size, self.hidden, self.action_size, last_layer=last)

    def build_critics(self) -> nn.Module:
        """Return the critic, over joint observations and actions."""
        inputs = self.agents * (self.observation_size + self.action_size)
        return Critic(inputs, self.critic_hidden, self.settings["last_layer"])
