"""A squashed Gaussian's draws and their gradients by hand; see `joint/tight_mlp.py`."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.tight_mlp import Kept, TightMLP
from rolecast.baselines.sac.module import LOG_DEVIATIONS, SquashedGaussian


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
