"""What a policy can tell an optimiser: the one place where a black box learns what is inside it.

An optimiser that can use such knowledge has a field for it, None by default. Filled in here are
`groups`, weights that read the same input, `ties`, weights that the task's symmetries exchange,
`outcome_transform`, which suits returns whose noise grows with them, and the structure found at
states that a policy meets.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError, require_known
from rolecast.core.types import Float
from rolecast.envs.causal.graph import CausalGraph, NodeNoise
from rolecast.envs.causal.graph_file import graph_from_json
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.envs.causal.problem import HasCausalGraph, HasCausalProblem
from rolecast.envs.rewards.task import unwrapped
from rolecast.envs.spec import BatchedTask
from rolecast.platform.optimizers.mcbo.node_data import single_episode
from rolecast.platform.optimizers.protocol import (
    HasInitialDesign,
    HintsByEvaluations,
    NeedsPolicy,
    OptimizerConfig,
    UsesCausalGraph,
    UsesPolicyStructure,
)
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.policies.protocol import HintsAtSettings, HintsByBudget, NamesCoordinates, Policy

RECORDED_OBSERVATIONS = 512
"""States kept of the initial design, from which structure is found."""

OUTCOME_TRANSFORM = "automatic"
"""Noise of a sparse task's returns grows as their square root; others have no natural zero."""

RANGE_TOLERANCE: Final = 1e-6
"""Greatest difference of a range of a graph from that of a parameter, by half its width."""

RETURN_NAMES: Final = frozenset({"return", "reward"})
"""Names of the last node of a causal graph that say what it is, whatever a task's metrics are."""


def informed_config(config: OptimizerConfig, policy: Policy) -> OptimizerConfig:
    """Fill what is known of a policy before anything is evaluated.

    Args:
        config: its fields `groups`, `ties` and `outcome_transform` (old name `levelling`) that are
            None become [D] group numbers, [D] signed orbits and "automatic".
            Those that a policy hints at (`HintsAtSettings`) become what it says.
        policy: whose weights are searched.
    """
    space = policy.space
    groups = tuple(int(group) for group in space.input_groups)
    known: dict[str, Any] = {"groups": groups, "outcome_transform": OUTCOME_TRANSFORM}
    if space.ties is not None and not space.tied and any(space.ties):
        known["ties"] = tuple(int(orbit) for orbit in space.ties)
    if isinstance(policy, HintsAtSettings):
        known |= policy.search_hints
    known["levelling"] = known["outcome_transform"]
    empty = _empty(config, known)
    return replaced(config, empty)


def budget_hints(config: OptimizerConfig, policy: Policy, budget_episodes: int) -> dict[str, Any]:
    """Return the settings that are None and that a policy hints at for so many whole episodes."""
    hints = policy.budget_hints(budget_episodes) if isinstance(policy, HintsByBudget) else {}
    return _empty(config, hints)


def evaluation_hints(config: OptimizerConfig, count: int) -> dict[str, Any]:
    """Return the settings that are None and that follow from so many evaluations of a search."""
    known = config.evaluation_hints(count) if isinstance(config, HintsByEvaluations) else {}
    return _empty(config, known)


def initial_design(
    config: OptimizerConfig, policy: Policy, *, seed: int, begun: bool = False
) -> Float | None:
    """Return the initial design [T0, D], evaluated before the optimiser is built.

    None unless the config is a `HasInitialDesign` and gives some; and where weights are tied, since
    a structure of weights says nothing about a cube of orbits.

    Raises:
        ConfigError: weights are tied, and a structure is asked for that only weights have. A run
            that has `begun` goes on without.
    """
    if policy.space.tied and isinstance(config, UsesPolicyStructure):
        if isinstance(config, NeedsPolicy) and not begun:
            config.require_black_box()
        return None
    if not isinstance(config, HasInitialDesign):
        return None
    return config.initial_design(dimension=policy.space.dimension, seed=seed)


def find_structure(
    config: OptimizerConfig, policy: Policy, candidates: Float, observations: Float
) -> dict[str, Any] | None:
    """Find the structure that the optimiser can use, as JSON values for structure.json.

    Args:
        config: finds it, if it is a `UsesPolicyStructure`.
        policy: whose weights are searched.
        candidates: [T0, D], the initial design.
        observations: [S, n, do], states met by running it.
    """
    if not isinstance(config, UsesPolicyStructure):
        return None
    return config.find_structure(policy, candidates, observations)


def with_structure(config: OptimizerConfig, structure: Mapping[str, Any] | None) -> OptimizerConfig:
    """Return the config with the structure in it, freshly found or read from structure.json."""
    if structure is None or not isinstance(config, UsesPolicyStructure):
        return config
    return config.with_structure(structure)


def with_task_graph(config: OptimizerConfig, task: BatchedTask) -> OptimizerConfig:
    """Return the config with the causal graph of the task's metrics, where both have one."""
    below = unwrapped(task)
    if isinstance(config, UsesCausalGraph) and isinstance(below, HasCausalGraph):
        return config.with_graph(below.graph)
    return config


def with_reward_noise(config: OptimizerConfig, task: BatchedTask, episodes: int) -> OptimizerConfig:
    """Return the config with the noise of the mean of E episodes, where it is known.

    It is for rivals of causal searches whose processes are of the reward at fixed interventions. Of
    a simulator that is not known, and of a user's graph of metrics, it is that of the reward's own
    node. A graph of the reward alone, by whose nodes nobody could count the episodes, has the noise
    of their mean, too.
    """
    below, graph = unwrapped(task), _graph_of(config)
    if graph is not None and len(graph.nodes) == 1 and graph.reward.noise.deviation:
        noise = NodeNoise(kind="normal", scale=graph.reward.noise.deviation / episodes**0.5)
        mean = replace(graph, nodes=(replace(graph.reward, noise=noise),))
        config = replaced(config, {"graph": mean.to_json()})
    if not _empty(config, {"reward_noise": None}):
        return config
    found = None
    if isinstance(below, HasCausalProblem):
        found, graph = below.problem.reward_deviation(), below.graph
    if found is None and graph is not None and graph.reward.noise.kind != "measured":
        found = graph.reward.noise.deviation
    known = {} if found is None else {"reward_noise": found / episodes**0.5}
    return replaced(config, known)


def interventions_remark(task: BatchedTask, policy: Policy) -> str | None:
    """Return that a policy has nothing to observe, where a task's actions are interventions."""
    if policy.name == "constant" or not isinstance(unwrapped(task), HasCausalGraph):
        return None
    return (
        f"policy {policy.name} has nothing to observe on a causal graph; expected --policy "
        "constant, whose weights are the interventions"
    )


def require_fitting_graph(config: OptimizerConfig, task: BatchedTask, policy: Policy) -> None:
    """Refuse a causal graph whose interventions task and policy do not carry out.

    Raises:
        RequestError: names what differs.
    """
    graph, below = _graph_of(config), unwrapped(task)
    knows = isinstance(config, UsesCausalGraph) and isinstance(below, HasCausalGraph)
    if knows and policy.name != "constant":
        expected = "'constant', whose weights are the interventions that the optimiser chooses"
        raise ConfigError("SearchConfig.policy", policy.name, expected)
    if graph is None:
        return
    space, names = InterventionSpace(graph), tuple(each.name for each in graph.interventions)
    if isinstance(below, HasCausalGraph):
        own = InterventionSpace(below.graph)
        for what, mine, theirs in (
            ("interventions", graph.interventions, below.graph.interventions),
            ("sets of interventions", space.sets, own.sets),
        ):
            if mine != theirs:
                expected = f"{list(theirs)}, those of task {task.spec.id!r}"
                raise ConfigError(f"{what} of the graph", list(mine), expected)
        for node in graph.nodes[:-1]:
            kind = f"metric of node {node.name!r} of the graph:"
            require_known(kind, [node.observed_as], below.graph.names)
    elif graph.do or space.chooses:
        expected = f"soft ones, all at once, on task {task.spec.id!r}"
        raise ConfigError("interventions of the graph", names, expected)
    elif isinstance(policy, NamesCoordinates) and names != policy.coordinate_names:
        expected = f"{policy.coordinate_names}, in this order, of policy {policy.name!r}"
        raise ConfigError("actions of the graph", names, expected)
    elif space.dimension != policy.space.size:
        expected = (
            f"{policy.space.size}, one for each parameter of policy {policy.name!r}; policy "
            "'gains' has one for each layer of a policy that was found"
        )
        raise ConfigError("actions of the graph", names, expected)
    else:
        _require_fitting_ranges(graph, policy)


def _require_fitting_ranges(graph: CausalGraph, policy: Policy) -> None:
    """Refuse ranges of actions other than those of the parameters that they stand for.

    Tied weights have none of their own: an action is then a coordinate of an orbit.
    """
    if policy.space.tied:
        return
    ends = zip(policy.space.centre, policy.space.half_range, strict=True)
    for each, (centre, half) in zip(graph.actions, ends, strict=True):
        own = (float(centre - half), float(centre + half))
        if not np.allclose((each.low, each.high), own, rtol=0.0, atol=RANGE_TOLERANCE * half):
            expected = f"{own}, that of the parameter of policy {policy.name!r}"
            raise ConfigError(f"range of {each.name!r}", (each.low, each.high), expected)


def require_own_reward(config: OptimizerConfig, task: BatchedTask) -> None:
    """Refuse a user's causal graph whose last node, which is the return, is named as a metric.

    The metrics of a task without a graph are those of one step that is played here, unless the
    node is named by one of `RETURN_NAMES`.

    Raises:
        ConfigError: names the node.
        RunError: the task failed.
    """
    graph = _graph_of(config)
    if graph is None:
        return
    name, below = graph.reward.name, unwrapped(task)
    if isinstance(below, HasCausalGraph):
        metrics = {*below.graph.names} - {below.graph.reward.name}
    elif name in RETURN_NAMES:
        return
    else:
        task.reset(np.zeros(1, dtype=np.uint64))
        metrics = {*task.step(np.zeros((1, task.spec.agents, task.spec.action_size)))[3]}
    if name in metrics:
        expected = f"'return', or what is no metric of task {task.spec.id!r}: it is maximised"
        raise ConfigError("last node of the graph", name, expected)


def require_known_nodes(search: SearchConfig, config: OptimizerConfig, task: BatchedTask) -> None:
    """Refuse to forgive failed episodes where nodes of a causal graph are told.

    Raises:
        ConfigError: the search forgives them.
    """
    knows = isinstance(unwrapped(task), HasCausalProblem)
    if search.forgives and (knows or observed_metrics(config)):
        expected = "'stop': an evaluation that gave no nodes cannot count in a causal graph"
        raise ConfigError("SearchConfig.failed_episodes", search.failed_episodes, expected)


def require_single_episodes(config: OptimizerConfig, episodes: int) -> None:
    """Refuse means over episodes of nodes whose noise is known: their children see each value.

    Raises:
        ConfigError: names the node.
    """
    graph = _graph_of(config)
    if episodes == 1 or graph is None or not observed_metrics(config):
        return
    for node in graph.nodes[:-1]:
        if node.noise.deviation:
            raise ConfigError("SearchConfig.episodes", episodes, single_episode(node))


def measured_noise_remark(config: OptimizerConfig, episodes: int) -> str | None:
    """Return which nodes that are told have noise that one episode does not measure, if any.

    None for optimisers that learn nothing, whose settings have no mean of processes.
    """
    graph = _graph_of(config)
    if episodes > 1 or graph is None or not observed_metrics(config):
        return None
    names = [node.name for node in graph.nodes if node.noise.kind == "measured"]
    if not names or not hasattr(config, "constant_mean"):
        return None
    return (
        "one episode measures no noise, and so values of nodes whose noise is measured "
        f"({', '.join(names)}) are taken for exact; expected --episodes 2 or more"
    )


def observed_metrics(config: OptimizerConfig) -> tuple[str, ...]:
    """Return the metrics of the task that the optimiser has to be told."""
    return config.observed_metrics if isinstance(config, UsesCausalGraph) else ()


def _graph_of(config: OptimizerConfig) -> CausalGraph | None:
    """Return the causal graph of settings; None where they have none."""
    if not isinstance(config, UsesCausalGraph) or config.graph is None:
        return None
    return graph_from_json(config.graph)


def _empty(config: OptimizerConfig, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the settings by name that the config has, and that are None in it."""
    if not is_dataclass(config):
        return {}
    names = {each.name for each in fields(config) if getattr(config, each.name) is None}
    return {name: value for name, value in known.items() if name in names}


def replaced(config: OptimizerConfig, known: Mapping[str, Any]) -> OptimizerConfig:
    """Return the config with other values of some settings."""
    if not known:
        return config
    changed: OptimizerConfig = replace(config, **known)  # type: ignore[type-var]
    return changed
