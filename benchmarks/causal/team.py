"""Does the graph of a team's metrics help? Twelve gains of a found policy on drone delivery.

The same policy, gains, episodes and evaluations: MCBO with the graph of logged metrics, MCBO
without it (one process on the return), and `local_gp`. Scores are held-out returns.
"""

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.benchmarks.result_table import ResultTable, Row, markdown_table, place
from rolecast.benchmarks.rivals import difference_text, shown_sign
from rolecast.core.rounding import mean_and_error
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.registry import make_task
from rolecast.platform.reports.comparison.statistics import LEAST_SEEDS_OF_INTERVAL
from rolecast.platform.search.run import search
from rolecast.policies.artefact import load_policy
from rolecast.policies.gains import GainsConfig, as_scaled

TEAM_TASK: Final = "drone_delivery_3"
FOUND_STEPS: Final = 100_000
"""Budget of the search that finds the policy."""

TEAM_EVALUATIONS: Final = 50
TEAM_EPISODES: Final = 64
TEAM_METHODS: Final = ("mcbo with graph", "mcbo without graph", "local_gp")


@dataclass(frozen=True, kw_only=True)
class TeamRun:
    """One search of gains."""

    method: str
    seed: int

    @property
    def key(self) -> str:
        """Name of its row."""
        return f"{self.method} / seed {self.seed}"

    @property
    def names(self) -> Mapping[str, str]:
        """Names by kind of filter."""
        return {"task": TEAM_TASK, "method": self.method, "seed": str(self.seed)}


def team_runs(seeds: int) -> list[TeamRun]:
    """Return all searches, seed by seed."""
    return [TeamRun(method=method, seed=seed) for seed in range(seeds) for method in TEAM_METHODS]


def team_graph(names: Sequence[str]) -> CausalGraph:
    """Return the graph of drone delivery: gains act on all counts, and counts make the return.

    Args:
        names: of the gains.
    """
    gains, noise = tuple(names), NodeNoise(kind="measured")
    counts = ("fuel_used", "collisions", "empty_tank_steps", "deliveries")
    return CausalGraph(
        nodes=(
            *(CausalNode(name=n, actions=gains, noise=noise) for n in counts[:2]),
            CausalNode(name=counts[2], parents=counts[:1], actions=gains, noise=noise),
            CausalNode(name=counts[3], parents=counts[:3], actions=gains, noise=noise),
            CausalNode(name="return", parents=counts, noise=noise),
        ),
        actions=tuple(ActionRange(name=name, low=-1.0, high=1.0) for name in gains),
    )


def run_team(run: TeamRun) -> Row:
    """Search gains once; return the held-out return of the incumbent, JSON values."""
    scaled, found_return = _found_policy()
    spec = make_task(TEAM_TASK).spec
    graph = team_graph(GainsConfig(scaled=scaled).build(spec, 0).coordinate_names)
    settings: dict[str, Any] = {"graph": graph.to_json()} if run.method == TEAM_METHODS[0] else {}
    optimizer = "local_gp" if run.method == TEAM_METHODS[2] else "mcbo"
    with tempfile.TemporaryDirectory() as scratch:
        start = time.process_time()
        result = search(
            TEAM_TASK,
            policy="gains",
            policy_options={"scaled": scaled},
            optimizer=optimizer,
            optimizer_settings=settings,
            evaluations=TEAM_EVALUATIONS,
            episodes=TEAM_EPISODES,
            batch_size=1,
            confirm_share=0.0,
            seed=run.seed,
            workers=0,
            threads=1,
            out=str(Path(scratch) / "run"),
        )
        seconds = time.process_time() - start
    return {
        "key": run.key,
        "method": run.method,
        "seed": run.seed,
        "test_return": result.test_return,
        "found_return": found_return,
        "seconds": round(seconds, 1),
    }


@cache
def _found_policy() -> tuple[dict[str, Any], float]:
    """Return the policy whose gains are searched, found by a short search, and its return."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "found"
        search(TEAM_TASK, env_steps=FOUND_STEPS, seed=0, workers=0, threads=1, out=str(out))
        known = load_policy(out)
    return as_scaled(known), float(known.extra["test_return"])


def team_page(rows: Sequence[Row]) -> str:
    """Return the page: held-out returns of each method, and the paired difference of the graph."""
    lines = []
    for method in TEAM_METHODS:
        returns = [row["test_return"] for row in rows if row["method"] == method]
        if returns:
            mean, error = mean_and_error(np.array(returns))
            told = "-" if error is None else f"{error:.2f}"
            lines.append((method, f"{mean:.2f}", told, str(len(returns))))
    found = list(dict.fromkeys(f"{row['found_return']:.2f}" for row in rows))
    itself = f"The found policy itself, all gains 1, returns {' or '.join(found)}"
    if len(found) > 1:
        itself += ": rows are of different found policies, which do not compare"
    return "\n".join(
        [
            TEAM_HEAD,
            markdown_table(("method", "held-out return", "standard error", "seeds"), lines),
            "",
            f"{itself}. {_difference(rows)}",
            "",
        ]
    )


TEAM_HEAD: Final = f"""# The graph of a team's metrics

Twelve gains of a policy that was found on `{TEAM_TASK}`, one for each layer of its nets, searched
with {TEAM_EVALUATIONS} evaluations of {TEAM_EPISODES} episodes. `rolecast bench causal --part team`
makes this page and `causal_team.json` beside it.
"""


def _difference(rows: Sequence[Row]) -> str:
    """Say whether knowing the graph helps, by pairs of a seed with each other method."""
    returns = {(row["method"], row["seed"]): row["test_return"] for row in rows}
    with_graph, *others = TEAM_METHODS
    told = []
    for other in others:
        seeds = [seed for method, seed in returns if method == other]
        both = [
            returns[with_graph, seed] - returns[other, seed]
            for seed in seeds
            if (with_graph, seed) in returns
        ]
        if len(both) < LEAST_SEEDS_OF_INTERVAL:
            told.append(f"There are too few seeds to compare with {other}.")
            continue
        verdict = {1: "helps", 0: "does not show", -1: "harms"}[shown_sign(both)]
        told.append(
            f"{with_graph} less {other}: {difference_text(both)}, {len(both)} paired seeds; "
            f"it {verdict}."
        )
    return " ".join(told)


TEAM_TABLE: Final[ResultTable[TeamRun]] = ResultTable(
    file="causal_team.json",
    kinds=("task", "method", "seed"),
    run=run_team,
    order=lambda row: (place(row["method"], TEAM_METHODS), row["seed"]),
    line=lambda row: f"held-out return {row['test_return']:.2f}, {row['seconds']} s",
    pages=lambda rows: {"causal_team.md": team_page(rows).encode()},
)
