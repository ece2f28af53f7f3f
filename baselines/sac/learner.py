"""The losses of SAC."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.learner import OffPolicyLearner, Tensors
from rolecast.baselines.rllib.networks import joint_input
from rolecast.baselines.rllib.tight_mlp import Kept, TightMLP
from rolecast.baselines.sac.module import LOG_DEVIATIONS, SACModule, SquashedGaussian
from rolecast.baselines.td3.learner import TightCritics


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Actions drawn from a policy, and what their gradients need."""

    actions: Tensor
    """[N, da] in [-1, 1]."""

    log_density: Tensor
    """[N]."""

    spread: Tensor
    """[N, da], deviation times noise, before the tanh."""

    within: Tensor
    """[N, da], true where the deviation is within its limits."""

    kept: Kept
    """Of the means."""


class TightActor:
    """A squashed Gaussian; see `SquashedGaussian`, whose formulas these are."""

    def __init__(self, actor: SquashedGaussian) -> None:
        """Bind the weights, which may change in place but not be replaced."""
        self._means = TightMLP(actor.mean)
        self._deviations = TightMLP(nn.Sequential(actor.log_deviation))

    def draw(self, observations: Tensor, noise: Tensor) -> Draw:
        """Return actions for observations [N, do] and standard normal noise [N, da]."""
        means, kept = self._means.keep(observations)
        free = self._deviations(kept[-1])
        log_deviations = free.clamp(*LOG_DEVIATIONS)
        spread = log_deviations.exp() * noise
        raw = means + spread
        squeeze = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw))
        log_density = -0.5 * (noise.square() + math.log(2.0 * math.pi)) - log_deviations - squeeze
        return Draw(
            actions=torch.tanh(raw),
            log_density=log_density.sum(dim=1),
            spread=spread,
            within=free == log_deviations,
            kept=kept,
        )

    def learn(self, draw: Draw, by_actions: Tensor, price: Tensor) -> None:
        """Write the gradients of a loss with the price of entropy times the mean log-density.

        Args:
            draw: of all N rows.
            by_actions: [N, da], the slope of the rest of the loss by the actions.
            price: alpha, a scalar.
        """
        actions, share = draw.actions, price / len(draw.actions)
        # The log-density rises by 2 tanh(raw) with raw, and falls by 1 with the log deviation.
        by_raw = by_actions * (1.0 - actions.square()) + (2.0 * share) * actions
        by_deviation = (by_raw * draw.spread - share) * draw.within
        features = draw.kept[-1]
        self._deviations.learn([features], by_deviation)
        self._means.learn(
            draw.kept, by_raw, beside=self._deviations.by_inputs([features], by_deviation)
        )


class SACLearner(OffPolicyLearner[SACModule]):
    """Clipped double Q-learning of value plus entropy, whose price is learnt too.

    `critic_loss` and `actor_loss` are the method; `step_critic` and `step_actor` take the steps
    along their gradients with less work, from the same random numbers.

    Source: Haarnoja et al. (2018), "Soft actor-critic algorithms and applications", algorithm 1.
    """

    @torch.no_grad()
    def target(self, batch: Tensors) -> Tensor:
        """Return the soft value [N] that both critics shall learn."""
        following = batch["next_observations"].flatten(1)
        coming = self._actor.draw(following, self.noise(batch["actions"]).flatten(1))
        value = self._slow_critics.smaller(torch.cat([following, coming.actions], dim=1))
        soft = value - self.net.log_alpha.exp() * coming.log_density
        reward = batch["rewards"].mean(dim=1)
        target: Tensor = reward + self.config.gamma * (1.0 - batch["terminated"]) * soft
        return target

    def critic_loss(self, batch: Tensors) -> Tensor:
        """Return half the squared errors of both critics against the soft target value."""
        target = self.target(batch)
        first, second = self.net.critic(batch["observations"], batch["actions"])
        loss: Tensor = (first - target).square().mean() + (second - target).square().mean()
        return 0.5 * loss

    def actor_loss(self, batch: Tensors) -> Tensor:
        """Return the price of entropy times log-density, minus the smaller value."""
        net, observations = self.net, batch["observations"]
        actions, log_density = self.drawn(observations)
        self._log_density = log_density.detach()
        value = torch.minimum(*net.critic(observations, actions))
        return (net.log_alpha.detach().exp() * log_density - value).mean()

    def alpha_loss(self) -> Tensor:
        """Return the loss that raises the price of entropy where the last draws had too little."""
        return -(self.net.log_alpha.exp() * (self._log_density + self.target_entropy)).mean()

    def step_alpha(self) -> None:
        """Take one step of the price; its loss is its own derivative by the price's logarithm."""
        with torch.no_grad():
            loss = self.alpha_loss()
        self.net.log_alpha.grad = loss.clone()
        self.descend("alpha", loss)

    @property
    def target_entropy(self) -> float:
        """Entropy that the policy should keep, in nats; minus the size of an action by default."""
        given = self.config.target_entropy
        return -float(self.net.agents * self.net.action_size) if given is None else float(given)

    def drawn(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions [N, n, da] of the policy and the log-density [N] of all n together."""
        shape = (*observations.shape[:-1], self.net.action_size)
        actions, log_density = self.net.actor.draw(
            observations, self.noise(observations.new_empty(shape))
        )
        return actions, log_density.sum(dim=1)

    @torch.no_grad()
    def step_critic(self, batch: Tensors) -> None:
        """Take one step of both critics down `critic_loss`."""
        rows = joint_input(batch["observations"], batch["actions"])
        self.descend("critic", self._critics.learn(rows, self.target(batch), 0.5))

    @torch.no_grad()
    def step_actor(self, batch: Tensors) -> None:
        """Take one step of the policy down `actor_loss`."""
        seen = batch["observations"].flatten(1)
        drawn = self._actor.draw(seen, self.noise(batch["actions"]).flatten(1))
        self._log_density = drawn.log_density
        value, slope = self._critics.climb_smaller(torch.cat([seen, drawn.actions], dim=1))
        price = self.net.log_alpha.exp()
        by_actions = slope[:, seen.shape[1] :] / -len(seen)
        self._actor.learn(drawn, by_actions, price)
        self.descend("actor", (price * drawn.log_density - value).mean())

    def update_once(self, batch: Tensors) -> None:
        """Take one step of critics, policy and price."""
        super().update_once(batch)
        if (self.updates + 1) % self.config.policy_delay == 0 and self.config.learn_alpha:
            self.step_alpha()
        self.losses["alpha"] = self.net.log_alpha.detach().exp()

    def parameter_groups(self) -> dict[str, tuple[Sequence[nn.Parameter], float]]:
        """Return those of critics and policy, and the price's."""
        price = ([self.net.log_alpha], self.config.alpha_lr)
        return {**super().parameter_groups(), "alpha": price}

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register the optimisers, and bind the weights."""
        super().configure_optimizers_for_module(module_id, config)
        self._actor = TightActor(self.net.actor)
        self._critics = TightCritics(self.net.critic)
        self._slow_critics = TightCritics(self.net.targets["critic"])  # type: ignore[arg-type]
