"""The networks of SAC: a policy of squashed Gaussians, and two critics."""

import math
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import mlp
from rolecast.baselines.td3.module import TwinCritics

LOG_DEVIATIONS: Final = (-20.0, 2.0)
"""Least and largest logarithm of a deviation, before the tanh, as in the authors' code."""


class SquashedGaussian(nn.Module):
    """Mean and deviation of actions before their tanh; called, it gives the mean.

    The deviation has a last layer of its own, so that the network that acts once learning is over,
    by the mean, has as many parameters as a deterministic one.
    """

    def __init__(self, inputs: int, hidden: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        self.mean = mlp(inputs, hidden, outputs)
        self.log_deviation = nn.Linear(hidden[-1], outputs)

    def forward(self, observations: Tensor) -> Tensor:
        """Return means [..., da] for observations [..., do]."""
        mean: Tensor = self.mean(observations)
        return mean

    def both(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and logarithms of deviations, [..., da] each."""
        *body, head = self.mean
        features = observations
        for layer in body:
            features = layer(features)
        return head(features), self.log_deviation(features).clamp(*LOG_DEVIATIONS)

    def draw(self, observations: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Return actions [..., da] in [-1, 1] and their log-densities [...].

        Args:
            observations: [..., do].
            noise: [..., da], standard normal.

        Source: Haarnoja et al. (2018), appendix C. Differs: log(1 - tanh(u)^2) is written as
            2 (log 2 - u - softplus(-2 u)), which does not round to infinity.
        """
        mean, log_deviation = self.both(observations)
        raw = mean + log_deviation.exp() * noise
        squeeze = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw))
        log_density = -0.5 * (noise.square() + math.log(2.0 * math.pi)) - log_deviation - squeeze
        return torch.tanh(raw), log_density.sum(dim=-1)


class SACModule(JointModule):
    """Stochastic policy, twin critics with slow copies, and the price of entropy."""

    actor: SquashedGaussian
    critic: TwinCritics

    def setup(self) -> None:
        """Build the networks, and the logarithm of the entropy's price."""
        super().setup()
        if not self.inference_only:
            price = math.log(self.settings["initial_alpha"])
            self.log_alpha = nn.Parameter(torch.tensor(price))

    def build_actor(self) -> SquashedGaussian:
        """Return the policy."""
        return SquashedGaussian(self.observation_size, self.hidden, self.action_size)

    def build_critics(self) -> TwinCritics:
        """Return both critics, over everything that is seen and done."""
        return TwinCritics(
            self.agents * (self.observation_size + self.action_size), self.critic_hidden
        )

    def build_targets(self) -> dict[str, nn.Module]:
        """Return slow copies of the critics; SAC has none of its policy."""
        return {"critic": super().build_targets()["critic"]}

    def explore(
        self, observations: Tensor, memory: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return actions drawn from the policy."""
        mean, log_deviation = self.actor.both(observations)
        noise = torch.randn(memory.shape, generator=generator)
        return torch.tanh(mean + log_deviation.exp() * noise)

    def acting_modules(self) -> list[nn.Module]:
        """Return the means alone."""
        return [self.actor.mean]

    def get_non_inference_attributes(self) -> list[str]:
        """Return what only learning needs."""
        return [*super().get_non_inference_attributes(), "log_alpha"]
