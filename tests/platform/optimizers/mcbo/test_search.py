"""MCBO by ask and tell: the contract of all optimisers, node observations, batches, the loop."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rolecast
from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.config import McboConfig
from rolecast.platform.optimizers.mcbo.search import CausalSearch, initial_design
from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.platform.search.records.frames import read_history
from rolecast.testing import OptimizerContract

SMALL: dict[str, Any] = {"starts": 2, "raw_samples": 8, "steps": 3, "samples": 4}
"""An acquisition that is climbed a few steps."""

GRAPH = CausalGraph(
    nodes=(
        CausalNode(name="x", actions=("a",), noise=NodeNoise(kind="normal", scale=0.1)),
        CausalNode(name="y", parents=("x",)),
    ),
    actions=(ActionRange(name="a"),),
    do=(ActionRange(name="x", low=-1.0, high=1.0),),
)


class TestMcbo(OptimizerContract):
    def make(self, seed: int = 0) -> Optimizer:
        return McboConfig(**SMALL).build(dimension=self.dimension, seed=seed)


def search(seed: int = 0) -> CausalSearch:
    return McboConfig(graph=GRAPH.to_json(), **SMALL).build(dimension=3, seed=seed)


def tell(optimizer: CausalSearch, points: Float) -> None:
    """Tell the points' own coordinates, so that what is told follows from what was asked."""
    x = 3.0 * points[:, 1]
    optimizer.tell_nodes(points, x - x**2, None, {"x": x[:, None]})


def test_a_graphs_search_goes_on_as_it_was_from_its_state_with_any_batch_size() -> None:
    one, other = search(0), search(1)
    for q in (1, 5, 12, 3):
        tell(one, one.ask(q))
    pending = one.ask(2)
    other.load_state_dict(one.state_dict())
    for q in (1, 4):
        asked = one.ask(q)
        np.testing.assert_array_equal(asked, other.ask(q))
        tell(one, asked)
        tell(other, asked)
    tell(one, pending)
    tell(other, pending)
    np.testing.assert_array_equal(one.ask(2), other.ask(2))
    np.testing.assert_array_equal(one.best(), other.best())


def test_pending_candidates_are_imputed_so_that_a_batch_is_spread() -> None:
    optimizer = McboConfig(beta=2.0, starts=4, raw_samples=64).build(dimension=1, seed=0)
    points = np.array([[0.0], [0.5], [1.0]])
    optimizer.ask(3)
    optimizer.tell(points, np.zeros(3))
    batch = optimizer.ask(6)[:, 0]
    assert np.diff(np.sort(batch)).min() > 0.02


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({}, r"node 'x' is not observed: expected metric 'x' among \[\]"),
        ({"z": np.ones((1, 1))}, r"node 'x' is not observed: expected metric 'x' among \['z'\]"),
        ({"x": np.full((1, 1), np.nan)}, "node 'x' is nan; expected a finite number"),
        ({"x": np.ones((2, 1))}, r"tell.nodes\['x'\] is \(2, 1\); expected shape \(1, 1\)"),
        ({"x": np.ones(1)}, r"tell.nodes\['x'\] is \(1,\); expected shape \(1, 1\)"),
        ({"x": np.ones((1, 0))}, r"tell.nodes\['x'\] is \(1, 0\); expected shape \(1, 1\)"),
        ({"x": [["a"]]}, r"tell.nodes\['x'\] is \[\['a'\]\]; expected an array of real numbers"),
        ({"x": [[-1e308]]}, "node 'x' is -1e\\+308; expected a finite number of at most 1e\\+100"),
        ({"x": np.ones((1, 2))}, "episodes of a candidate is 2; expected 1: node 'x' has known no"),
    ],
)
def test_nodes_that_are_missing_or_not_finite_are_refused_and_change_nothing(
    nodes: dict[str, Any], message: str
) -> None:
    optimizer = search()
    points = optimizer.ask(1)
    with pytest.raises(RequestError, match=message):
        optimizer.tell_nodes(points, np.zeros(1), None, nodes)
    with pytest.raises(RequestError, match="needs at least one evaluation"):
        optimizer.best()


def test_nodes_are_told_as_lists_too() -> None:
    one, other = search(), search()
    points = one.ask(2)
    one.tell_nodes(points, np.zeros(2), None, {"x": np.array([[0.5], [1.0]])})
    listed: Any = {"x": [[0.5], [1.0]]}
    other.tell_nodes(points, np.zeros(2), None, listed)
    np.testing.assert_array_equal(one.best(), other.best())


def test_the_initial_design_of_many_sets_of_soft_interventions_is_no_longer_for_them() -> None:
    """Three of twelve at most: 299 sets, of which 25 random ones are met, all of them different."""
    names = [f"a{k}" for k in range(12)]
    graph = CausalGraph(
        nodes=(CausalNode(name="y", actions=tuple(names)),),
        actions=tuple(ActionRange(name=name) for name in names),
        limit=3,
    )
    space = InterventionSpace(graph)
    design = initial_design(space, np.random.default_rng(0))
    assert len(space.sets) == 299
    assert design.shape == (25, 13)
    assert len(np.unique(space.decode(design)[0])) == 25


def test_constant_nodes_and_repeated_rows_harm_nothing() -> None:
    optimizer = search()
    points = np.repeat(optimizer.ask(1), 4, axis=0)
    for _ in range(2):
        optimizer.tell_nodes(points, np.ones(4), None, {"x": np.full((4, 1), 2.0)})
    assert np.isfinite(optimizer.ask(14)).all()


def test_a_graph_of_another_size_is_refused() -> None:
    with pytest.raises(RequestError, match="have 3 coordinates; expected 2"):
        McboConfig(graph=GRAPH.to_json()).build(dimension=2, seed=0)


def run(out: Path, **settings: Any) -> Any:
    return rolecast.search(
        "causal:toy",
        policy="constant",
        optimizer="mcbo",
        optimizer_settings=SMALL,
        confirm_share=0.0,
        out=str(out),
        **{"workers": 0, **settings},
    )


def test_a_search_that_goes_on_repeats_one_that_never_stopped(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", evaluations=18).history
    run(tmp_path / "parts", evaluations=15)
    rolecast.resume(tmp_path / "parts", evaluations=18)
    parts = read_history(tmp_path / "parts")
    for column in ("candidate", "episode_returns", "node/X0", "node/X1"):
        for one, same in zip(whole[column], parts[column], strict=True):
            np.testing.assert_array_equal(one, same)


def test_a_search_whose_state_is_lost_repeats_its_history_with_its_nodes(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", evaluations=18).history
    run(tmp_path / "parts", evaluations=16)
    (tmp_path / "parts" / "checkpoint" / "optimizer.safetensors").unlink()
    rolecast.resume(tmp_path / "parts", evaluations=18)
    for one, same in zip(
        whole["candidate"], read_history(tmp_path / "parts")["candidate"], strict=True
    ):
        np.testing.assert_array_equal(one, same)
