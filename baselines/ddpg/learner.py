"""The losses of DDPG."""

import torch
from torch import Tensor
from torch.nn import functional

from rolecast.baselines.ddpg.module import DDPGModule
from rolecast.baselines.rllib.learner import OffPolicyLearner, Tensors


class DDPGLearner(OffPolicyLearner[DDPGModule]):
    """Q-learning whose greedy action is the policy's.

    Source: Lillicrap et al. (2016), section 3 and algorithm 1.
    """

    @torch.no_grad()
    def td_target(self, batch: Tensors) -> Tensor:
        """Return the targets [N] of the critic."""
        net, next_obs = self.net, batch["next_observations"]
        next_actions = net.act(next_obs, net.targets["actor"])
        next_value = net.targets["critic"](next_obs, next_actions)
        # Algorithm 1: y = r + gamma Q'(s', mu'(s')).
        return self.bellman_target(batch, next_value)

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the mean squared TD error."""
        value = self.net.critic(batch["observations"], batch["actions"])
        # Equation 4, with the target networks of algorithm 1.
        return functional.mse_loss(value, self.td_target(batch))

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the mean value of the policy's actions."""
        net, obs = self.net, batch["observations"]
        value: Tensor = net.critic(obs, net.act(obs))
        return -value.mean()  # Its gradient is equation 6.
