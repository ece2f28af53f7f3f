"""Settings of `hom`, and the four small nets that follow from them.

Sizes follow the paper's Table 3: with "table3" every count comes out, but for two cells that
follow no common rule: Multiagent-Swimmer 12 (paper 244, here 272) and PredPrey 9 (373, here 393).
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import COUNT, check
from rolecast.envs.spec import TaskSpec
from rolecast.policies.parameterisation import (
    Net,
    Parameterisation,
    PolicySettings,
    require_choice,
)

if TYPE_CHECKING:
    from rolecast.policies.hom.policy import HomPolicy

HIDDEN: Final = MappingProxyType({"med": (4, 4), "sm": (2,)})
"""Hidden widths by size. The paper's "three layers of four" counts the output layer."""


@dataclass(frozen=True, kw_only=True)
class HomConfig(PolicySettings):
    """Role assignment, role interaction and message passing among small shared nets (HOM)."""

    size: Literal["med", "sm"] = "med"
    """"med": two hidden layers of 4 in each net; "sm": one of 2."""

    role_assignment: bool | None = None
    """Whether a net assigns roles to agents at every step; if not, role i is agent i. None: on,
    but off for homogeneous predator-prey (`pred_prey_N`), and with "table3" for the
    heterogeneous one too, as the paper's counts have it."""

    role_interaction: bool = True
    """Whether roles exchange messages; if not, the action is the update net's, in one round."""

    rounds: int = 2
    """tau, rounds of messages. Silent in the paper; 2 is the least for which the message of a
    role can depend on what another role observes."""

    self_edges: bool = False
    """Whether a role may send to itself, as Algorithm 2 reads literally."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("HomConfig.size", self.size, tuple(HIDDEN))
        if self.role_assignment is not None:
            _require_bool("HomConfig.role_assignment", self.role_assignment)
        _require_bool("HomConfig.role_interaction", self.role_interaction)
        _require_bool("HomConfig.self_edges", self.self_edges)
        check("HomConfig", vars(self), {"rounds": COUNT})

    def build(self, task: TaskSpec, seed: int) -> "HomPolicy":
        """Return the policy for a task of these sizes; `seed` draws its centre."""
        from rolecast.policies.hom.policy import HomPolicy

        roles = self.role_assignment
        if roles is None:
            without = ("pred_prey", "het_pred_prey")
            roles = not task.id.startswith(
                without if self.parameterisation == "table3" else without[:1]
            )
        settings = self.resolve(10.0, "identity")
        model = HomModel(
            agents=task.agents,
            observation_size=task.observation_size,
            action_size=task.action_size,
            hidden=HIDDEN[self.size],
            role_assignment=roles,
            role_interaction=self.role_interaction,
            rounds=self.rounds if self.role_interaction else 1,
            self_edges=self.self_edges,
            observation_clip=float(self.observation_clip),
            settings=settings,
        )
        options = {
            "size": self.size,
            "role_assignment": roles,
            "role_interaction": self.role_interaction,
            "rounds": self.rounds,
            "self_edges": self.self_edges,
            "observation_clip": float(self.observation_clip),
            "parameterisation": self.parameterisation,
            "centre": settings.centre,
            "ranges": dict(settings.ranges),
            "output_gain": settings.output_gain,
            "seed": seed,
        }
        return HomPolicy(model, options)


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


def _require_bool(name: str, value: object) -> None:
    """Raise ConfigError unless value is true or false."""
    if not isinstance(value, bool):
        raise ConfigError(name, value, "true or false")
