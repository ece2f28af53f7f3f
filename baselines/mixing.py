"""How per-agent utilities become the value of a joint action: the factored critics of the field.

Sum (VDN), monotonic mixing (QMIX) and unconstrained mixing, each a module of the utilities and the
state, so that FACMAC, COMIX and COVDN differ by one word.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from rolecast.envs.errors import ConfigError, unknown_name


class SumMixer(nn.Module):
    """The sum of the utilities; the state plays no part.

    Source: VDN, Sunehag et al. (2017).
    """

    def forward(self, utilities: Tensor, state: Tensor) -> Tensor:
        """Return joint values [B] of utilities [B, n]; state [B, S] is not used."""
        return utilities.sum(dim=-1)


class StateMixer(nn.Module):
    """A network of one hidden layer over the utilities, its weights made from the state.

    value = w2(s) . elu(W1(s) u + b1(s)) + v(s)

    With absolute weights the value never falls when a utility rises, so that every agent may act
    for itself; without them it can express any dependence, and only an actor that follows its
    gradient can use it.

    Source: QMIX, Rashid et al. (2018); without the constraint: FACMAC-nonmonotonic, Peng et al.
    (2021, section 4.1).
    """

    def __init__(
        self, agents: int, state_size: int, *, embedding: int, hypernet: int, monotonic: bool
    ) -> None:
        """Make the networks that make the weights.

        Args:
            agents: n.
            state_size: S.
            embedding: hidden units of the mixing network.
            hypernet: hidden units between state and mixing weights; 0 for a linear map.
            monotonic: take absolute values of the mixing weights.

        Raises:
            ConfigError: a size is not a positive integer.
        """
        super().__init__()
        for field, size, least in (
            ("agents", agents, 1),
            ("state_size", state_size, 1),
            ("embedding", embedding, 1),
            ("hypernet", hypernet, 0),
        ):
            if type(size) is not int or size < least:
                raise ConfigError(f"StateMixer.{field}", size, f"an integer >= {least}")
        self._agents, self._embedding, self._monotonic = agents, embedding, monotonic
        self.first_weight = _hypernet(state_size, hypernet, agents * embedding)
        self.first_bias = nn.Linear(state_size, embedding)
        self.second_weight = _hypernet(state_size, hypernet, embedding)
        self.second_bias = _hypernet(state_size, embedding, 1)

    def forward(self, utilities: Tensor, state: Tensor) -> Tensor:
        """Return joint values [B] of utilities [B, n] in states [B, S]."""
        first, second = self.first_weight(state), self.second_weight(state)
        if self._monotonic:
            first, second = first.abs(), second.abs()
        first = first.view(-1, self._agents, self._embedding)
        hidden = torch.bmm(utilities.unsqueeze(1), first).squeeze(1) + self.first_bias(state)
        value: Tensor = (functional.elu(hidden) * second).sum(dim=-1)
        return value + self.second_bias(state).squeeze(-1)


def _hypernet(inputs: int, hidden: int, outputs: int) -> nn.Module:
    """Return a map from the state to weights, with one hidden layer unless `hidden` is 0."""
    if not hidden:
        return nn.Linear(inputs, outputs)
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def _state_mixer(*, monotonic: bool) -> Callable[[int, int, int, int], nn.Module]:
    def make(agents: int, state_size: int, embedding: int, hypernet: int) -> nn.Module:
        return StateMixer(
            agents, state_size, embedding=embedding, hypernet=hypernet, monotonic=monotonic
        )

    return make


MIXERS: Final[Mapping[str, Callable[[int, int, int, int], nn.Module]]] = MappingProxyType(
    {
        "monotonic": _state_mixer(monotonic=True),
        "nonmonotonic": _state_mixer(monotonic=False),
        "sum": lambda *_: SumMixer(),
    }
)
"""Mixers by name, from agents, state size, embedding and hypernet."""


def make_mixer(
    name: str, *, agents: int, state_size: int, embedding: int, hypernet: int
) -> nn.Module:
    """Return a mixer: a module from utilities [B, n] and states [B, S] to values [B].

    Raises:
        RequestError: no mixer has this name, or a size is out of its range.
    """
    if name not in MIXERS:
        raise unknown_name("mixer", name, MIXERS)
    return MIXERS[name](agents, state_size, embedding, hypernet)
