"""The losses of DDPG."""

import torch
from torch import Tensor

from rolecast.baselines.ddpg.module import DDPGModule
from rolecast.baselines.joint.learner import OffPolicyLearner, Tensors


class DDPGLearner(OffPolicyLearner[DDPGModule]):
    """Q-learning with the policy's own action as the best one.

    Source: Lillicrap et al. (2016), algorithm 1.
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the squared error against the targets' value of what follows."""
        net, following = self.net, batch["next_observations"]
        with torch.no_grad():
            value = net.targets["critic"](following, net.act(following, net.targets["actor"]))
            reward = batch["rewards"].mean(dim=1)
            target: Tensor = reward + self.config.gamma * (1.0 - batch["terminated"]) * value
        estimate: Tensor = net.critic(batch["observations"], batch["actions"])
        return (estimate - target).square().mean()

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the critic's value of what the policy does."""
        observations = batch["observations"]
        value: Tensor = self.net.critic(observations, self.net.act(observations))
        return -value.mean()
