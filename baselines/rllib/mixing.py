"""How per-agent utilities become the value of a joint action: the factored critics of the field.

Sum (VDN), monotonic mixing (QMIX) and unconstrained mixing, each a module of the utilities and the
state. FACMAC, COMIX and COVDN so differ by one word.
"""

from typing import Final

from torch import Tensor, nn
from torch.nn import functional

from rolecast.baselines.rllib.module import JointModule
from rolecast.core.errors import ConfigError, require_known


class SumMixer(nn.Module):
    """The sum of the utilities; the state plays no part.

    Source: VDN, Sunehag et al. (2017).
    """

    def forward(self, utilities: Tensor, state: Tensor) -> Tensor:
        """Return joint values [B] of utilities [B, n]; state [B, S] is not used."""
        return utilities.sum(dim=-1)


class StateMixer(nn.Module):
    """A network of one hidden layer over the utilities, its weights made from the state.

    value = w2(s) . elu(W1(s) u + b1(s)) + v(s), where v has one hidden layer

    With absolute weights the value never falls when a utility rises, so every agent may act by its
    own utility. Without them any dependence can be expressed, and actors follow its gradient.

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
        self._monotonic = monotonic
        # All that reads the state is one product; of its outputs, each part has its use.
        self._parts = (hypernet or agents * embedding, hypernet or embedding, embedding, embedding)
        self.reader = nn.Linear(state_size, sum(self._parts))
        self.first = nn.Linear(hypernet, agents * embedding) if hypernet else None
        self.second = nn.Linear(hypernet, embedding) if hypernet else None
        self.value = nn.Linear(embedding, 1)

    def forward(self, utilities: Tensor, state: Tensor) -> Tensor:
        """Return joint values [B] of utilities [B, n] in states [B, S]."""
        first: Tensor
        second: Tensor
        first, second, bias, hidden = self.reader(state).split(self._parts, dim=-1)
        if self.first is not None and self.second is not None:
            first, second = self.first(first.relu()), self.second(second.relu())
        if self._monotonic:
            first, second = first.abs(), second.abs()
        weights = first.view(len(first), utilities.shape[-1], -1)
        mixed: Tensor = functional.elu((utilities.unsqueeze(-1) * weights).sum(dim=-2) + bias)
        own: Tensor = self.value(hidden.relu()).squeeze(-1)
        return (mixed * second).sum(dim=-1) + own


MIXER_NAMES: Final = ("monotonic", "nonmonotonic", "sum")
"""Names of mixers."""


def make_mixer(
    name: str, *, agents: int, state_size: int, embedding: int, hypernet: int
) -> nn.Module:
    """Return a mixer: a module from utilities [B, n] and states [B, S] to values [B].

    Raises:
        RequestError: no mixer has this name, or a size is out of its range.
    """
    require_known("mixer", [name], MIXER_NAMES)
    if name == "sum":
        return SumMixer()
    return StateMixer(
        agents, state_size, embedding=embedding, hypernet=hypernet, monotonic=name == "monotonic"
    )


def mixer_of(net: JointModule) -> nn.Module:
    """Return a fresh mixer as the settings of a module have it."""
    return make_mixer(
        net.settings["mixer"],
        agents=net.agents,
        state_size=net.state_size,
        embedding=net.settings["mixing_embedding"],
        hypernet=net.settings["mixing_hypernet"],
    )
