"""Simulators of causal graphs: what a mechanism or a user's function gives wrong is named."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode
from rolecast.envs.causal.problem import CausalProblem

GRAPH = CausalGraph(
    nodes=(CausalNode(name="x", actions=("a",)), CausalNode(name="y", parents=("x",))),
    actions=(ActionRange(name="a", low=0.0, high=4.0),),
    do=(ActionRange(name="x"),),
)


@pytest.mark.parametrize(("given", "fits"), [(0.3, True), (np.float32(0.3), True), (0.8, False)])
def test_a_simulator_that_does_not_set_what_it_is_to_set_is_refused(
    given: Any, *, fits: bool
) -> None:
    """A number of single precision fits: that of 0.3 differs by 1.2e-8."""
    task = CausalProblem(GRAPH, lambda made, rng: {"x": given, "y": 1.0})()
    point = 2.0 * task.problem.space.candidate(a=1.0, x=0.3) - 1.0
    task.reset(np.zeros(1, dtype=np.uint64))
    if fits:
        assert task.step(point[None, None])[3]["x"] == pytest.approx(0.3)
        return
    with pytest.raises(RequestError, match=r"node 'x' is 0\.8; expected 0\.3\d*, the value to wh"):
        task.step(point[None, None])


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda v: np.zeros(3), r"shape of node 'y' is \(3,\); expected \(2,\), one number a draw"),
        (lambda v: np.zeros((2, 1)), r"shape of node 'y' is \(2, 1\); expected \(2,\)"),
        (lambda v: "high", "node 'y' is 'high'; expected 2 real numbers, or one"),
        (lambda v: None, "node 'y' is None; expected 2 real numbers, or one"),
        (lambda v: v["x"] + 1j, r"node 'y' is \(.*1j\); expected 2 real numbers, or one"),
        (lambda v: [[1.0], [1.0, 2.0]], r"node 'y' is \[.*; expected 2 real numbers, or one"),
        (lambda v: [10**400, 1], r"node 'y' is \[10.*; expected a finite number"),
        (lambda v: 1e308, r"node 'y' is 1e\+308; expected .* at most 1e\+100 in size"),
        (lambda v: np.nan, r"node 'y' is nan; expected a finite number"),
    ],
)
def test_a_mechanism_that_gives_no_numbers_is_refused_by_name(law: Any, message: str) -> None:
    task = CausalProblem(GRAPH, {"x": lambda v: v["a"], "y": law})()
    task.reset(np.zeros(2, dtype=np.uint64))
    with pytest.raises(RequestError, match=message):
        task.step(np.zeros((2, 1, task.spec.action_size)))


def test_a_mechanism_may_give_one_number_integers_or_fractions() -> None:
    laws: list[Any] = [
        lambda v: 2,
        lambda v: [2, 2],
        lambda v: [Fraction(2), 2.0],
        lambda v: np.full(1, 2),
    ]
    for law in laws:
        task = CausalProblem(GRAPH, {"x": lambda v: v["a"], "y": law})()
        task.reset(np.zeros(2, dtype=np.uint64))
        rewards = task.step(np.zeros((2, 1, task.spec.action_size)))[1]
        np.testing.assert_array_equal(rewards, [2.0, 2.0])
