"""Structure is discovered as its name says, and comes out as values for a JSON file."""

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rolecast.envs.spec import TaskSpec
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.structure.discovery import discover
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

TASK = TaskSpec(id="team", agents=2, observation_size=3, action_size=2, horizon=5)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return make_policy("hom", TASK, size="sm")


def found(policy: Policy, **settings: Any) -> dict[str, Any]:
    """Discover structure from four policies and twelve states."""
    config = DssGpUcbConfig(**({"edge_cap": 60, "clique_cap": 20, "clique_size": 6} | settings))
    rng = np.random.default_rng(0)
    candidates = rng.random((4, policy.space.size))
    observations = rng.normal(size=(12, TASK.agents, TASK.observation_size))
    return discover(config, policy, candidates, observations)


@pytest.mark.parametrize("structure", ["found", "random", "blocks", "full"])
def test_it_is_json_and_covers_every_dimension(policy: Policy, structure: str) -> None:
    result = found(policy, structure=structure)
    assert json.loads(json.dumps(result)) == result
    assert result["source"] == structure
    covered = {member for clique in result["cliques"] for member in clique}
    assert covered == set(range(policy.space.size))
    assert result["clique_count"] == len(result["cliques"])
    assert result["largest_clique"] == max(map(len, result["cliques"]))
    assert len(result["edges"]) == len(result["strengths"]) == result["edge_count"]
    config = DssGpUcbConfig().with_structure(result)
    assert config.build(dimension=policy.space.size, seed=0).ask(2).shape[0] == 2


@pytest.mark.parametrize("score", ["rms", "signed"])
def test_found_edges_are_the_strongest_and_cliques_join_edges_alone(
    policy: Policy, score: str
) -> None:
    result = found(policy, structure_score=score)
    assert result["edge_count"] == 60
    assert result["strengths"] == sorted(result["strengths"], reverse=True)
    assert result["largest_clique"] <= 6
    edges = {tuple(edge) for edge in result["edges"]}
    for clique in result["cliques"]:
        assert set(combinations(sorted(clique), 2)) <= edges


def test_blocks_are_the_nets_of_the_policy(policy: Policy) -> None:
    result = found(policy, structure="blocks")
    nets = policy.space.nets
    assert result["blocks"] == {name: [part.start, part.stop] for name, part in nets.items()}
    assert result["cliques"] == [list(range(part.start, part.stop)) for part in nets.values()]


def test_full_is_one_clique(policy: Policy) -> None:
    assert found(policy, structure="full")["cliques"] == [list(range(policy.space.size))]


def test_a_random_graph_has_as_many_edges_and_others(policy: Policy) -> None:
    by_hessian, at_random = found(policy), found(policy, structure="random")
    assert at_random["edge_count"] == by_hessian["edge_count"]
    assert at_random["edges"] != by_hessian["edges"]


def test_balance_leaves_fewer_dimensions_alone(policy: Policy) -> None:
    even, plain = (found(policy, balance=balance, clique_cap=500) for balance in (True, False))
    assert even["isolated"] < plain["isolated"]


def test_the_same_input_gives_the_same_structure(policy: Policy) -> None:
    assert found(policy) == found(policy)
    assert found(policy, structure="random") == found(policy, structure="random")
