"""Settings of `hom`: sizes of its nets, roles, rounds of messages."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from rolecast.core.errors import ConfigError
from rolecast.core.validation import POSITIVE_INTEGER, check
from rolecast.envs.spec import TaskSpec
from rolecast.policies.hom.model import HomModel
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.parameterisation import PolicySettings, require_choice

HIDDEN_WIDTHS: Final = MappingProxyType({"med": (4, 4), "sm": (2,)})
"""Hidden widths by size. The paper's "three layers of four" counts the output layer."""


@dataclass(frozen=True, kw_only=True)
class HomConfig(PolicySettings):
    """Role assignment, role interaction and message passing among small shared nets (HOM)."""

    size: Literal["med", "sm"] = "med"
    """"med": two hidden layers of 4 in each net; "sm": one of 2."""

    role_assignment: bool | None = None
    """Whether a net assigns roles to agents at every step; if not, role i is agent i. None: on,
    but off where the task says that its agents are alike (`pred_prey_N`), and with "table3" for
    heterogeneous predator-prey too, as the paper's counts have it."""

    role_interaction: bool = True
    """Whether roles exchange messages; if not, the action is the update net's, in one round."""

    rounds: int = 2
    """tau, rounds of messages. Silent in the paper; 2 is the least for which the message of a
    role can depend on what another role observes."""

    self_edges: bool = False
    """Whether a role may send to itself, as Algorithm 2 reads literally."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice("HomConfig.size", self.size, tuple(HIDDEN_WIDTHS))
        if self.role_assignment is not None:
            _require_bool("HomConfig.role_assignment", self.role_assignment)
        _require_bool("HomConfig.role_interaction", self.role_interaction)
        _require_bool("HomConfig.self_edges", self.self_edges)
        check("HomConfig", vars(self), {"rounds": POSITIVE_INTEGER})

    def build(self, task: TaskSpec, seed: int) -> HomPolicy:
        """Return the policy for a task of these sizes; `seed` draws its centre."""
        roles = self.role_assignment
        if roles is None:
            roles = not task.homogeneous_agents
            if self.parameterisation == "table3":
                roles = roles and task.role_net_in_table3
        settings = self.resolve(10.0, "identity")
        model = HomModel(
            agents=task.agents,
            observation_size=task.observation_size,
            action_size=task.action_size,
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
            "observation_clip": float(self.observation_clip),
            "parameterisation": self.parameterisation,
            "centre": settings.centre,
            "ranges": dict(settings.ranges),
            "output_gain": settings.output_gain,
            "seed": seed,
        }
        return HomPolicy(model, options)


def _require_bool(name: str, value: object) -> None:
    """Raise ConfigError unless value is true or false."""
    if not isinstance(value, bool):
        raise ConfigError(name, value, "true or false")
