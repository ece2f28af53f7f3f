"""Cliques of the kernel from scores of pairs of dimensions: edges, maximal cliques, caps.

Section 4.4 of the DSS-GP-UCB paper, Algorithm 4, step 3. Scores come from Hessians of a policy
(`hessians`) or from evaluations (`returns`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.types import Float


@dataclass(frozen=True, kw_only=True)
class Structure:
    """Edges between parameters and the cliques they form."""

    edges: NDArray[np.int64]
    """[E, 2], pairs a < b, strongest first."""

    strengths: Float
    """[E], scores of the edges."""

    cliques: tuple[tuple[int, ...], ...]
    """Cliques of ascending dimensions; every dimension is in at least one."""

    @property
    def pairs_left_out(self) -> int:
        """Number of edges that no clique holds, so that no term of the kernel joins them.

        Caps leave edges out: in maximal cliques beyond the cap, and between parts of a cut clique.
        """
        held = {pair for clique in self.cliques for pair in combinations(clique, 2)}
        return sum((a, b) not in held for a, b in self.edges.tolist())

    def summary(self, dimension: int) -> dict[str, Any]:
        """Return counts for the log and the report."""
        sizes = [len(clique) for clique in self.cliques]
        return {
            "edge_count": len(self.edges),
            "edge_share": len(self.edges) / max(dimension * (dimension - 1) / 2, 1),
            "clique_count": len(self.cliques),
            "largest_clique": max(sizes),
            "isolated": sizes.count(1),
            "pairs_left_out": self.pairs_left_out,
        }


def balanced(scores: Float) -> Float:
    """Return normalised scores [D, D]: s_ab / sqrt(r_a r_b), r_a the root mean square of row a.

    Edges under a cap are then spread over the nets, and fewer dimensions stay alone.
    """
    # A dimension without interactions has r_a = 0; its scores are 0 and stay so.
    root = np.sqrt(np.sqrt(np.square(scores).mean(0)) + 1e-300)
    return np.asarray(scores / root[:, None] / root)


def strongest_edges(scores: Float, cap: int) -> tuple[NDArray[np.int64], Float]:
    """Return at most `cap` pairs with scores above 0, strongest first.

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
        clique_cap: most cliques taken, largest first, of the first 10 times as many listed.
        clique_size: larger cliques are cut into parts of at most this many dimensions.
            `Structure.pairs_left_out` counts the edges that the caps leave out.
    """
    import networkx as nx  # here, as a search without a structure needs none of it

    dimension = len(scores)
    edges, strengths = strongest_edges(scores, edge_cap)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(dimension))
    graph.add_edges_from(edges.tolist())
    looked_at = [sorted(clique) for clique in islice(nx.find_cliques(graph), 10 * clique_cap)]
    looked_at.sort(key=lambda clique: (-len(clique), clique))
    parts = (part for clique in looked_at[:clique_cap] for part in _cut(clique, clique_size))
    # Large cliques overlap so much that most of their parts are the same.
    cliques = list(dict.fromkeys(parts))
    covered = {member for clique in cliques for member in clique}
    cliques += [(alone,) for alone in range(dimension) if alone not in covered]
    return Structure(edges=edges, strengths=strengths, cliques=tuple(cliques))


def _cut(clique: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Return parts of a clique, of at most `size` dimensions and as even as possible."""
    parts = -(-len(clique) // size)
    return [tuple(int(member) for member in part) for part in np.array_split(clique, parts)]


def random_scores(dimension: int, seed: int) -> Float:
    """Return scores [D, D] of a random graph, the control for a graph that was found."""
    upper = np.triu(np.random.default_rng(seed).random((dimension, dimension)), 1)
    return np.asarray(upper + upper.T)
