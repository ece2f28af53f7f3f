"""What a search in a causal graph is measured by: expected rewards, and what its incumbent sets."""

from collections.abc import Mapping, Sequence

import numpy as np

from rolecast.core.types import Float
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.problem import HasCausalGraph, HasCausalProblem
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.platform.search.records.history import Batch
from rolecast.policies.protocol import Policy


def expected_rewards(
    task: BatchedTask, policy: Policy, batches: Sequence[Batch]
) -> tuple[tuple[float, ...], bool]:
    """Return E[Y | a] of every evaluation of a causal graph; none for other searches.

    Args:
        task: of the run.
        policy: whose action is the intervention.
        batches: with their candidates where the simulator is known.
    Returns:
        The rewards, and whether they are those that were observed, as no simulator is known.
    """
    nodes = any(batch.nodes for batch in batches)
    known, below = None, unwrapped(task)
    if isinstance(below, HasCausalProblem) and batches:
        weights = [policy.space.weights(each.candidates, each.statistics) for each in batches]
        points = np.concatenate([_interventions(policy, found) for found in weights])
        known = below.problem.expected_rewards(points)
    elif not nodes:
        return (), False
    rewards = np.concatenate([batch.means for batch in batches]) if known is None else known
    return tuple(rewards.tolist()), known is None


def _interventions(policy: Policy, weights: Float) -> Float:
    """Return the points [q, D] of the intervention space that weights [q, P] choose.

    An episode of a causal task has one step, whose observation is 0.
    """
    actions = policy.act(weights, np.zeros((len(weights), 1, 1, 1)))
    return np.asarray(np.clip(0.5 * (actions[:, 0, 0] + 1.0), 0.0, 1.0))


def found_intervention(
    task: BatchedTask, policy: Policy, batches: Sequence[Batch]
) -> dict[str, float] | None:
    """Return what the last incumbent sets, by name; None of a task without a causal graph.

    Args:
        task: of the run.
        policy: whose action is the intervention.
        batches: of the run.
    """
    below = unwrapped(task)
    if not isinstance(below, HasCausalGraph) or not batches:
        return None
    weights = policy.space.weights(batches[-1].incumbent, batches[-1].statistics)
    return InterventionSpace(below.graph).named_values(_interventions(policy, weights[None])[0])


def intervention_text(values: Mapping[str, float]) -> str:
    """Return an intervention in words.

    >>> intervention_text({"X1": -5.0, "dose": 1 / 3})
    'X1 = -5, dose = 0.3333'
    """
    return ", ".join(f"{name} = {value:.4g}" for name, value in values.items()) or "none"
