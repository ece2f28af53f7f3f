"""Whether a search would find the same structure again: edges across T0 and across seeds.

For each number T0 of policies whose Hessians are averaged, and each seed, structure is found as a
search finds it, from policies and states of its own. Two sets of edges are compared by Jaccard's
index, the share of what either has that both have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.table_text import table
from rolecast.core.errors import ConfigError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.optimizers.structure.cliques import strongest_edges
from rolecast.platform.optimizers.structure.hessians import hessian_scores
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.config import SearchConfig
from rolecast.platform.search.plan import Plan, make_plan
from rolecast.platform.search.policy_hints import RECORDED_OBSERVATIONS

Edges = frozenset[tuple[int, int]]
"""Pairs of parameters."""

EDGE_CAPS: Final = (150, 1500)
"""Edges kept, strongest first; the second is the default of a search."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A policy on a task."""

    name: str
    """As the table names it."""

    task: str
    policy: str = "hom"
    policy_options: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[int, ...] = (2, 4, 8, 16, 32, 64)
    """Numbers T0, ascending; the last is what the others are compared with."""


STABILITY_CASES: Final = (
    Case(name="pred_prey_3, hom", task="pred_prey_3"),
    Case(
        name="pred_prey_3, hom with role net",
        task="pred_prey_3",
        policy_options={"role_assignment": True},
    ),
    Case(name="pred_prey_3, mlp", task="pred_prey_3", policy="mlp"),
)
QUICK_CASES: Final = (
    Case(
        name="pred_prey_3, mlp of 4",
        task="pred_prey_3",
        policy="mlp",
        policy_options={"hidden": [4]},
        policies=(2, 4),
    ),
)


def measure_all(*, quick: bool, seeds: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Find structure for every case, T0 and seed, and compare it.

    Args:
        quick: one small case that says nothing.
        seeds: seeds 0 to N - 1, at least two.
        note: told of each T0.

    Returns:
        JSON values, `rows`: case, T0, cap, mean Jaccard index between each two seeds, mean index
        with the same seed's edges of the greatest T0, and that of two random sets of edges.
    """
    if seeds < 2:
        raise ConfigError("seeds", seeds, "an integer >= 2, for they are compared")
    rows = []
    for case in QUICK_CASES if quick else STABILITY_CASES:
        found: dict[int, list[dict[int, Edges]]] = {}
        for count in case.policies:
            found[count] = [edges_by_cap(case, count, seed) for seed in range(seeds)]
            note(f"{case.name}, T0 = {count}: {seeds} seeds")
        rows += _compared(case, found)
    return {"seeds": seeds, "rows": rows}


def edges_by_cap(case: Case, count: int, seed: int) -> dict[int, Edges]:
    """Return the strongest edges that a search of a seed finds with T0 = count, for each cap."""
    plan = _plan(case, count, seed)
    assert plan.design is not None  # dss_gp_ucb's default finds structure
    weights = plan.policy.space.weights(plan.design)
    episodes = episode_seeds(seed, Purpose.SEARCH, 0, plan.episodes)
    met = rollout(plan.task, plan.policy, weights, episodes, record=RECORDED_OBSERVATIONS)
    plan.task.close()
    assert met.observations is not None
    scores = hessian_scores(plan.policy, weights, met.observations, score="rms", seed=seed)
    strongest, _ = strongest_edges(scores, max(EDGE_CAPS))
    return {cap: frozenset((int(a), int(b)) for a, b in strongest[:cap]) for cap in EDGE_CAPS}


def _plan(case: Case, count: int, seed: int) -> Plan:
    """Return what a search of this case would do."""
    return make_plan(
        SearchConfig(
            task=case.task,
            policy=case.policy,
            policy_options=case.policy_options,
            optimizer_settings={"structure_policies": count},
            seed=seed,
        )
    )


def jaccard(one: Edges, other: Edges) -> float:
    """Return the share of edges in either set that are in both; 1 where both are empty."""
    either = len(one | other)
    return len(one & other) / either if either else 1.0


def _compared(
    case: Case, found: Mapping[int, Sequence[Mapping[int, Edges]]]
) -> list[dict[str, Any]]:
    """Return the rows of a case."""
    rows = []
    reference = found[case.policies[-1]]
    plan = _plan(case, case.policies[0], 0)
    plan.task.close()
    pairs = plan.dimension * (plan.dimension - 1) / 2
    for cap in EDGE_CAPS:
        for count, runs in found.items():
            kept = [run[cap] for run in runs]
            share = min(1.0, cap / pairs)
            apart = [jaccard(one, other) for one, other in combinations(kept, 2)]
            same = [jaccard(one, run[cap]) for one, run in zip(kept, reference, strict=True)]
            rows.append(
                {
                    "case": case.name,
                    "cap": cap,
                    "edges": int(np.median([len(edges) for edges in kept])),
                    "policies": count,
                    "between_seeds": round(float(np.mean(apart)), 3),
                    "with_most_policies": round(float(np.mean(same)), 3),
                    "chance": round(share / (2.0 - share), 3),
                }
            )
    return rows


def markdown(results: Mapping[str, Any]) -> str:
    """Return the page."""
    head = ("policy", "edges", "T0", "between seeds", "with the greatest T0", "by chance")
    lines = [
        (
            row["case"],
            f"{row['edges']:,}",
            str(row["policies"]),
            f"**{row['between_seeds']:.2f}**",
            f"{row['with_most_policies']:.2f}",
            f"{row['chance']:.2f}",
        )
        for row in results["rows"]
    ]
    return (
        "# Is the structure that is found the same again?\n\n"
        "Jaccard's index of the strongest edges of the policy's Hessian: 1 the same edges, 0 none "
        "in common. T0 policies, each on its share of 512 states that they meet; seeds 0 to "
        f"{results['seeds'] - 1}, each with policies, states and episodes of its own. By chance: "
        "two random sets of as many edges. Written by `rolecast bench structure`.\n\n"
        f"{table([head, ('---',) * len(head), *lines])}\n"
    )
