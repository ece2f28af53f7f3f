"""Finds which parameters interact: Hessians of the policy, edges, maximal cliques.

Section 4.4 and appendices A and H of the DSS-GP-UCB paper. The return's own Hessian cannot be
observed; that of the policy's actions, over states met by running it, stands in for it. A zero
there does not imply a zero in the return's Hessian: a remainder stays, which is why the surrogate
keeps a common term over all dimensions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray

from rolecast.envs.errors import ConfigError
from rolecast.envs.spec import Float
from rolecast.policies.protocol import Policy

SCORES: Final = ("rms", "signed")
"""How Hessians are averaged: root mean square, or the paper's signed sum."""


@dataclass(frozen=True, kw_only=True)
class Structure:
    """Edges between parameters and the cliques they form."""

    edges: NDArray[np.int64]
    """[E, 2], pairs a < b, strongest first."""

    strengths: Float
    """[E], scores of the edges."""

    cliques: tuple[tuple[int, ...], ...]
    """Every dimension is in at least one."""

    left_out: int
    """Maximal cliques beyond the cap, whose pairs the surrogate does not see as such."""

    def summary(self, dimension: int) -> dict[str, Any]:
        """Return counts for the log and the report."""
        sizes = [len(clique) for clique in self.cliques]
        return {
            "edge_count": len(self.edges),
            "edge_share": len(self.edges) / max(dimension * (dimension - 1) / 2, 1),
            "clique_count": len(self.cliques),
            "largest_clique": max(sizes),
            "isolated": sizes.count(1),
            "cliques_left_out": self.left_out,
        }


def hessian_scores(
    policy: Policy, weights: Float, observations: Float, *, score: str, seed: int
) -> Float:
    """Return how strongly each pair of parameters interacts in the policy's actions, [D, D].

    In units of the cube: an entry is the second derivative of an action, for moves along two
    edges of the cube. "rms" averages squares over policies, states and action components by
    Hessians of random signs of the components: the square of such a Hessian is, on average, the
    sum of the components' squares, so one Hessian a policy is enough. "signed" averages the
    entries themselves and loses the pairs whose sign changes with a third weight.

    Args:
        policy: with `relaxed_act`.
        weights: [T, D], policies around which to look.
        observations: [S, n, do], states met; each policy takes its share of them.
        score: one of `SCORES`.
        seed: of the random signs.
    Raises:
        ConfigError: there are fewer states than policies.
    """
    if len(observations) < len(weights):
        expected = f"at least {len(weights)}, one for each policy"
        raise ConfigError("number of states for Hessians", len(observations), expected)
    ranges = 2.0 * policy.space.half_range
    generator = torch.Generator().manual_seed(seed)
    total = np.zeros((weights.shape[1], weights.shape[1]))
    shares = np.array_split(observations, len(weights))
    for point, share in zip(weights, shares, strict=True):
        states = torch.as_tensor(share)
        shape = policy.relaxed_act(torch.as_tensor(point), states).shape
        signs = torch.ones(shape, dtype=torch.float64)
        if score == "rms":
            signs = 2.0 * torch.randint(2, shape, generator=generator).double() - 1.0

        def projected(
            values: torch.Tensor, states: torch.Tensor = states, signs: torch.Tensor = signs
        ) -> torch.Tensor:
            return (policy.relaxed_act(values, states) * signs).sum()

        hessian = torch.func.hessian(projected)(torch.as_tensor(point)).numpy()
        hessian = hessian * np.outer(ranges, ranges)
        total += np.square(hessian) / signs.numel() if score == "rms" else hessian / signs.numel()
    average = total / len(weights)
    return np.sqrt(average) if score == "rms" else np.abs(average)


def balanced(scores: Float) -> Float:
    """Divide scores [D, D] by the geometric mean of what their two dimensions reach on average.

    So the edges under a cap are not all in one net, and fewer dimensions stay alone.
    """
    # A dimension that interacts with none reaches 0; its scores are 0 and stay so.
    root = np.sqrt(np.sqrt(np.square(scores).mean(0)) + 1e-300)
    return np.asarray(scores / root[:, None] / root)


def strongest_edges(scores: Float, cap: int) -> tuple[NDArray[np.int64], Float]:
    """Return at most `cap` pairs of a score above 0, strongest first.

    Args:
        scores: [D, D], symmetric, at least 0; the diagonal is ignored.
        cap: most pairs.
    Returns:
        Pairs [E, 2], a < b, and their scores [E].
    """
    rows, columns = np.triu_indices(len(scores), 1)
    values = scores[rows, columns]
    order = np.argsort(-values, kind="stable")[:cap]
    order = order[values[order] > 0.0]
    return np.stack([rows[order], columns[order]], axis=1), values[order]


def find_structure(scores: Float, *, edge_cap: int, clique_cap: int, clique_size: int) -> Structure:
    """Keep the strongest edges and list the maximal cliques of their graph.

    Args:
        scores: [D, D], symmetric, at least 0; the diagonal is ignored.
        edge_cap: most edges; pairs of score 0 are never edges.
        clique_cap: most cliques taken, largest first; 10 times as many are looked at.
        clique_size: larger cliques are cut into parts of at most this many dimensions.
    """
    dimension = len(scores)
    edges, strengths = strongest_edges(scores, edge_cap)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(dimension))
    graph.add_edges_from(edges.tolist())
    looked_at = [sorted(clique) for clique in islice(nx.find_cliques(graph), 10 * clique_cap)]
    looked_at.sort(key=lambda clique: (-len(clique), clique))
    cliques = [part for clique in looked_at[:clique_cap] for part in _cut(clique, clique_size)]
    covered = {member for clique in cliques for member in clique}
    cliques += [(alone,) for alone in range(dimension) if alone not in covered]
    return Structure(
        edges=edges,
        strengths=strengths,
        cliques=tuple(cliques),
        left_out=max(0, len(looked_at) - clique_cap),
    )


def _cut(clique: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Cut a clique into parts of at most `size`, as even as can be."""
    parts = -(-len(clique) // size)
    return [tuple(int(member) for member in part) for part in np.array_split(clique, parts)]


def random_scores(dimension: int, seed: int) -> Float:
    """Return scores [D, D] of a random graph: the control for a found one."""
    upper = np.triu(np.random.default_rng(seed).random((dimension, dimension)), 1)
    return np.asarray(upper + upper.T)
