"""Settings of `hom`: sizes of its nets, roles, rounds of messages."""

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np

from rolecast.core.errors import ConfigError
from rolecast.core.validation import POSITIVE_INTEGER, check
from rolecast.envs.spec import TaskSpec
from rolecast.policies.hom.coupling import coupled
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.hom.symmetry import moved, net_symmetries
from rolecast.policies.parameterisation import (
    PolicySettings,
    net_blocks,
    require_choice,
    require_positive,
)

HIDDEN_WIDTHS: Final = MappingProxyType({"med": (4, 4), "sm": (2,)})
"""Hidden widths by size. "Three layers of four" in the paper count the output layer."""

INTERACTION_CENTRES: Final = ("saddle", "coupled")
EDGE_KINDS: Final = ("hard", "soft")
MESSAGE_INPUTS: Final = ("hidden", "observation")


@dataclass(frozen=True, kw_only=True)
class HomConfig(PolicySettings):
    """Higher-order model (HOM): role assignment, role interaction and messages, by small nets."""

    size: Literal["med", "sm"] = "med"
    """Size of each net: "med", two hidden layers of 4; "sm", one hidden layer of 2."""

    role_assignment: bool | None = None
    """Role assignment by a net at every step; without it role i is agent i. None: on, but off for
    tasks with equal agents (`pred_prey_N`). With "table3" it is off for `het_pred_prey_N` too, as
    in the parameter counts of the paper."""

    role_interaction: bool = True
    """Messages between roles; without them the update net gives the action, in one round."""

    rounds: int = 2
    """Number of message rounds tau, not stated in the paper. From 2 on, the message of a role can
    depend on observations of other roles."""

    self_edges: bool = False
    """Self edges: a role may send to itself, as Algorithm 2 is printed."""

    interaction: Literal["saddle", "coupled"] = "saddle"
    """Centre of edges and messages. "saddle": no edge, messages of 0 that nobody reads, as the
    middle of the paper's cube. "coupled": every role hears every other, and reads its messages."""

    coupling: float = 1.0
    """Weight of h + m in the update net at the coupled centre."""

    edges: Literal["hard", "soft"] = "hard"
    """How a message counts. "hard": whole, if the affinity of its edge is above 0, as in the paper.
    "soft": times the sigmoid of four times the affinity, so that edges have a slope."""

    message_width: int | None = None
    """Width of h and of a message, at least the action size; None: the action size, as in the
    paper. The number of parameters grows with it."""

    message_reads: Literal["hidden", "observation"] = "hidden"
    """Input of the message net beside the codes of both roles: "hidden", their h, or
    "observation", what the sender sees. "hidden" is the paper's; h is 0 in the first round."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("HomConfig.size", self.size, tuple(HIDDEN_WIDTHS))
        if self.role_assignment is not None:
            _require_bool("HomConfig.role_assignment", self.role_assignment)
        _require_bool("HomConfig.role_interaction", self.role_interaction)
        _require_bool("HomConfig.self_edges", self.self_edges)
        check("HomConfig", vars(self), {"rounds": POSITIVE_INTEGER})
        require_choice("HomConfig.interaction", self.interaction, INTERACTION_CENTRES)
        require_choice("HomConfig.edges", self.edges, EDGE_KINDS)
        require_choice("HomConfig.message_reads", self.message_reads, MESSAGE_INPUTS)
        require_positive("HomConfig.coupling", self.coupling)
        if self.message_width is not None:
            check("HomConfig", vars(self), {"message_width": POSITIVE_INTEGER})

    def build(self, task: TaskSpec, seed: int) -> HomPolicy:
        """Return the policy for a task of these sizes; the seed decides its centre."""
        task = self.informed(task)
        roles = self.role_assignment
        if roles is None:
            roles = not task.homogeneous_agents
            if self.parameterisation == "table3":
                roles = roles and task.role_net_in_table3
        settings = self.resolve(task, 10.0, "identity")
        interacting = self.interaction == "coupled" and self.role_interaction
        if interacting and "message" not in (self.ranges or {}):
            settings = replace(settings, ranges={**settings.ranges, "message": 1.0})
        width = task.action_size
        if self.message_width is not None and self.role_interaction:
            width = self.message_width
        if width < task.action_size:
            expected = f"at least {task.action_size}, the action size of {task.id}"
            raise ConfigError("HomConfig.message_width", width, expected)
        model = HomModel(
            agents=task.agents,
            observation_size=task.observation_size,
            action_size=task.action_size,
            message_width=width,
            message_reads=self.message_reads,
            soft_edges=self.edges == "soft",
            coupling=float(self.coupling) if interacting else None,
            hidden=HIDDEN_WIDTHS[self.size],
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
            "interaction": self.interaction,
            "coupling": float(self.coupling),
            "edges": self.edges,
            "message_width": width,
            "message_reads": self.message_reads,
            **self.recorded(settings, seed),
        }
        followed = [one for one in task.symmetries if roles or not one.exchanges_agents]
        moves = [net_symmetries(model, symmetry) for symmetry in followed]
        rng = np.random.default_rng(seed)
        blocks = [
            coupled(block, model)
            for net in model.nets
            for block in net_blocks(net, settings, rng, [nets[net.name] for nets in moves])
        ]
        space = self.space(blocks, [moved(model, nets) for nets in moves])
        return HomPolicy(model, space, options)


def _require_bool(name: str, value: object) -> None:
    """Raise ConfigError unless value is true or false."""
    if not isinstance(value, bool):
        raise ConfigError(name, value, "true or false")
