"""The networks of SAC: a policy of squashed Gaussians, and two critics."""

import math
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.module import JointModule
from rolecast.baselines.rllib.networks import mlp
from rolecast.baselines.rllib.team_actor import AgentNumbers
from rolecast.baselines.td3.module import TwinCritics

LOG_STD_RANGE: Final = (-20.0, 2.0)
"""Least and greatest log standard deviation before the tanh, as in the authors' code."""


class SquashedGaussian(nn.Module):
    """Mean and standard deviation of a Gaussian before its tanh; a call returns the mean.

    The standard deviation has an output layer of its own. The greedy policy, which is the mean,
    therefore has as many parameters as a deterministic policy.
    """

    def __init__(
        self, inputs: int, hidden: tuple[int, ...], outputs: int, *, agents: int = 0
    ) -> None:
        """Draw the weights.

        Args:
            inputs: do.
            hidden: widths between.
            outputs: da.
            agents: n, where the policy reads which agent it acts for; 0 where it does not.
        """
        super().__init__()
        self.numbers: nn.Module = AgentNumbers(agents) if agents else nn.Identity()
        self.mean = mlp(inputs + agents, hidden, outputs)
        self.log_deviation = nn.Linear(hidden[-1], outputs)  # The name is a key of checkpoints.

    def forward(self, obs: Tensor) -> Tensor:
        """Return means [..., da] for observations [..., do]."""
        mean: Tensor = self.mean(self.numbers(obs))
        return mean

    @property
    def acting_parts(self) -> list[nn.Module]:
        """Networks of the mean, one after the other."""
        return [self.numbers, self.mean]

    def mean_and_log_std(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and log standard deviations, [..., da] each."""
        *body, head = self.mean
        features = self.numbers(obs)
        for layer in body:
            features = layer(features)
        return head(features), self.log_deviation(features).clamp(*LOG_STD_RANGE)

    def sample(
        self, obs: Tensor, noise: Tensor, own: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return actions [..., da] in [-1, 1] and their log-densities [...].

        Args:
            obs: [..., do].
            noise: [..., da], standard normal.
            own: [..., da], true for the numbers whose densities count; None for all.

        Source: Haarnoja et al. (2018), appendix C. Differs: log(1 - tanh(u)^2) is
            2 (log 2 - u - softplus(-2 u)). This does not round to minus infinity.
        """
        mean, log_std = self.mean_and_log_std(obs)
        raw_actions = mean + log_std.exp() * noise
        log_normal = -0.5 * (noise.square() + math.log(2.0 * math.pi)) - log_std
        log_jacobian = 2.0 * (math.log(2.0) - raw_actions - functional.softplus(-2.0 * raw_actions))
        # Appendix C: log pi(a | s) = log mu(u | s) - sum over i of log(1 - tanh(u_i)^2).
        log_density = log_normal - log_jacobian
        if own is not None:
            log_density = torch.where(own, log_density, 0.0)
        return torch.tanh(raw_actions), log_density.sum(dim=-1)


class SACModule(JointModule):
    """Stochastic policy, twin critics with target copies, and the temperature alpha."""

    actor: SquashedGaussian
    critic: TwinCritics

    def setup(self) -> None:
        """Build the networks, and the logarithm of alpha."""
        super().setup()
        if not self.inference_only:
            log_alpha = math.log(self.settings["initial_alpha"])
            self.log_alpha = nn.Parameter(torch.tensor(log_alpha))

    def build_actor(self) -> SquashedGaussian:
        """Return the policy."""
        agents = self.agents if self.settings.get("agent_id", False) else 0
        return SquashedGaussian(self.observation_size, self.hidden, self.action_size, agents=agents)

    def build_critics(self) -> TwinCritics:
        """Return both critics, over the state and joint actions."""
        return TwinCritics(self.state_size + self.agents * self.action_size, self.critic_hidden)

    def build_targets(self) -> dict[str, nn.Module]:
        """Return target copies of the critics; SAC has no target policy."""
        return {"critic": super().build_targets()["critic"]}

    def explore(
        self, observations: Tensor, memory: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Return actions drawn from the policy."""
        mean, log_std = self.actor.mean_and_log_std(observations)
        noise = torch.randn(memory.shape, generator=generator)
        return torch.tanh(mean + log_std.exp() * noise)

    def acting_modules(self) -> list[nn.Module]:
        """Return the means alone."""
        return [self.actor.mean]

    def get_non_inference_attributes(self) -> list[str]:
        """Return what only learning needs."""
        return [*super().get_non_inference_attributes(), "log_alpha"]
