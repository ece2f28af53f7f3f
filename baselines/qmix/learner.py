"""The loss of IQL, VDN and QMIX."""

import torch
from torch import Tensor
from torch.nn import functional

from rolecast.baselines.qmix.module import ChoiceModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import ValueLearner


class ChoiceLearner(ValueLearner[ChoiceModule]):
    """Double Q-learning of the mixed value, or of each agent's own.

    Source: QMIX, Rashid et al. (2018); VDN, Sunehag et al. (2017); independent Q-learning, Tampuu
    et al. (2017); double Q-learning, van Hasselt et al. (2016).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the mean squared TD error; of independent learners, its sum over agents."""
        net = self.net
        taken = (net.actor(batch["observations"]) * batch["actions"]).sum(dim=-1)
        following = self.next_utilities(batch)
        if self.config.mixer == "none":
            # Of each agent i: y_i = r_i + gamma Q'_i(o'_i, argmax over a of Q_i(o'_i, a)).
            targets = self.bellman_target(batch, following)
            loss: Tensor = (taken - targets).square().mean(dim=0).sum()
            return loss
        with torch.no_grad():
            next_value = net.targets["critic"](following, net.state_of(batch, "next_"))
        value: Tensor = net.critic(taken, net.state_of(batch))
        # QMIX, equation 6: (y_tot - Q_tot(tau, u, s))^2.
        return functional.mse_loss(value, self.bellman_target(batch, next_value))

    @torch.no_grad()
    def next_utilities(self, batch: Tensors) -> Tensor:
        """Return the slow utilities [N, n] of what each agent would choose next."""
        net, next_obs = self.net, batch["next_observations"]
        best = net.actor(next_obs).argmax(dim=-1, keepdim=True)
        slow: Tensor = net.targets["actor"](next_obs)
        return slow.gather(-1, best).squeeze(-1)
