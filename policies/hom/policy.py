"""Algorithm 3: role assignment, role interaction, and for each agent the action of its role.

Roles and edges are computed at every step from the observations alone: the policy has no memory.
This is the readable float64 reference of the compiled form in `fused`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rolecast.core.types import Float
from rolecast.policies.hom.assignment import Index, assign_roles
from rolecast.policies.hom.interaction import Layers, role_actions
from rolecast.policies.hom.model import HomModel
from rolecast.policies.network import check_shapes, forward, squashed, unpack
from rolecast.policies.protocol import LanePolicy
from rolecast.policies.space import ParameterSpace

if TYPE_CHECKING:
    from torch import Tensor


class HomPolicy:
    """Policy `hom`; see `rolecast.policies.protocol.Policy`."""

    name = "hom"

    def __init__(self, model: HomModel, space: ParameterSpace, options: Mapping[str, Any]) -> None:
        self.model, self.space, self.options = model, space, options

    def act(self, weights: Float, observations: Float) -> Float:
        """Return actions [P, B, n, da] for weights [P, D] and observations [P, B, n, do].

        Raises:
            ValueError: a shape does not fit.
        """
        model = self.model
        weights, observations = check_shapes(
            weights,
            observations,
            parameters=self.space.size,
            agents=model.agents,
            observation_size=model.observation_size,
        )
        observations = np.clip(observations, -model.observation_clip, model.observation_clip)
        layers = unpack(weights, model.nets)
        if not model.role_assignment:
            return self.squashed(role_actions(model, layers, observations))
        agent_of_role = roles(model, layers, observations)
        states = np.take_along_axis(observations, agent_of_role[..., None], axis=2)
        of_roles = self.squashed(role_actions(model, layers, states))
        role_of_agent = np.argsort(agent_of_role, axis=2)
        return np.take_along_axis(of_roles, role_of_agent[..., None], axis=2)

    def squashed(self, outputs: Float) -> Float:
        """Return actions of what the update net gives: times the gain, through tanh."""
        return squashed(outputs, self.model.settings.output_gain)

    @property
    def remark(self) -> str | None:
        """A sentence for one agent, whose roles and messages have no use; else None."""
        if self.model.agents > 1:
            return None
        update = self.space.nets["update"]
        return (
            "policy hom has one agent here, whose roles and messages have no use: "
            f"{update.stop - update.start} of its {self.space.dimension} parameters can act; "
            "expected --policy linear or mlp"
        )

    def relaxed_act(
        self,
        weights: "Tensor",
        observations: "Tensor",
        *,
        role_temperature: float = 0.1,
        edge_temperature: float = 1.0,
        sweeps: int = 20,
    ) -> "Tensor":
        """Return actions [S, n, da], twice differentiable in weights [D], for [S, n, do].

        See `rolecast.policies.hom.relaxation.relaxed_actions`.
        """
        from rolecast.policies.hom.relaxation import relaxed_actions

        return relaxed_actions(
            self.model,
            weights,
            observations,
            role_temperature=role_temperature,
            edge_temperature=edge_temperature,
            sweeps=sweeps,
        )

    def lanes(self) -> LanePolicy:
        """Return the compiled form."""
        from rolecast.policies.hom.fused import HomLanes

        return HomLanes(self.model)


def roles(model: HomModel, layers: Layers, observations: Float) -> Index:
    """Return the agent of each role, [P, B, n], for observations [P, B, n, do] (Algorithm 1).

    One shared net has an agent's observation and a role's code as inputs. The assignment is thus
    equivariant to permutations of agents. Differs: the notation of the paper has a net for each
    role; its parameter counts have one.
    """
    P, B, n, size = observations.shape
    codes = model.role_codes
    inputs = np.empty((P, B, n, n, size + codes.shape[1]))
    inputs[..., :size] = observations[:, :, None, :, :]
    inputs[..., size:] = codes[None, None, :, None, :]
    affinity = forward(layers["role"], inputs)[..., 0]
    return assign_roles(affinity.reshape(P * B, n, n)).reshape(P, B, n)
