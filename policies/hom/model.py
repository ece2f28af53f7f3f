"""Four small nets of `hom`, with their inputs and sizes.

Sizes follow Table 3 of the paper. With "table3" all counts are equal but two, which follow no
common rule: Multiagent-Swimmer 12 (paper 244, here 272) and PredPrey 9 (373, here 393).
"""

from dataclasses import dataclass

import numpy as np

from rolecast.core.types import Float
from rolecast.policies.parameterisation import Net, Parameterisation


@dataclass(frozen=True, kw_only=True)
class HomModel:
    """Sizes, switches and gain, shared by the three forms of the policy."""

    agents: int
    """Number n of agents and roles."""

    observation_size: int
    """Observation size do of an agent."""

    action_size: int
    """Action size da."""

    message_width: int
    """Size k of a role's hidden vector h and of a message; the first da of h are the action."""

    message_reads: str
    """Input of the message net: "hidden", h of both roles, or "observation", the sender's."""

    soft_edges: bool
    """Whether a message counts by the sigmoid of its edge's affinity, not by its sign."""

    coupling: float | None
    """Weight of h + m in the update net at a coupled centre; None: the centre is the saddle."""

    hidden: tuple[int, ...]
    """Widths of the hidden layers of every net; all equal, one or two of them."""

    role_assignment: bool
    """Whether there is a role net; without it role i is agent i."""

    role_interaction: bool
    """Whether there are edges and messages."""

    rounds: int
    """Number of message rounds tau."""

    self_edges: bool
    """Whether role i may be its own neighbour."""

    observation_clip: float
    """Bound of the inputs of the nets."""

    settings: Parameterisation
    """Centre, ranges, and the gain before the last tanh."""

    @property
    def bits(self) -> int:
        """Bits b of a role's binary code: ceil(log2 n)."""
        return (self.agents - 1).bit_length()

    @property
    def codes(self) -> Float:
        """Binary codes [n, b] of the roles, 0 or 1, lowest bit first."""
        return ((np.arange(self.agents)[:, None] >> np.arange(self.bits)) & 1).astype(np.float64)

    @property
    def role_codes(self) -> Float:
        """Code inputs [n, 2b] of the role net: a role's code and its complement.

        The paper counts 2b code inputs without a definition. With the complement every role sets
        exactly b of them, so that no role is special.
        """
        return np.concatenate([self.codes, 1.0 - self.codes], axis=1)

    @property
    def nets(self) -> tuple[Net, ...]:
        """Small nets in the order of the parameter vector: role, edge, message, update.

        Differs: equation 3 gives the update net both h and m, 4 da parameters more than Table 3
        counts. Here its input is their sum.
        """
        obs, code = _named("obs", self.observation_size), _named("role code", self.bits)
        hidden = _named("h", self.message_width)
        read = hidden + _other(hidden) if self.message_reads == "hidden" else _other(obs)
        parts: list[tuple[str, tuple[str, ...], int]] = []
        if self.role_assignment:
            complement = _named("role code complement", self.bits)
            parts.append(("role", obs + code + complement, 1))
        if self.role_interaction:
            parts.append(("edge", obs + _other(obs) + code + _other(code), 1))
            messages = read + code + _other(code)
            parts.append(("message", messages, self.message_width))
        update = obs + code + _named("h+m", self.message_width)
        parts.append(("update", update, self.message_width))
        return tuple(
            Net(name=name, inputs=inputs, hidden=self.hidden, outputs=outputs)
            for name, inputs, outputs in parts
        )


def _named(what: str, count: int) -> tuple[str, ...]:
    """Return names of `count` input columns."""
    return tuple(f"{what}[{k}]" for k in range(count))


def _other(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of the same columns of the sending role."""
    return tuple(f"neighbour {name}" for name in names)
