"""`rolecast.causal_search`: a search of interventions in a causal graph, counted in rounds.

It is `rolecast.search` with the policy whose weights are the action, a budget of an initial design
and so many rounds, and an optimiser that knows the graph. Folder, resume and report are the same.
"""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from rolecast.core.errors import ConfigError, RequestError, require_known
from rolecast.core.validation import POSITIVE_INTEGER
from rolecast.envs.causal.graph import CausalGraph
from rolecast.envs.causal.graph_file import graph_from_json, read_graph
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.problem import CausalProblem, HasCausalGraph
from rolecast.envs.registry import make_task
from rolecast.envs.rewards.task import unwrapped
from rolecast.platform.search.progress import Progress
from rolecast.platform.search.records.history import NODE_PREFIX
from rolecast.platform.search.records.measurements import RunMeasurements
from rolecast.platform.search.records.run_folder import RunFolder
from rolecast.platform.search.result import SearchResult
from rolecast.platform.search.run import search

CAUSAL_METHODS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mcbo": "mcbo",
        "eifn": "eifn",
        "eicbo": "eicbo",
        "cbo": "cbo",
        "gp_ucb": "causal_gp_ucb",
        "random": "causal_random",
    }
)
"""Methods of a causal search, and their names as optimisers."""

RULED_SETTINGS: Final = ("optimizer", "optimizer_settings", "evaluations", "env_steps")
"""Settings of a search that method, settings and rounds decide."""


def causal_search(
    problem: str | CausalProblem,
    *,
    method: str = "mcbo",
    rounds: int = 100,
    graph: CausalGraph | str | Path | None = None,
    batch_size: int = 1,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    **request: Any,
) -> SearchResult:
    """Search interventions in a causal graph.

    What it found is `problem.space.named_values(result.incumbent)`, intervention to value.
    `rolecast.platform.search.records.measurements.complete_run` measures its folder, and then
    `causal_figures` returns average and best expected reward; not of a problem that is a Python
    object, which no folder can make again.

    Args:
        problem: id of a task, such as `causal:toy`, or a problem of your own.
        method: of `CAUSAL_METHODS`.
        rounds: batches after the initial design.
        graph: of the task's metrics, or a file of it; None: that of the task.
        batch_size: q, interventions of a round.
        settings: of the method, such as `beta`.
        progress: shows the search; nothing is shown when None.
        request: further settings of `rolecast.search`: seed, workers, out, episodes, policy; none
            of `RULED_SETTINGS`.
    Raises:
        RequestError: the request is wrong; nothing was run.
        RunError: the task or the method failed; what was computed is kept.
    """
    require_known("method", [method], CAUSAL_METHODS)
    for name in RULED_SETTINGS:
        if request.get(name) is not None:
            raise ConfigError(name, request[name], "method, settings and rounds in its place")
    episodes = request.get("episodes") or 1
    counts = {"rounds": rounds, "batch_size": batch_size, "episodes": episodes}
    for name, value in counts.items():
        if not POSITIVE_INTEGER.allows(value):
            raise ConfigError(name, value, POSITIVE_INTEGER.expected)
    if not isinstance(settings or {}, Mapping):
        raise ConfigError("settings", settings, "a mapping")
    chosen = dict(settings or {})
    if isinstance(graph, str | Path):
        graph = read_graph(graph)
    if graph is not None:
        if not isinstance(graph, CausalGraph):
            expected = (
                "a CausalGraph, or a file of one (graph_from_networkx makes one of a DiGraph)"
            )
            raise ConfigError("graph", graph, expected)
        chosen["graph"] = graph.to_json()
    first = _initial_evaluations(problem, chosen, request.get("task_options") or {})
    return search(
        problem,
        **{
            "policy": "constant",
            "optimizer": CAUSAL_METHODS[method],
            "optimizer_settings": chosen,
            "evaluations": first + rounds * batch_size,
            "batch_size": batch_size,
            "episodes": 1,
            "confirm_share": 0.0,
            **{name: value for name, value in request.items() if value is not None},
        },
        progress=progress,
    )


def _initial_evaluations(
    problem: str | CausalProblem, settings: Mapping[str, Any], options: Mapping[str, Any]
) -> int:
    """Return the size of the initial design."""
    from rolecast.platform.optimizers.mcbo.search import initial_design

    if "graph" in settings:
        graph = graph_from_json(settings["graph"])
    else:
        with closing(make_task(problem, **options)) as task:
            below = unwrapped(task)
            if not isinstance(below, HasCausalGraph):
                raise RequestError(
                    f"task {task.spec.id!r} has no causal graph; expected one of your own, "
                    "--graph FILE"
                )
            graph = below.graph
    return len(initial_design(InterventionSpace(graph), np.random.default_rng(0)))


def constant_nodes(history: pd.DataFrame) -> list[str]:
    """Return the nodes whose value was the same in all episodes of a run, two or more; in words.

    Args:
        history: of the run.
    """
    values = {
        f"node {name.removeprefix(NODE_PREFIX)!r}": np.concatenate([*history[name]])
        for name in history.columns
        if name.startswith(NODE_PREFIX)
    }
    values["the reward"] = np.concatenate([*history["episode_returns"]])
    return [name for name, found in values.items() if len(found) > 1 and (found == found[0]).all()]


def causal_figures(out: Path) -> dict[str, Any]:
    """Return mean and maximum of the expected reward, what the incumbent sets, and rounds.

    Nothing for other searches.

    Of a simulator that is not known they are of the observed reward, as "reward_kind" says: the
    maximum of noisy ones is too high. The initial design counts, as in the figures of the MCBO
    paper. Optimisers that have none of a causal search have no rounds.

    Args:
        out: folder of a run that has been measured.
    Raises:
        RequestError: the folder is damaged.
    """
    folder = RunFolder.open(out)
    measured = RunMeasurements.read(folder)
    if measured is None or not measured.expected_rewards:
        return {}
    record = folder.read_run()
    request, rewards = record["search"], np.array(measured.expected_rewards)
    figures: dict[str, Any] = {
        "average_expected_reward": float(rewards.mean()),
        "best_expected_reward": float(rewards.max()),
        "reward_kind": "observed" if measured.rewards_observed else "expected",
    }
    if measured.intervention is not None:
        figures["intervention"] = dict(measured.intervention)
    if request["optimizer"] in CAUSAL_METHODS.values():
        first = _initial_evaluations(str(record["task"]["id"]), request["optimizer_settings"], {})
        figures["rounds"] = max(0, len(rewards) - first) // int(request["batch_size"])
    return figures
