"""The networks of DDPG: a deterministic policy and one critic."""

from torch import Tensor, nn

from rolecast.baselines.joint.module import JointModule
from rolecast.baselines.joint.networks import joint_input, mlp


class Critic(nn.Module):
    """An estimate of an action's value."""

    def __init__(self, inputs: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.net = mlp(inputs, hidden, 1)

    def forward(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Return values [N] for observations [N, n, do] and actions [N, n, da]."""
        value: Tensor = self.net(joint_input(observations, actions)).squeeze(-1)
        return value


class DDPGModule(JointModule):
    """Policy, critic, and slow copies of both."""

    critic: Critic

    def build_critics(self) -> nn.Module:
        """Return the critic, over everything that is seen and done."""
        return Critic(self.agents * (self.observation_size + self.action_size), self.critic_hidden)
