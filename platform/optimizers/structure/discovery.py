"""Structure discovery before a search: Hessians of the policy, or a control in their place."""

from typing import Any

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.cliques import (
    Structure,
    balanced,
    find_structure,
    random_scores,
)
from rolecast.platform.optimizers.structure.hessians import hessian_scores
from rolecast.platform.optimizers.structure.settings import DiscoverySettings
from rolecast.policies.protocol import Policy


def discover(
    config: DiscoverySettings, policy: Policy, candidates: Float, observations: Float
) -> dict[str, Any]:
    """Return the structure named by a config, as JSON values for structure.json.

    Args:
        config: name of the structure, and its caps.
        policy: the policy that is searched.
        candidates: [T0, D] of the unit cube; their first entry also seeds random choices.
        observations: [S, n, do], states met by these policies.
    Returns:
        `edges` [[a, b], ...] strongest first, `strengths`, `cliques`, `blocks` (net to [start,
        stop]), and the counts of `Structure.summary`.
    """
    dimension = policy.space.size
    seed = int(candidates[0, 0] * 2**53) % 2**63
    blocks = {name: [part.start, part.stop] for name, part in policy.space.nets.items()}
    if config.structure_used in ("blocks", "full"):
        spans = list(blocks.values()) if config.structure_used == "blocks" else [[0, dimension]]
        cliques = tuple(tuple(range(start, stop)) for start, stop in spans)
        none = np.zeros((0, 2), dtype=np.int64)
        found = Structure(edges=none, strengths=np.zeros(0), cliques=cliques)
    else:
        if config.structure_used == "random":
            scores = random_scores(dimension, seed)
        else:
            weights = policy.space.weights(candidates)
            scores = hessian_scores(
                policy, weights, observations, score=config.structure_score, seed=seed
            )
            scores = balanced(scores) if config.balance else scores
        found = find_structure(
            scores,
            edge_cap=config.edge_cap,
            clique_cap=config.clique_cap,
            clique_size=config.clique_size,
        )
    return {
        "source": config.structure_used,
        "edges": found.edges.tolist(),
        "strengths": found.strengths.tolist(),
        "cliques": [list(clique) for clique in found.cliques],
        "blocks": blocks,
        **found.summary(dimension),
    }
