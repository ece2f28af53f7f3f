"""What a HOM policy decides at each step: who has which role, who hears whom, what it changes.

Figure 6 of the paper shows the same of its policies: actions by role, and their change by messages.
"""

from dataclasses import dataclass, replace

import numpy as np

from rolecast.core.types import Float
from rolecast.policies.hom.assignment import Index
from rolecast.policies.hom.interaction import edges, role_actions
from rolecast.policies.hom.policy import HomPolicy, roles
from rolecast.policies.network import unpack


@dataclass(frozen=True, kw_only=True)
class HomTrace:
    """Decisions over S joint observations of n agents; roles are in their order."""

    agent_of_role: Index
    """[S, n]."""

    edges: Float
    """[S, n, n], weight of what role i (second axis) hears of role l; 0 without interaction."""

    actions: Float
    """[S, n, da], of roles, in [-1, 1]."""

    unheard: Float
    """[S, n, da], the same without messages."""

    @property
    def role_of_agent(self) -> Index:
        """[S, n]."""
        return np.argsort(self.agent_of_role, axis=1)


def trace(policy: HomPolicy, weights: Float, observations: Float) -> HomTrace:
    """Return what a policy of weights [D] decides at observations [S, n, do]."""
    model = policy.model
    layers = unpack(weights[None], model.nets)
    seen = np.clip(observations, -model.observation_clip, model.observation_clip)[None]
    agents = np.broadcast_to(np.arange(model.agents), seen.shape[:3])
    if model.role_assignment:
        agents = roles(model, layers, seen)
    states = np.take_along_axis(seen, agents[..., None], axis=2)
    alone = replace(model, role_interaction=False)
    none = np.zeros((*states.shape[1:3], model.agents))
    return HomTrace(
        agent_of_role=np.array(agents[0]),
        edges=edges(model, layers, states)[0] if model.role_interaction else none,
        actions=policy.squashed(role_actions(model, layers, states))[0],
        unheard=policy.squashed(role_actions(alone, layers, states))[0],
    )


def specialisation(policy: HomPolicy, weights: Float, observations: Float) -> float | None:
    """Return the share of the variance of actions that the role explains, in [0, 1].

    Each role acts, without messages, on each agent's observation. By the law of total variance,
    the variance of these actions is that of their means over the roles (what all roles share), and
    the mean variance between roles on one observation, whose share this is. 0: all roles act alike;
    1: the role alone decides.

    Args:
        policy: with two agents or more.
        weights: [D].
        observations: [S, n, do].
    Returns:
        None where all actions are alike.
    """
    model = replace(policy.model, role_interaction=False)
    layers = unpack(weights[None], policy.model.nets)
    rows = np.clip(observations, -model.observation_clip, model.observation_clip)
    each = np.repeat(rows.reshape(1, -1, 1, rows.shape[-1]), model.agents, axis=2)
    actions = policy.squashed(role_actions(model, layers, each))[0]
    total = float(actions.var(axis=(0, 1)).sum())
    between = float(actions.var(axis=1).mean(axis=0).sum())
    return between / total if total > 1e-12 else None
