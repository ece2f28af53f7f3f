"""The six causal tasks: their optima, their noise, and their batched face."""

import time
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from rolecast.core.errors import RequestError
from rolecast.envs.causal.catalogue import CAUSAL_PROBLEMS
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.problem import CausalProblem, CausalTask
from rolecast.envs.causal.simulators import StructuralModel
from rolecast.envs.causal.task_ids import CAUSAL_OPTIONS, CAUSAL_TASKS
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask
from rolecast.testing import TaskContract

IDS = [*CAUSAL_TASKS, "causal:dropwave?noise=1", "causal:alpine2?noise=1"]


def problem(task_id: str) -> CausalProblem:
    task = make_task(task_id)
    assert isinstance(task, CausalTask)
    return task.problem


def test_ids_and_options_that_are_listed_without_numpy_are_those_of_the_catalogue() -> None:
    assert list(CAUSAL_TASKS) == list(CAUSAL_PROBLEMS)
    assert {*CAUSAL_OPTIONS} == {
        each for _, options in CAUSAL_PROBLEMS.values() for each in options
    }


class CausalContract(TaskContract):
    def test_another_seed_begins_another_episode(self) -> None:
        """There is nothing to observe before the one step."""
        assert not np.array(self.make().reset(np.arange(3, dtype=np.uint64))).any()


@pytest.mark.parametrize("task_id", IDS)
class TestCausalTasks(CausalContract):
    task_id = ""

    @pytest.fixture(autouse=True)
    def chosen(self, task_id: str) -> None:
        self.task_id = task_id

    def make(self) -> BatchedTask:
        return make_task(self.task_id)


def largest(of: CausalProblem, hard: tuple[str, ...], starts: int) -> float:
    """Return the largest expected reward over a set's values, by many local searches."""
    space = of.space
    chosen = space.sets.index(hard)
    column = np.flatnonzero(space.members[chosen])

    def points_of(places: Any) -> Any:
        full = np.tile(space.rest, (len(places), 1))
        full[:, column] = places
        return space.encode(np.full(len(places), chosen), full)

    def loss(places: Any) -> float:
        rewards = of.expected_rewards(points_of(places[None]), draws=20_000)
        assert rewards is not None
        return -float(rewards[0])

    # From the best of many points: the waves have as many local optima.
    points = np.random.default_rng(1).random((starts, len(column)))
    first = of.expected_rewards(points_of(points), draws=2000)
    assert first is not None
    points = points[np.argsort(-first)[: max(4, starts // 2000)]]
    found = [minimize(loss, x, bounds=[(0, 1)] * x.size, method="L-BFGS-B") for x in points]
    return -min(float(result.fun) for result in found)


@pytest.mark.parametrize(
    ("task_id", "hard", "expected", "tolerance"),
    [
        # 20,000 draws: a standard error of 0.007 at deviation 1, so 4.89 of them.
        ("causal:toy", ("X1",), 2.1718, 0.04),
        ("causal:toy", ("X0",), 1.46, 0.04),
        ("causal:toy", (), 0.72, 0.04),
        ("causal:psa", ("aspirin", "statin"), -5.156, 0.02),
        ("causal:psa", (), -5.806, 0.02),
    ],
)
def test_optima_of_the_hard_tasks(
    task_id: str, hard: tuple[str, ...], expected: float, tolerance: float
) -> None:
    of = problem(task_id)
    natural = of.expected_rewards(of.space.candidate()[None], draws=20_000)
    found = largest(of, hard, starts=40) if hard else natural
    assert found == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("task_id", "starts", "expected"),
    [
        ("causal:dropwave", 50_000, 1.0),
        ("causal:alpine2", 100_000, 2.8081311800070053**5 * 2.1827697846777187),
        ("causal:rosenbrock", 20_000, 0.0),
        ("causal:ackley", 40_000, 0.0),
    ],
)
def test_optima_of_the_function_networks(task_id: str, starts: int, expected: float) -> None:
    (everything,) = problem(task_id).space.sets
    found = largest(problem(task_id), everything, starts)
    assert found == pytest.approx(expected, rel=1e-3, abs=0.05)
    assert found <= expected + 1e-6


def test_known_points_give_their_known_values() -> None:
    """100,000 draws of deviation about 1: a standard error of 0.003; 4.89 of them are 1e-6."""
    toy, psa = problem("causal:toy"), problem("causal:psa")
    for of, values, expected in (
        (toy, {"X1": -3.2003}, 2.1718),
        (toy, {"X0": -1.125}, 1.46),
        (psa, {"aspirin": 0.0, "statin": 1.0}, -5.156),
    ):
        rewards = of.expected_rewards(of.space.candidate(**values)[None])
        assert rewards is not None
        assert rewards[0] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("task_id", IDS)
def test_expected_rewards_are_the_means_of_episodes(task_id: str) -> None:
    """False alarm: 1e-6 for each of three points, by 4.89 standard errors."""
    task = make_task(task_id)
    of = problem(task_id)
    points = np.random.default_rng(3).random((3, of.space.dimension))
    expected = of.expected_rewards(points)
    assert expected is not None
    for point, mean in zip(points, expected, strict=True):
        task.reset(np.arange(4000, dtype=np.uint64))
        rewards = task.step(np.broadcast_to(2.0 * point - 1.0, (4000, 1, len(point))))[1]
        error = rewards.std(ddof=1) / np.sqrt(len(rewards))
        assert abs(rewards.mean() - mean) <= 4.89 * error * np.sqrt(1.04) + 1e-9


def test_noise_of_nodes_has_its_deviation_and_reaches_the_reward() -> None:
    """False alarm: 1e-6 a check, by the standard error of a deviation of normal draws."""
    task, count = make_task("causal:rosenbrock?noise=1"), 20_000
    task.reset(np.arange(count, dtype=np.uint64))
    nodes = task.step(np.full((count, 1, 5), 0.3))[3]
    steps = [nodes["X0"], *(after - before for before, after in pairwise(nodes.values()))]
    for values in steps:
        assert values.std(ddof=1) == pytest.approx(1.0, abs=4.89 / np.sqrt(2 * count))
    assert abs(np.corrcoef(steps)[np.triu_indices(4, 1)]).max() < 4.89 / np.sqrt(count)


def test_noise_that_is_only_seen_does_not_reach_the_reward_of_dropwave() -> None:
    rewards = {}
    for option in ("noise=1", "noise=1&noise_seen_only=1"):
        model = problem(f"causal:dropwave?{option}").simulator
        assert isinstance(model, StructuralModel)
        uniforms = {"X0": np.linspace(0.01, 0.99, 50), "Y": np.full(50, 0.5)}
        rewards[option] = model.outcome(np.full((50, 2), 0.4), uniforms)["Y"]
    assert rewards["noise=1"].std() > 0.05
    assert rewards["noise=1&noise_seen_only=1"].std() < 1e-12


def test_a_hundred_thousand_draws_take_well_under_a_second() -> None:
    """Some 20 ms here; of three tries, so that a busy machine fails no test."""
    of = problem("causal:alpine2?noise=1")
    points, took = np.full((1, 6), 0.4), []
    for _ in range(3):
        start = time.perf_counter()
        of.expected_rewards(points, draws=100_000)
        took.append(time.perf_counter() - start)
    assert min(took) < 0.5


@pytest.mark.parametrize(
    ("task_id", "message"),
    [
        ("causal:acklei", "task 'causal:acklei' does not exist; did you mean 'causal:ackley'"),
        ("causal:ackley?noise=1", "option of task 'causal:ackley': 'noise' does not exist; it has"),
        ("causal:alpine2?noise=2", "option 'noise' of task 'causal:alpine2' is 2; expected 0 or 1"),
    ],
)
def test_a_wrong_id_is_refused(task_id: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        make_task(task_id)


GRAPH = CausalGraph(
    nodes=(CausalNode(name="x", actions=("a",)), CausalNode(name="y", parents=("x",))),
    actions=(ActionRange(name="a", low=0.0, high=4.0),),
    do=(ActionRange(name="x"),),
)


def test_a_users_simulator_is_a_task_that_gets_what_is_set_by_name() -> None:
    seen = []

    def simulate(made: Any, rng: np.random.Generator) -> dict[str, float]:
        seen.append(dict(made))
        x = made.get("x", made["a"] + rng.normal())
        return {"x": x, "y": 2.0 * x}

    task = CausalProblem(GRAPH, simulate)("python:mine:problem")
    space = task.problem.space
    points = np.stack([space.candidate(a=1.0), space.candidate(a=3.0, x=0.5)])
    task.reset(np.array([5, 6], dtype=np.uint64))
    _, rewards, done, nodes = task.step(2.0 * points[:, None] - 1.0)
    assert seen == [{"a": 1.0}, {"a": 3.0, "x": 0.5}]
    assert nodes["x"][0] == 1.0 + np.random.default_rng(5).normal()
    np.testing.assert_array_equal(rewards, 2.0 * nodes["x"])
    assert done.all()
    assert task.problem.expected_rewards(points) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": 1.0}, r"node 'x' is missing; the simulator gave \['y'\]"),
        ({"x": float("nan"), "y": 1.0}, "node 'x' is nan; expected a finite number"),
        ({"x": "3", "y": 1.0}, "node 'x' is '3'; expected a finite number"),
        ({"x": 10**400, "y": 1.0}, "node 'x' is 10.*; expected a finite number"),
        ({"x": [[1.0], [1.0, 2.0]], "y": 1.0}, "node 'x' is .*; expected a finite number"),
        ({"x": np.zeros(2), "y": 1.0}, r"node 'x' is array\(.*; expected a finite number"),
        ({"x": 1e101, "y": 1.0}, r"node 'x' is 1e\+101; expected .* at most 1e\+100 in size"),
        ({1: 2.0, "y": 1.0}, r"node 'x' is missing; the simulator gave \['1', 'y'\]"),
        (None, "the simulator gave None; expected a mapping"),
    ],
)
def test_a_simulator_that_leaves_out_a_node_is_refused_by_name(given: Any, message: str) -> None:
    task = CausalProblem(GRAPH, lambda made, rng: given)()
    task.reset(np.zeros(1, dtype=np.uint64))
    with pytest.raises(RequestError, match=message):
        task.step(np.zeros((1, 1, 3)))


def test_a_node_may_be_an_array_of_one_and_a_function_may_make_the_problem() -> None:
    given: Any = {"x": np.array([1.5]), "y": Fraction(2)}
    problem = CausalProblem(GRAPH, lambda made, rng: given)
    task = make_task(lambda: problem)
    assert isinstance(task, CausalTask)
    task.reset(np.zeros(1, dtype=np.uint64))
    _, rewards, _, nodes = task.step(np.full((1, 1, 3), -1.0))  # x is not set
    assert (nodes["x"].tolist(), rewards.tolist()) == ([1.5], [2.0])


def test_every_node_needs_a_mechanism() -> None:
    mechanisms: list[Any] = [{"x": lambda v: v["a"]}, {"x": lambda v: v["a"], "y": 3}]
    for one in mechanisms:
        with pytest.raises(RequestError, match="node 'y' has no mechanism"):
            CausalProblem(GRAPH, one)
    more: Any = {"x": lambda v: v["a"], "yy": lambda v: v["x"]}
    unknown = r"node of CausalProblem\.simulate: 'yy' does not exist; did you mean 'y'\?"
    with pytest.raises(RequestError, match=unknown):
        CausalProblem(GRAPH, more)
    with pytest.raises(RequestError, match=r"CausalProblem\.simulate is None; expected a function"):
        CausalProblem(GRAPH, None)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"CausalProblem\.graph is None; expected a CausalGraph"):
        CausalProblem(None, {})  # type: ignore[arg-type]


def test_an_expectation_over_draws_without_a_number_is_not_known() -> None:
    """Episodes see 1e-4 of the draws that reach below 0, where the root is no number."""
    graph = CausalGraph(
        nodes=(
            CausalNode(name="x", actions=("a",), noise=NodeNoise(kind="normal", scale=0.3)),
            CausalNode(name="y", parents=("x",)),
        ),
        actions=(ActionRange(name="a", low=1.0, high=2.0),),
    )
    with np.errstate(invalid="ignore"):
        problem = CausalProblem(graph, {"x": lambda v: v["a"], "y": lambda v: np.sqrt(v["x"])})
        assert problem.expected_rewards(np.array([[0.0]])) is None
        assert problem.expected_rewards(np.array([[1.0]])) is not None
