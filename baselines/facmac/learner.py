"""The losses of FACMAC."""

import torch
from torch import Tensor
from torch.nn import functional

from rolecast.baselines.facmac.module import FACMACModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import TeamLearner


class FACMACLearner(TeamLearner[FACMACModule]):
    """A centralised, factored critic, and a policy gradient through all agents' actions at once.

    Source: Peng et al. (2021, section 4).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the mean squared TD error of the joint value."""
        net, next_obs = self.net, batch["next_observations"]
        with torch.no_grad():
            next_actions = net.act(next_obs, net.targets["actor"])
            next_state = net.state_of(batch, "next_")
            next_value = net.targets["critic"](next_obs, next_actions, next_state)
        state = net.state_of(batch)
        value: Tensor = net.critic(batch["observations"], batch["actions"], state)
        # Section 4.1: the squared error against r + gamma Q'_tot(s', mu'(s')).
        return functional.mse_loss(value, self.bellman_target(batch, next_value))

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the mean joint value of the policies' actions, plus the action penalty."""
        net, obs = self.net, batch["observations"]
        actions = net.act(obs)
        joint_value: Tensor = net.critic(obs, actions, net.state_of(batch))
        penalty: Tensor = self.config.action_penalty * net.mean_square(actions)
        # Section 4.2: the gradient through the actions of all agents together.
        return penalty - joint_value.mean()
