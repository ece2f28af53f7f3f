"""The four small nets of `hom`, with their inputs and sizes.

Sizes follow the paper's Table 3: with "table3" every count comes out, but for two cells that
follow no common rule: Multiagent-Swimmer 12 (paper 244, here 272) and PredPrey 9 (373, here 393).
"""

from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float
from rolecast.policies.parameterisation import Net, Parameterisation


@dataclass(frozen=True, kw_only=True)
class HomModel:
    """All that the three faces of the policy need: sizes, switches, gain."""

    agents: int
    """n, agents and roles."""

    observation_size: int
    """do."""

    action_size: int
    """da; also the size of a role's hidden vector h and of a message."""

    hidden: tuple[int, ...]
    """Widths of the hidden layers of every net; all equal, one or two of them."""

    role_assignment: bool
    """Whether there is a role net; if not, role i is agent i."""

    role_interaction: bool
    """Whether there are edges and messages."""

    rounds: int
    """tau."""

    self_edges: bool
    """Whether role i may be its own neighbour."""

    observation_clip: float
    """Bound of what enters the nets."""

    settings: Parameterisation
    """Centre, ranges, and the gain before the last tanh."""

    @property
    def bits(self) -> int:
        """b, bits of a role's binary code: ceil(log2 n)."""
        return (self.agents - 1).bit_length()

    @property
    def codes(self) -> Float:
        """Binary codes [n, b] of the roles, 0 or 1, lowest bit first."""
        return ((np.arange(self.agents)[:, None] >> np.arange(self.bits)) & 1).astype(np.float64)

    @property
    def role_codes(self) -> Float:
        """What the role net reads of a role, [n, 2b]: its code and the code's complement.

        The paper counts 2b code inputs of this net and does not say what they are. With the
        complement every role sets exactly b of them, so none is special.
        """
        return np.concatenate([self.codes, 1.0 - self.codes], axis=1)

    @property
    def nets(self) -> tuple[Net, ...]:
        """The small nets in the order of the parameter vector: role, edge, message, update.

        Differs: equation 3 gives the update net both h and m, which costs 4 da more than Table 3
        counts; here it reads their sum.
        """
        obs, code = _named("obs", self.observation_size), _named("role code", self.bits)
        hidden = _named("h", self.action_size)
        parts: list[tuple[str, tuple[str, ...], int]] = []
        if self.role_assignment:
            complement = _named("role code complement", self.bits)
            parts.append(("role", obs + code + complement, 1))
        if self.role_interaction:
            parts.append(("edge", obs + _other(obs) + code + _other(code), 1))
            messages = hidden + _other(hidden) + code + _other(code)
            parts.append(("message", messages, self.action_size))
        parts.append(("update", obs + code + _named("h+m", self.action_size), self.action_size))
        return tuple(
            Net(name=name, inputs=inputs, hidden=self.hidden, outputs=outputs)
            for name, inputs, outputs in parts
        )


def _named(what: str, count: int) -> tuple[str, ...]:
    """Name `count` input columns."""
    return tuple(f"{what}[{k}]" for k in range(count))


def _other(names: tuple[str, ...]) -> tuple[str, ...]:
    """Name the same columns of the sending role."""
    return tuple(f"neighbour {name}" for name in names)
