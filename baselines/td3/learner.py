"""The losses of TD3."""

import torch
from torch import Tensor

from rolecast.baselines.joint.learner import OffPolicyLearner, Tensors
from rolecast.baselines.td3.module import TD3Module


class TD3Learner(OffPolicyLearner[TD3Module]):
    """Clipped double Q-learning with smoothed targets, and a policy that follows late.

    Source: Fujimoto, van Hoof and Meger (2018), algorithm 1.
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the squared errors of both critics against the smaller target value."""
        net, following = self.net, batch["next_observations"]
        with torch.no_grad():
            actions = net.act(following, net.targets["actor"])
            actions = (actions + self.smoothing(actions)).clamp_(-1.0, 1.0)
            value = torch.minimum(*net.targets["critic"](following, actions))
            reward = batch["rewards"].mean(dim=1)
            target: Tensor = reward + self.config.gamma * (1.0 - batch["terminated"]) * value
        first, second = net.critic(batch["observations"], batch["actions"])
        loss: Tensor = (first - target).square().mean() + (second - target).square().mean()
        return loss

    def smoothing(self, actions: Tensor) -> Tensor:
        """Return clipped noise for target actions."""
        bound = self.config.target_noise_clip
        noise: Tensor = self.noise(actions) * self.config.target_noise
        return noise.clamp_(-bound, bound)

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the first critic's value of what the policy does."""
        net, observations = self.net, batch["observations"]
        value: Tensor = net.critic.value(observations, net.act(observations))
        return -value.mean()
