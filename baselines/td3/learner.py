"""The losses of TD3."""

from typing import Any

import torch
from torch import Tensor

from rolecast.baselines.rllib.learner import OffPolicyLearner, Tensors
from rolecast.baselines.rllib.networks import joint_input
from rolecast.baselines.rllib.tight_mlp import TightMLP, TightPolicy, fit
from rolecast.baselines.td3.module import TD3Module, TwinCritics


class TightCritics:
    """Two critics of one agent; rows are observation and action, end to end."""

    def __init__(self, critics: TwinCritics) -> None:
        """Bind the weights, which may change in place but not be replaced."""
        self.first, self.second = TightMLP(critics.first), TightMLP(critics.second)

    def smaller(self, rows: Tensor) -> Tensor:
        """Return the smaller value [N] of rows [N, do + da]."""
        return torch.minimum(self.first(rows), self.second(rows)).squeeze(1)

    def learn(self, rows: Tensor, target: Tensor, weight: float) -> Tensor:
        """Write the gradients of a weight times the mean squared errors; return their sum.

        Args:
            rows: [N, do + da].
            target: [N].
            weight: of the errors.
        """
        wanted = target.unsqueeze(1)
        return fit(self.first, rows, wanted, weight) + fit(self.second, rows, wanted, weight)

    def climb_smaller(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the smaller value [N] of rows [N, do + da], and its slope [N, do + da].

        Each critic is differentiated on the rows alone where it is the smaller.
        """
        (first, one), (second, two) = self.first.keep(rows), self.second.keep(rows)
        smaller = (first < second).squeeze(1)
        slope = torch.empty_like(rows)
        for critic, kept, at in ((self.first, one, smaller), (self.second, two, ~smaller)):
            chosen = at.nonzero().squeeze(1)
            part = [layer.index_select(0, chosen) for layer in kept[1:]]
            ones = rows.new_ones((len(chosen), 1))
            slope.index_copy_(0, chosen, critic.by_inputs(part, ones))
        return torch.minimum(first, second).squeeze(1), slope


class TD3Learner(OffPolicyLearner[TD3Module]):
    """Clipped double Q-learning with smoothed targets, and a policy that follows late.

    `critic_loss` and `actor_loss` are the method; `step_critic` and `step_actor` take the steps
    along their gradients with less work.

    Source: Fujimoto, van Hoof and Meger (2018), algorithm 1.
    """

    @torch.no_grad()
    def target(self, batch: Tensors) -> Tensor:
        """Return the value [N] that both critics shall learn."""
        following = batch["next_observations"].flatten(1)
        actions = self._slow_policy(following)
        actions = (actions + self.smoothing(actions)).clamp_(-1.0, 1.0)
        value = self._slow_critics.smaller(torch.cat([following, actions], dim=1))
        reward = batch["rewards"].mean(dim=1)
        target: Tensor = reward + self.config.gamma * (1.0 - batch["terminated"]) * value
        return target

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return the squared errors of both critics against the smaller target value."""
        target = self.target(batch)
        first, second = self.net.critic(batch["observations"], batch["actions"])
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

    @torch.no_grad()
    def step_critic(self, batch: Tensors) -> None:
        """Take one step of both critics down `critic_loss`."""
        rows = joint_input(batch["observations"], batch["actions"])
        self.descend("critic", self._critics.learn(rows, self.target(batch), 1.0))

    @torch.no_grad()
    def step_actor(self, batch: Tensors) -> None:
        """Take one step of the policy down `actor_loss`."""
        self.descend(
            "actor", self._policy.climb(batch["observations"].flatten(1), self._critics.first)
        )

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register the optimisers, and bind the weights."""
        super().configure_optimizers_for_module(module_id, config)
        net: Any = self.net
        self._policy, self._slow_policy = TightPolicy(net.actor), TightPolicy(net.targets["actor"])
        self._critics = TightCritics(net.critic)
        self._slow_critics = TightCritics(net.targets["critic"])
