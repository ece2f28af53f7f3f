"""The losses of SAC."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.learner import OffPolicyLearner, Tensors
from rolecast.baselines.sac.module import SACModule


class SACLearner(OffPolicyLearner[SACModule]):
    """Clipped double Q-learning of value plus entropy, with a learned temperature alpha.

    Source: Haarnoja et al. (2018), "Soft actor-critic algorithms and applications", algorithm 1.
    """

    @torch.no_grad()
    def td_target(self, batch: Tensors) -> Tensor:
        """Return the soft targets [N] of both critics; of ISAC [N, n]."""
        net, next_obs = self.net, batch["next_observations"]
        next_actions, next_log_prob = self.sample_actions(next_obs)
        next_state = net.state_of(batch, "next_")
        next_value = torch.minimum(*net.targets["critic"](next_state, next_actions))
        # Equation 3: V(s') = Q(s', a') - alpha log pi(a' | s').
        soft_value = next_value - net.log_alpha.exp() * next_log_prob
        return self.bellman_target(batch, soft_value)

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return half the sum of both critics' mean squared TD errors."""
        target = self.td_target(batch)
        first, second = self.net.critic(self.net.state_of(batch), batch["actions"])
        # Equation 5, for each of the two critics.
        return 0.5 * (functional.mse_loss(first, target) + functional.mse_loss(second, target))

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return alpha times the mean log-density, minus the mean of the smaller value."""
        net, obs = self.net, batch["observations"]
        actions, log_prob = self.sample_actions(obs)
        self._log_prob = log_prob.detach()
        value = torch.minimum(*net.critic(net.state_of(batch), actions))
        # Equations 7 and 9: E[alpha log pi(f(epsilon; s) | s) - Q(s, f(epsilon; s))].
        return (net.log_alpha.detach().exp() * log_prob - value).mean()

    def alpha_loss(self) -> Tensor:
        """Return the loss of the temperature, on the actions of the last `actor_loss`."""
        # Equation 18: E[-alpha (log pi(a | s) + target entropy)].
        return -(self.net.log_alpha.exp() * (self._log_prob + self.target_entropy)).mean()

    @property
    def target_entropy(self) -> float:
        """Target entropy in nats; by default minus the size of a joint action (appendix D).

        Padding of smaller agents counts neither there nor in the log-densities.
        """
        given = self.config.target_entropy
        return -float(sum(self.net.own_sizes)) if given is None else float(given)

    def sample_actions(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions [N, n, da] of the policy and the joint log-density [N] of all n."""
        actions, log_prob = self.sample_each(obs)
        return actions, log_prob.sum(dim=1)

    def sample_each(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions [N, n, da] of the policy and the log-density [N, n] of each agent's."""
        net, shape = self.net, (*obs.shape[:-1], self.net.action_size)
        return net.actor.sample(obs, self.noise(obs.new_empty(shape)), net.own_numbers)

    def update_once(self, batch: Tensors) -> None:
        """Take one step of critics, policy and temperature."""
        super().update_once(batch)
        if (self.updates + 1) % self.config.policy_delay == 0 and self.config.learn_alpha:
            self.step("alpha", self.alpha_loss())
        self.losses["alpha"] = self.net.log_alpha.detach().exp()

    def parameter_groups(self) -> dict[str, tuple[Sequence[nn.Parameter], float]]:
        """Return the groups of critics and policy, and the temperature's."""
        temperature: Any = ([self.net.log_alpha], self.config.alpha_lr)
        return {**super().parameter_groups(), "alpha": temperature}
