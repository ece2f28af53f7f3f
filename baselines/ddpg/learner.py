"""The losses of DDPG."""

from typing import Any

import torch
from torch import Tensor

from rolecast.baselines.ddpg.module import DDPGModule
from rolecast.baselines.rllib.learner import OffPolicyLearner, Tensors
from rolecast.baselines.rllib.networks import joint_input
from rolecast.baselines.rllib.tight_mlp import TightMLP, TightPolicy, fit


class DDPGLearner(OffPolicyLearner[DDPGModule]):
    """Q-learning with the policy's own action as the best one.

    `critic_loss` and `actor_loss` are the method; `step_critic` and `step_actor` take the steps
    along their gradients with less work.

    Source: Lillicrap et al. (2016), algorithm 1.
    """

    @torch.no_grad()
    def target(self, batch: Tensors) -> Tensor:
        """Return the value [N] that the critic shall learn."""
        following = batch["next_observations"].flatten(1)
        actions = self._slow_policy(following)
        value = self._slow_critic(torch.cat([following, actions], dim=1)).squeeze(1)
        reward = batch["rewards"].mean(dim=1)
        target: Tensor = reward + self.config.gamma * (1.0 - batch["terminated"]) * value
        return target

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the squared error against the targets' value of what follows."""
        estimate: Tensor = self.net.critic(batch["observations"], batch["actions"])
        return (estimate - self.target(batch)).square().mean()

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the critic's value of what the policy does."""
        observations = batch["observations"]
        value: Tensor = self.net.critic(observations, self.net.act(observations))
        return -value.mean()

    @torch.no_grad()
    def step_critic(self, batch: Tensors) -> None:
        """Take one step of the critic down `critic_loss`."""
        rows = joint_input(batch["observations"], batch["actions"])
        target = self.target(batch).unsqueeze(1)
        self.descend("critic", fit(self._critic, rows, target, 1.0))

    @torch.no_grad()
    def step_actor(self, batch: Tensors) -> None:
        """Take one step of the policy down `actor_loss`."""
        self.descend("actor", self._policy.climb(batch["observations"].flatten(1), self._critic))

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register the optimisers, and bind the weights."""
        super().configure_optimizers_for_module(module_id, config)
        net: Any = self.net
        self._policy, self._slow_policy = TightPolicy(net.actor), TightPolicy(net.targets["actor"])
        self._critic = TightMLP(net.critic.net)
        self._slow_critic = TightMLP(net.targets["critic"].net)
