"""The cross-entropy method: how a critic of continuous actions, without an actor, chooses one.

All rows (agents and observations) and all samples are one batch. Random numbers are an argument:
the same numbers give the same action, and a greedy policy is one fixed draw.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rolecast.core.errors import ConfigError
from rolecast.core.validation import POSITIVE_INTEGER, at_least, check


@dataclass(frozen=True, kw_only=True)
class CrossEntropySettings:
    """How hard the maximum is looked for.

    Source of the defaults: COMIX, Peng et al. (2020, arXiv 2003.06709v1, appendix; and its code).
    """

    samples: int = 64
    """K, actions drawn in each iteration."""

    elites: int = 6
    """Best actions of an iteration, to which the next one's distribution is fitted."""

    iterations: int = 2
    """Rounds of drawing and fitting."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check(owner, vars(self), {"iterations": POSITIVE_INTEGER, "elites": at_least(2)})
        if not at_least(self.elites).allows(self.samples):
            expected = f"an integer >= elites ({self.elites})"
            raise ConfigError(f"{owner}.samples", self.samples, expected)

    def draw(self, action_size: int, generator: torch.Generator | None, rows: int = 1) -> Tensor:
        """Return the standard normal numbers [iterations, K, rows, da] of one search.

        Args:
            action_size: da.
            generator: where they come from; None for torch's own.
            rows: 1 to give all rows the same numbers, which is K * da instead of K * da * rows.
        """
        shape = (self.iterations, self.samples, rows, action_size)
        return torch.randn(shape, generator=generator)


@torch.no_grad()
def best_actions(
    value: Callable[[Tensor], Tensor], noise: Tensor, *, rows: int, elites: int
) -> Tensor:
    """Look for the action of highest value in each of M rows.

    The first actions are tanh of standard normal numbers. A later round draws from a normal
    distribution with the elites' mean and standard deviation before tanh.

    Args:
        value: from actions [K, M, da] in [-1, 1] to their values [K, M].
        noise: [iterations, K, 1 or M, da], from `CrossEntropySettings.draw`.
        rows: M.
        elites: best actions to which the next round's distribution is fitted, at least 2.
    Returns:
        [M, da], the best action of the last round.
    Source: de Boer et al. (2005); as in COMIX, Peng et al. (2020), and QT-Opt before it.
    """
    mean = noise.new_zeros((rows, noise.shape[-1]))
    std = torch.ones_like(mean)
    for round_, numbers in enumerate(noise):
        latent = mean + std * numbers
        actions = torch.tanh(latent)
        values = value(actions)
        if round_ + 1 < len(noise):
            top = values.topk(elites, dim=0).indices
            chosen = latent.gather(0, top.unsqueeze(-1).expand(-1, -1, latent.shape[-1]))
            mean, std = chosen.mean(dim=0), chosen.std(dim=0)
    best = values.argmax(dim=0)
    return actions[best, torch.arange(rows, device=actions.device)]
