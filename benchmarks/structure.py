"""The structure's table: whether a search would find the same again, and whether it is true.

Stability: for each number T0 of policies whose Hessians are averaged, and each seed, structure is
found as a search finds it, from policies and states of its own. Two sets of edges are compared by
Jaccard's index, the share of what either has that both have.

Recovery: pairs of dimensions that are found in returns alone, at uniform points of the additive
functions of the optimisers' table. A pair is true where a clique of the function holds both.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import itemgetter
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.functions.black_boxes import additive
from rolecast.benchmarks.result_table import ResultTable, Row, markdown_table, place
from rolecast.core.errors import ConfigError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.optimizers.structure.cliques import strongest_edges
from rolecast.platform.optimizers.structure.hessians import hessian_scores
from rolecast.platform.optimizers.structure.returns import pair_scores
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan
from rolecast.platform.search.planning.policy_hints import RECORDED_OBSERVATIONS
from rolecast.platform.surrogate.outcome_transform import transform_returns

Edges = frozenset[tuple[int, int]]
"""Pairs of parameters or dimensions."""


@dataclass(frozen=True, kw_only=True)
class RecoveryRun:
    """Uniform points of an additive function."""

    dimension: int
    """D."""

    points: int
    """N."""

    noise: float
    """Standard deviation of an evaluation's error, as a share of that of values over the cube."""

    seeds: int = 5
    """Seeds 0 to this less 1."""

    @property
    def key(self) -> str:
        """Name of its row."""
        sample = f"D = {self.dimension}, N = {self.points}, noise {self.noise:g}"
        return f"recovery / {sample} / {self.seeds} seeds"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"part": "recovery"}


def recovery(run: RecoveryRun) -> dict[str, Any]:
    """Look for pairs; return JSON values, a list entry a seed."""
    runs = [found_and_true(run, seed) for seed in range(run.seeds)]
    return {
        "dimension": run.dimension,
        "points": run.points,
        "noise": run.noise,
        "found": [len(found) for found, _, _ in runs],
        "found_true": [len(found & true) for found, true, _ in runs],
        "true": [len(true) for _, true, _ in runs],
        "seconds": [round(seconds, 2) for _, _, seconds in runs],
    }


def found_and_true(run: RecoveryRun, seed: int) -> tuple[Edges, Edges, float]:
    """Return the pairs that are found, the true ones, and the processor time of finding them."""
    function = additive(run.dimension, seed)
    assert function.cliques is not None
    true = {pair for clique in function.cliques for pair in combinations(sorted(clique), 2)}
    rng = np.random.default_rng((seed, run.dimension, run.points))
    points = rng.random((run.points, run.dimension))
    errors = run.noise * function.deviation * rng.standard_normal(run.points)
    targets, _ = transform_returns(function.value(points) + errors, "none")
    start = time.process_time()
    scores = pair_scores(points, targets, np.ones(run.points))
    seconds = time.process_time() - start
    found = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(scores)), strict=True)}
    return frozenset(found), frozenset(true), seconds


def true_of_found(row: Row) -> str:
    """Return how many of the pairs found are true, seed by seed."""
    counts = zip(row["found_true"], row["found"], strict=True)
    return ", ".join(f"{true} of {found}" if found else "none" for true, found in counts)


def recovery_page(rows: Sequence[Row]) -> str:
    """Return the part of the page."""
    head = ("D", "points", "noise", "true among those found", "true in all", "s a look")
    lines = [
        (
            str(row["dimension"]),
            f"{row['points']:,}",
            f"{row['noise']:g}",
            true_of_found(row),
            ", ".join(map(str, row["true"])),
            f"{float(np.median(row['seconds'])):.2g}",
        )
        for row in rows
    ]
    return (
        "\n## Pairs found in returns\n\n"
        "Additive functions of `rolecast bench optimizers`, seeds from 0 on, uniform points: how "
        "many pairs of dimensions are told from chance, and how many of these a clique of the "
        "function holds. Processor time of one core.\n\n"
        f"{markdown_table(head, lines)}\n"
    )


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
            edges = int(np.median([len(one) for one in kept]))
            share = min(1.0, edges / pairs)
            apart = [jaccard(one, other) for one, other in combinations(kept, 2)]
            most = [edges[cap] for edges in found[run.policies[-1]]]
            same = [jaccard(one, other) for one, other in zip(kept, most, strict=True)]
            compared.append(
                {
                    "cap": cap,
                    "edges": edges,
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
    assert plan.design is not None
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
            optimizer_settings={"structure": "found", "structure_policies": count},
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
    shown = {row["key"].rpartition(" / ")[0]: row for row in sorted(rows, key=itemgetter("seeds"))}
    parts = {
        part: [row for row in rows if row in shown.values() and row["part"] == part]
        for part in ("stability", "recovery")
    }
    return "".join(text(parts[part]) for part, text in PART_PAGES.items() if parts[part])


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
        f"{max(row['seeds'] for row in rows) - 1}, each with policies, states and episodes of its "
        "own. By chance: two random sets of as many edges. Written by `rolecast bench structure`."
        "\n\n"
        f"{markdown_table(head, lines)}\n"
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
