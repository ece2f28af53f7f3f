"""Arithmetic of one step in C, counted from the sizes of a policy: no input makes it longer.

What a first layer of a team on one device makes of a code alone is a constant in float32, and is
none of it. In integers it is computed.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import comb

from rolecast.policies.export.tables import interacts
from rolecast.policies.hom.assignment import SUBSET_LIMIT
from rolecast.policies.hom.policy import HomPolicy
from rolecast.policies.mlp import MlpPolicy


@dataclass(frozen=True, kw_only=True)
class StepCost:
    """Most operations of one step, of the whole team or of one agent."""

    multiply_adds: int
    """Products of a weight and an input, each added to a sum. A bias that has an input of 1, as of
    first layers, is one; that of a later layer in integers is shifted, and none."""

    tanhs: int
    """Values of tanh: each 11 products, 9 sums, one division; with roles 13 products, 11 sums; in
    integers one product and four sums, from a table."""

    comparisons: int
    """Comparisons of the role assignment."""


def step_cost(policy: HomPolicy | MlpPolicy, *, integers: bool = False) -> StepCost:
    """Return the most operations of a team step of a policy, in float32 or in integers."""
    if isinstance(policy, MlpPolicy):
        widths = policy.net.widths
        products = sum(a * b for a, b in pairwise(widths))
        n = policy.agents
        return StepCost(multiply_adds=n * products, tanhs=n * sum(widths[1:]), comparisons=0)
    model = policy.model
    n, width, depth = model.agents, model.hidden[0], len(model.hidden)
    size, bits, state = model.observation_size, model.bits, model.message_width
    heard = n * n if model.self_edges else n * (n - 1)
    # Edges of a role to itself are computed with its affinity in float32, and not read.
    pairs = n * n if model.role_assignment and not integers else heard

    def finish(outputs: int) -> int:
        return (width * width if depth == 2 else 0) + width * outputs

    products = model.rounds * n * (width * (1 + size + bits + state) + finish(state))
    tanhs = model.rounds * n * depth * width + n * model.action_size
    comparisons = 0
    if interacts(model):
        read = (size + bits) if model.message_reads == "observation" else 2 * (state + bits)
        messages = n * width * (1 + read) + heard * (finish(state) + model.soft_edges * state)
        products += n * width * (1 + 2 * (size + bits)) + pairs * finish(1)
        products += model.rounds * messages
        if integers and model.message_reads == "observation":
            products += model.rounds * n * width * bits
        tanhs += (pairs + model.rounds * heard) * depth * width + model.soft_edges * n * n
    if model.role_assignment:
        products += n * width * (1 + size) + n * n * finish(1)
        products += n * width * 2 * bits if integers else 0
        tanhs += n * n * depth * width
        comparisons = _assignment_comparisons(n)
    return StepCost(multiply_adds=products, tanhs=tanhs, comparisons=comparisons)


def agent_step_cost(policy: HomPolicy | MlpPolicy) -> StepCost:
    """Return the most operations of a step of one agent that computes alone.

    An agent of `hom` chooses the roles of the whole team, and computes its own row of edges and
    messages.
    """
    if isinstance(policy, MlpPolicy):
        team, n = step_cost(policy), policy.agents
        return StepCost(multiply_adds=team.multiply_adds // n, tanhs=team.tanhs // n, comparisons=0)
    model = policy.model
    n, width, depth = model.agents, model.hidden[0], len(model.hidden)
    size, bits, state = model.observation_size, model.bits, model.message_width
    heard = n if model.self_edges else n - 1

    def finish(outputs: int) -> int:
        return (width * width if depth == 2 else 0) + width * outputs

    products = model.rounds * (width * (1 + size + bits + state) + finish(state))
    nets = model.rounds  # evaluations of a net, each with `depth` hidden layers
    tanhs = model.action_size
    if interacts(model):
        products += width * (1 + 2 * (size + bits)) + heard * finish(1)
        nets += heard
        if model.message_reads == "observation":
            products += width * (1 + size + 2 * bits) + heard * finish(state)
            nets += heard
        else:
            messages = n + (model.rounds - 1) * heard  # of the first round, of all roles
            products += model.rounds * width * (1 + state + bits)
            products += messages * (width * (state + bits) + finish(state))
            nets += messages
        if model.soft_edges:
            products += model.rounds * heard * state
            tanhs += heard
    if model.role_assignment:
        products += width * size + n * (width * (1 + 2 * bits) + finish(1))
        nets += n
    return StepCost(
        multiply_adds=products,
        tanhs=tanhs + nets * depth * width,
        comparisons=_assignment_comparisons(n) if model.role_assignment else 0,
    )


def _assignment_comparisons(n: int) -> int:
    """Return the most comparisons of a role assignment of n agents."""
    subsets = sum(comb(n, r) * (n - r) for r in range(n)) + n * (n + 1) // 2
    return subsets if n <= SUBSET_LIMIT else 4 * n * n * n
