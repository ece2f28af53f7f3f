"""The losses of TD3."""

import torch
from torch import Tensor
from torch.nn import functional

from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.td3.module import TD3Module
from rolecast.baselines.td3.smoothing import TargetSmoothing


class TD3Learner(TargetSmoothing[TD3Module]):
    """Clipped double Q-learning, target policy smoothing and delayed policy updates.

    Source: Fujimoto, van Hoof and Meger (2018), algorithm 1; `policy_delay` is its d.
    """

    @torch.no_grad()
    def td_target(self, batch: Tensors) -> Tensor:
        """Return the targets [N] of both critics."""
        net, next_obs = self.net, batch["next_observations"]
        next_actions = self.smoothed(net.act(next_obs, net.targets["actor"]))
        # Section 4.2: y = r + gamma min over i of Q'_i(s', a').
        next_value = torch.minimum(*net.targets["critic"](next_obs, next_actions))
        return self.bellman_target(batch, next_value)

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the sum of both critics' mean squared TD errors."""
        target = self.td_target(batch)
        first, second = self.net.critic(batch["observations"], batch["actions"])
        # Algorithm 1, the update of theta_1 and theta_2.
        return functional.mse_loss(first, target) + functional.mse_loss(second, target)

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the first critic's mean value of the policy's actions."""
        net, obs = self.net, batch["observations"]
        value: Tensor = net.critic.value(obs, net.act(obs))
        return -value.mean()  # Algorithm 1: its gradient is the update of phi.
