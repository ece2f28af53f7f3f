"""What roles do in a found policy: who has them, who hears whom, and what either changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float, Seeds
from rolecast.envs.spec import BatchedTask
from rolecast.platform.rollout.held_out import DEVELOPMENT_SET, HeldOut, held_out_seeds
from rolecast.platform.rollout.rollout import rollout
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.hom.trace import HomTrace, specialisation, trace
from rolecast.policies.protocol import Policy

ROLE_EPISODES: Final = 50
"""Held-out episodes of a compiled task over which roles are measured; one of any other task."""

ROLE_OBSERVATIONS: Final = 500
"""Joint observations of these episodes."""

SHOWN_STEPS: Final = 60
"""Most steps of the episode that is shown."""

SHOWN_EDGES: Final = 5000
"""Edges of all these steps, about: large teams show fewer steps, LEAST_STEPS at least."""

LEAST_STEPS: Final = 10

SHOWN_ACTIONS: Final = 60
"""Most joint actions that are drawn as points."""

PLOT_AXES: Final = 2
"""Of the picture of actions."""


@dataclass(frozen=True, kw_only=True)
class RoleMeasures:
    """Figure 6 of the paper as numbers: of a policy `hom` with n agents."""

    specialisation: float | None
    """Share of the variance of actions that the role explains; None where all are alike."""

    changed_roles: float
    """Share of agents that have another role than a step before, in the episode shown."""

    connectivity_mean: float
    """Mean weight of the edges between two roles."""

    connectivity_std: float
    """Standard deviation over observations of the mean weight of a joint observation."""

    message_effect: float | None
    """Root mean square change of actions by messages, in standard deviations of actions; None
    where these are alike."""

    steps: tuple[int, ...]
    """[S], of the episode shown."""

    role_of_agent: tuple[tuple[int, ...], ...]
    """[S, n]."""

    edges: tuple[tuple[tuple[float, ...], ...], ...]
    """[S, n, n], weight of what role i (second axis) hears of role l."""

    explained: tuple[float, ...]
    """Share of the variance of actions along each axis of the points, two at most."""

    points: tuple[tuple[tuple[float, ...], ...], ...]
    """[K, n], of each joint action and role: the action's place on each axis, and then that
    without messages. The axes are the principal components of actions, or actions of one or two
    numbers themselves."""

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return what was stored as `asdict`."""
        return cls(**{name: _in_tuples(value) for name, value in values.items()})


def measured_roles(task: BatchedTask, policy: Policy, weights: Float) -> RoleMeasures | None:
    """Measure the roles of a policy with weights [D]; None where there are none.

    Args:
        task: from `make_task`.
        policy: for a task of these sizes.
        weights: the policy's own.
    """
    if not isinstance(policy, HomPolicy) or policy.model.agents == 1:
        return None
    seeds = held_out_seeds(DEVELOPMENT_SET, HeldOut.seed, ROLE_EPISODES)
    # Of an episode alone, all observations are kept.
    episode = _observations(task, policy, weights, seeds[:1], task.spec.horizon)
    sample = episode
    if hasattr(task, "lanes"):
        sample = _observations(task, policy, weights, seeds, ROLE_OBSERVATIONS)
    shown, drawn = trace(policy, weights, episode), trace(policy, weights, sample)
    n = policy.model.agents
    most = min(SHOWN_STEPS, max(LEAST_STEPS, SHOWN_EDGES // n**2))
    steps = np.unique(np.linspace(0, len(episode) - 1, most).astype(int))
    changed = shown.role_of_agent[1:] != shown.role_of_agent[:-1]
    between = drawn.edges[:, ~np.eye(n, dtype=bool)].mean(axis=1)
    explained, points = _points(drawn)
    return RoleMeasures(
        specialisation=specialisation(policy, weights, sample),
        changed_roles=float(changed.mean()) if changed.size else 0.0,
        connectivity_mean=float(between.mean()),
        connectivity_std=float(between.std()),
        message_effect=_message_effect(drawn),
        steps=tuple(steps.tolist()),
        role_of_agent=_nested(shown.role_of_agent[steps]),
        edges=_nested(shown.edges[steps].round(3)),
        explained=tuple(explained.tolist()),
        points=_nested(points.round(4)),
    )


def _observations(
    task: BatchedTask, policy: Policy, weights: Float, seeds: Seeds, record: int
) -> Float:
    found = rollout(task, policy, weights[None], seeds, record=record).observations
    assert found is not None, "some were asked for"
    return found


def _message_effect(drawn: HomTrace) -> float | None:
    spread = float(drawn.actions.var(axis=(0, 1)).sum())
    change = float(np.square(drawn.actions - drawn.unheard).sum(axis=2).mean())
    return (change / spread) ** 0.5 if spread > 1e-12 else None


def _points(drawn: HomTrace) -> tuple[Float, Float]:
    """Return variance shares [A] and points [K, n, 2 A], A <= 2: actions, and without messages."""
    rows = drawn.actions.reshape(-1, drawn.actions.shape[2])
    middle, axes = np.zeros(rows.shape[1]), np.eye(rows.shape[1])
    if rows.shape[1] > PLOT_AXES:
        middle = rows.mean(axis=0)
        axes = np.linalg.svd(rows - middle, full_matrices=False)[2][:PLOT_AXES].T
    total = rows.var(axis=0).sum()
    shares = ((rows - middle) @ axes).var(axis=0) / total if total else np.zeros(axes.shape[1])
    kept = np.unique(np.linspace(0, len(drawn.actions) - 1, SHOWN_ACTIONS).astype(int))
    both = [(each[kept] - middle) @ axes for each in (drawn.actions, drawn.unheard)]
    return shares, np.concatenate(both, axis=2)


def _nested(values: NDArray[Any]) -> tuple[Any, ...]:
    """Return an array as tuples in tuples."""
    return tuple(_in_tuples(values.tolist()))


def _in_tuples(values: Any) -> Any:
    """Return lists in lists as tuples in tuples, and what is no list as it is."""
    return tuple(map(_in_tuples, values)) if isinstance(values, list) else values
