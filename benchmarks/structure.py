"""The structure's table: whether a search would find the same again, and whether it is true.

Stability: for each number T0 of policies whose Hessians are averaged, and each seed, structure is
found as a search finds it, from policies and states of its own. Two sets of edges are compared by
Jaccard's index, the share of what either has that both have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.pair_recovery import RecoveryRun, recovery, recovery_page, true_of_found
from rolecast.benchmarks.result_table import ResultTable, Row, place
from rolecast.benchmarks.table_text import table
from rolecast.core.errors import ConfigError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.optimizers.structure.cliques import strongest_edges
from rolecast.platform.optimizers.structure.hessians import hessian_scores
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.config import SearchConfig
from rolecast.platform.search.plan import Plan, make_plan
from rolecast.platform.search.policy_hints import RECORDED_OBSERVATIONS

Edge = tuple[int, int]
Edges = frozenset[Edge]
"""Pairs of parameters or dimensions."""

EDGE_CAPS: Final = (150, 1500)
"""Edges kept, strongest first; the second is the default of a search."""


@dataclass(frozen=True, kw_only=True)
class StabilityRun:
    """A policy on a task, whose structure is found again and again."""

    name: str
    """As the table names it."""

    task: str
    policy: str = "hom"
    policy_options: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[int, ...] = (2, 4, 8, 16, 32, 64)
    """Numbers T0, ascending; the last is what the others are compared with."""

    seeds: int = 5
    """Seeds 0 to this less 1, at least two."""

    def __post_init__(self) -> None:
        """Check the number of seeds."""
        if self.seeds < 2:
            raise ConfigError("seeds", self.seeds, "an integer >= 2, for they are compared")

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"stability / {self.name} / {self.seeds} seeds"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"part": "stability"}


StructureRun = StabilityRun | RecoveryRun


def structure_runs(seeds: int) -> list[StructureRun]:
    """Return all runs of the table."""
    roles = {"role_assignment": True}
    return [
        StabilityRun(name="pred_prey_3, hom", task="pred_prey_3", seeds=seeds),
        StabilityRun(
            name="pred_prey_3, hom with role net",
            task="pred_prey_3",
            policy_options=roles,
            seeds=seeds,
        ),
        StabilityRun(name="pred_prey_3, mlp", task="pred_prey_3", policy="mlp", seeds=seeds),
        *(
            RecoveryRun(dimension=dimension, points=points, noise=noise, seeds=seeds)
            for dimension, counts in ((20, (100, 200, 400, 800)), (100, (500, 1000, 2000)))
            for points in counts
            for noise in (0.0, 0.2)
        ),
    ]


def quick_structure_runs(seeds: int) -> list[StructureRun]:
    """Return small runs that say nothing, to see that the command works."""
    small = StabilityRun(
        name="pred_prey_3, mlp of 4",
        task="pred_prey_3",
        policy="mlp",
        policy_options={"hidden": [4]},
        policies=(2, 4),
        seeds=seeds,
    )
    return [small, RecoveryRun(dimension=8, points=120, noise=0.0, seeds=seeds)]


def run_structure(run: StructureRun) -> Row:
    """Return the row of a run, JSON values."""
    found = stability(run) if isinstance(run, StabilityRun) else recovery(run)
    return {"key": run.key, "part": run.names["part"], "seeds": run.seeds, **found}


def stability(run: StabilityRun) -> dict[str, Any]:
    """Find structure for every T0 and seed, and compare it.

    Returns:
        JSON values: case and `compared`, for each cap and T0 the mean Jaccard index between each
        two seeds, that with the same seed's edges of the greatest T0, and that of two random sets.
    """
    found = {
        count: [edges_by_cap(run, count, seed) for seed in range(run.seeds)]
        for count in run.policies
    }
    plan = _plan(run, run.policies[0], 0)
    plan.task.close()
    pairs = plan.dimension * (plan.dimension - 1) / 2
    compared = []
    for cap in EDGE_CAPS:
        for count, by_seed in found.items():
            kept = [edges[cap] for edges in by_seed]
            share = min(1.0, cap / pairs)
            apart = [jaccard(one, other) for one, other in combinations(kept, 2)]
            most = [edges[cap] for edges in found[run.policies[-1]]]
            same = [jaccard(one, other) for one, other in zip(kept, most, strict=True)]
            compared.append(
                {
                    "cap": cap,
                    "edges": int(np.median([len(edges) for edges in kept])),
                    "policies": count,
                    "between_seeds": round(float(np.mean(apart)), 3),
                    "with_most_policies": round(float(np.mean(same)), 3),
                    "chance": round(share / (2.0 - share), 3),
                }
            )
    return {"case": run.name, "compared": compared}


def edges_by_cap(run: StabilityRun, count: int, seed: int) -> dict[int, Edges]:
    """Return the strongest edges that a search of a seed finds with T0 = count, for each cap."""
    plan = _plan(run, count, seed)
    assert plan.design is not None  # dss_gp_ucb's default finds structure
    weights = plan.policy.space.weights(plan.design)
    episodes = episode_seeds(seed, Purpose.SEARCH, 0, plan.episodes)
    met = rollout(plan.task, plan.policy, weights, episodes, record=RECORDED_OBSERVATIONS)
    plan.task.close()
    assert met.observations is not None
    scores = hessian_scores(plan.policy, weights, met.observations, score="rms", seed=seed)
    strongest, _ = strongest_edges(scores, max(EDGE_CAPS))
    return {cap: frozenset((int(a), int(b)) for a, b in strongest[:cap]) for cap in EDGE_CAPS}


def _plan(run: StabilityRun, count: int, seed: int) -> Plan:
    """Return what a search of this case would do."""
    return make_plan(
        SearchConfig(
            task=run.task,
            policy=run.policy,
            policy_options=run.policy_options,
            optimizer_settings={"structure_policies": count},
            seed=seed,
        )
    )


def jaccard(one: Edges, other: Edges) -> float:
    """Return the share of edges in either set that are in both; 1 where both are empty."""
    either = len(one | other)
    return len(one & other) / either if either else 1.0


def _line(row: Row) -> str:
    if row["part"] == "recovery":
        return true_of_found(row)
    return f"{row['compared'][-1]['between_seeds']:.2f} between seeds"


def markdown(rows: Sequence[Row]) -> str:
    """Return the page; of runs that differ in their seeds alone, it shows that of the most."""
    shown = {row["key"].rpartition(" / ")[0]: row for row in sorted(rows, key=_seeds_of)}
    parts = {
        part: [row for row in rows if row in shown.values() and row["part"] == part]
        for part in ("stability", "recovery")
    }
    return "".join(text(parts[part]) for part, text in PART_PAGES.items() if parts[part])


def _seeds_of(row: Row) -> int:
    seeds: int = row["seeds"]
    return seeds


def _stability_page(rows: Sequence[Row]) -> str:
    head = ("policy", "edges", "T0", "between seeds", "with the greatest T0", "by chance")
    lines = [
        (
            row["case"],
            f"{found['edges']:,}",
            str(found["policies"]),
            f"**{found['between_seeds']:.2f}**",
            f"{found['with_most_policies']:.2f}",
            f"{found['chance']:.2f}",
        )
        for row in rows
        for found in row["compared"]
    ]
    return (
        "# Is the structure that is found the same again?\n\n"
        "Jaccard's index of the strongest edges of the policy's Hessian: 1 the same edges, 0 none "
        "in common. T0 policies, each on its share of 512 states that they meet; seeds 0 to "
        f"{max(map(_seeds_of, rows)) - 1}, each with policies, states and episodes of its own. By "
        "chance: two random sets of as many edges. Written by `rolecast bench structure`.\n\n"
        f"{table(head, lines)}\n"
    )


PART_PAGES: Final = {"stability": _stability_page, "recovery": recovery_page}
"""What a part adds to the page, in its order."""

RUN_ORDER: Final = [run.key.rpartition(" / ")[0] for run in structure_runs(2)]

STRUCTURE_TABLE: Final[ResultTable[StructureRun]] = ResultTable(
    file="structure.json",
    kinds=("part",),
    run=run_structure,
    order=lambda row: (place(row["key"].rpartition(" / ")[0], RUN_ORDER), row["seeds"]),
    line=_line,
    pages=lambda rows: {"structure.md": markdown(rows).encode()},
)
