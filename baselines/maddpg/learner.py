"""The losses of MADDPG."""

from typing import cast

import torch
from torch import Tensor

from rolecast.baselines.maddpg.module import AgentCritics, MADDPGModule
from rolecast.baselines.rllib.learner import Tensors
from rolecast.baselines.teams import TeamLearner


class MADDPGLearner(TeamLearner[MADDPGModule]):
    """One centralised critic an agent; an agent's policy gradient holds the others' actions fixed.

    Source: Lowe et al. (2017, equations 5 and 6, algorithm 1).
    """

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the sum over agents of each critic's mean squared TD error."""
        net, next_obs = self.net, batch["next_observations"]
        with torch.no_grad():
            next_actions = net.act(next_obs, net.targets["actor"])
            next_state = net.state_of(batch, "next_")
            next_values = net.targets["critic"](next_obs, next_actions, next_state)
        # Equation 6: y_i = r_i + gamma Q'_i(x', mu'(o')).
        target = self.bellman_target(batch, next_values)
        state = net.state_of(batch)
        values: Tensor = net.critic(batch["observations"], batch["actions"], state)
        td_error = values - target
        return td_error.square().mean(dim=0).sum()

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return minus the mean value of each agent's policy action, plus the action penalty."""
        net, obs = self.net, batch["observations"]
        policy_actions = self.policy_actions(obs)
        critics = cast(AgentCritics, net.critic)
        # Equation 5: a_i = mu_i(o_i), the other agents' actions from the replay.
        values = critics.values_of_policy_actions(
            obs, batch["actions"], policy_actions, net.state_of(batch)
        )
        penalty: Tensor = self.config.action_penalty * net.mean_square(policy_actions)
        return penalty - values.mean()

    def policy_actions(self, obs: Tensor) -> Tensor:
        """Return the policy's actions [N, n, da] that its loss judges, for obs [N, n, do]."""
        return self.net.act(obs)
