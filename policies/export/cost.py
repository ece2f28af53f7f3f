"""Arithmetic of one team step in C, counted from the sizes of a policy: no input makes it longer.

What a first layer makes of a code alone is a constant, and is none of it.
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
    """Most operations of one step of the whole team."""

    multiply_adds: int
    """Products of a weight and an input, each added to a sum. A bias that has an input of 1, as of
    first layers, is one."""

    tanhs: int
    """Values of tanh: each 11 products, 9 sums, one division; with roles 13 products, 11 sums."""

    comparisons: int
    """Comparisons of the role assignment."""


def step_cost(policy: HomPolicy | MlpPolicy) -> StepCost:
    """Return the most operations of a team step of a policy."""
    if isinstance(policy, MlpPolicy):
        widths = policy.net.widths
        products = sum(a * b for a, b in pairwise(widths))
        n = policy.agents
        return StepCost(multiply_adds=n * products, tanhs=n * sum(widths[1:]), comparisons=0)
    model = policy.model
    n, width, depth = model.agents, model.hidden[0], len(model.hidden)
    size, bits, state = model.observation_size, model.bits, model.message_width
    heard = n * n if model.self_edges else n * (n - 1)
    # Edges of a role to itself are computed with its affinity, and not read.
    pairs = n * n if model.role_assignment else heard

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
        tanhs += (pairs + model.rounds * heard) * depth * width + model.soft_edges * n * n
    if model.role_assignment:
        products += n * width * (1 + size) + n * n * finish(1)
        tanhs += n * n * depth * width
        subsets = sum(comb(n, r) * (n - r) for r in range(n)) + n * (n + 1) // 2
        comparisons = subsets if n <= SUBSET_LIMIT else 4 * n * n * n
    return StepCost(multiply_adds=products, tanhs=tanhs, comparisons=comparisons)
