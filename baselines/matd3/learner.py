"""The losses of MATD3."""

from typing import cast

import torch
from torch import Tensor

from rolecast.baselines.maddpg.learner import MADDPGLearner
from rolecast.baselines.maddpg.module import MADDPGModule
from rolecast.baselines.matd3.module import TwinAgentCritics
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.td3.smoothing import TargetSmoothing


class MATD3Learner(MADDPGLearner, TargetSmoothing[MADDPGModule]):
    """MADDPG with clipped double Q-learning, target policy smoothing and delayed policy updates.

    Source: Ackermann et al. (2019, algorithm 1); Fujimoto et al. (2018) for a single agent.
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the sum over agents and both sets of each critic's mean squared TD error."""
        net, target = self.net, self.td_targets(batch)
        state = net.state_of(batch)
        first, second = net.critic(batch["observations"], batch["actions"], state)
        squares: Tensor = (first - target).square() + (second - target).square()
        return squares.mean(dim=0).sum()

    @torch.no_grad()
    def td_targets(self, batch: Tensors) -> Tensor:
        """Return the targets [N, n] of both critics of each agent."""
        net, next_obs = self.net, batch["next_observations"]
        next_actions = self.smoothed(net.act(next_obs, net.targets["actor"]))
        critics = cast(TwinAgentCritics, net.targets["critic"])
        next_values = critics.smaller(next_obs, next_actions, net.state_of(batch, "next_"))
        # Algorithm 1: y_i = r_i + gamma min over j of Q'_ij(x', a').
        return self.bellman_target(batch, next_values)
