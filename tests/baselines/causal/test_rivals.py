"""Rivals of MCBO: each against a formula or a point that is known, and none of them repeats."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from rolecast.baselines.causal import set_processes
from rolecast.baselines.causal.function_network import EifnConfig, normal_deviates
from rolecast.baselines.causal.reward_process import CausalGpUcbConfig
from rolecast.core.errors import RequestError
from rolecast.core.threads import OneThread
from rolecast.core.types import Float
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.problem import CausalProblem, CausalTask
from rolecast.envs.registry import make_task
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel
from rolecast.platform.optimizers.mcbo.search import CausalSearch
from rolecast.platform.optimizers.registry import (
    CAUSAL_SEARCHES,
    optimizer_config,
    optimizer_config_class,
    setting_names,
)
from rolecast.platform.search.planning.policy_hints import with_reward_noise, with_task_graph
from rolecast.testing.optimizers import read_back

ONE_THREAD = OneThread()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Compute as a search does: threads that wait for each other take many times as long."""
    with ONE_THREAD():
        yield


SMALL: dict[str, Any] = {"starts": 4, "raw_samples": 32, "steps": 5, "samples": 8}


def played(name: str, task_id: str, evaluations: int, seed: int = 0, **settings: Any) -> Any:
    """Return an optimiser that has searched a causal task, and what it asked for."""
    task = make_task(task_id)
    assert isinstance(task, CausalTask)
    known = setting_names(optimizer_config_class(name))
    small = {setting: value for setting, value in SMALL.items() if setting in known}
    config: Any = optimizer_config(name, **(small | settings))
    space = task.problem.space
    known = config.with_graph(task.graph)
    optimizer = known.build(dimension=space.dimension, seed=seed)
    asked = [
        asked_and_told(optimizer, task, 1000 * seed + number)[0] for number in range(evaluations)
    ]
    return task.problem, np.array(asked), optimizer


def asked_and_told(optimizer: CausalSearch, task: CausalTask, seed: int, q: int = 1) -> Float:
    """Ask for candidates [q, D], and tell episodes of seeds from this one on; return them."""
    points = optimizer.ask(q)
    task.reset(seed + np.arange(q, dtype=np.uint64))
    _, rewards, _, nodes = task.step(2.0 * points[:, None] - 1.0)
    seen = {
        node.observed_as: nodes[node.observed_as][:, None] for node in optimizer.graph.nodes[:-1]
    }
    optimizer.tell_nodes(points, rewards, None, seen)
    return points


@pytest.mark.parametrize("name", CAUSAL_SEARCHES)
@pytest.mark.parametrize("task_id", ["causal:toy", "causal:dropwave"])
def test_all_begin_alike_and_the_same_seed_searches_alike(name: str, task_id: str) -> None:
    if task_id == "causal:dropwave" and name in {"eicbo", "cbo"}:
        with pytest.raises(RequestError, match="expected several for cbo"):
            played(name, task_id, 1)
        return
    if task_id == "causal:toy" and name == "causal_gp_ucb":
        with pytest.raises(RequestError, match="gp_ucb has no sets of interventions"):
            played(name, task_id, 1)
        return
    first = 14 if task_id == "causal:toy" else 5
    _, asked, one = played(name, task_id, first + 2)
    _, again, _ = played(name, task_id, first + 2)
    _, rival, _ = played("causal_random", task_id, first)
    np.testing.assert_array_equal(asked, again)
    np.testing.assert_array_equal(asked[:first], rival)
    assert one.best().shape == asked[0].shape


@pytest.mark.parametrize("name", CAUSAL_SEARCHES)
def test_a_restored_search_goes_on_as_the_original_would_have(name: str) -> None:
    """With a candidate pending, in batches of any size, whatever was searched before."""
    task_id, first = ("causal:dropwave", 5) if name == "causal_gp_ucb" else ("causal:toy", 14)
    _, _, original = played(name, task_id, first + 2)
    _, _, restored = played(name, task_id, first + 3, seed=1)
    original.ask(1)
    restored.load_state_dict(read_back(original))
    task = make_task(task_id)
    assert isinstance(task, CausalTask)
    for q in (1, 3, 1):
        np.testing.assert_array_equal(original.best(), restored.best())
        assert original.explain() == restored.explain()
        one, other = (asked_and_told(each, task, 9, q) for each in (original, restored))
        np.testing.assert_array_equal(one, other)


def test_expected_improvement_finds_the_best_dose_and_beats_chance() -> None:
    """True optimum: statin at 1, -5.35 alone and -5.156 with aspirin 0."""
    for name in ("eifn", "eicbo", "cbo"):
        problem, asked, _ = played(name, "causal:psa", 16 + 4)
        rewards = problem.expected_rewards(asked[16:], draws=2000)
        assert rewards.max() > -5.4, name


def test_the_prior_is_fitted_once_as_its_observations_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And the search is the one that fits it at each proposal."""
    made: list[int] = []

    def counted(space: Any, data: Any, *, constant_mean: bool) -> GraphModel:
        made.append(len(data))
        return GraphModel(space, data, constant_mean=constant_mean)

    monkeypatch.setattr(set_processes, "GraphModel", counted)
    _, kept, _ = played("eicbo", "causal:toy", 14 + 3)
    assert len(made) == 1
    monkeypatch.setattr(set_processes, "_same", lambda one, other: False)
    _, anew, _ = played("eicbo", "causal:toy", 14 + 3)
    assert len(made) == 1 + 3
    np.testing.assert_array_equal(kept, anew)


def test_pending_places_of_a_set_take_deviation_and_leave_its_mean_and_its_fit() -> None:
    rng = np.random.default_rng(3)
    told, waiting, asked = (rng.random((count, 2)) for count in (8, 3, 50))
    rewards = np.sin(5.0 * told[:, 0]) + told[:, 1]
    known = (told, rewards, np.full(8, 0.01))
    before, after = (
        set_processes._process(*known, pending, unit=1.0, constant_mean=False)
        for pending in (waiting[:0], waiting)
    )
    for places in (waiting, asked):
        mean, deviation = before.posterior(torch.as_tensor(places))
        kept, less = after.posterior(torch.as_tensor(places))
        np.testing.assert_allclose(kept, mean, rtol=0, atol=1e-6)
        assert (less <= deviation + 1e-9).all()
    assert (less < 0.9 * deviation).any()
    scales = [process.known.scale for process in (before, after)]
    assert scales[0] == scales[1]


def test_a_batch_of_set_processes_waits_for_each_of_its_sets() -> None:
    """Each further candidate is another one, and none of them is fitted as if it were told."""
    for name in ("eicbo", "cbo"):
        _, _, optimizer = played(name, "causal:toy", 14)
        batch = optimizer.ask(4)
        assert len(np.unique(batch, axis=0)) == 4
        apart = np.abs(batch[:, None] - batch[None]).max(-1)[np.triu_indices(4, 1)]
        assert apart.min() > 1e-3, name


@pytest.mark.parametrize("name", ["eicbo", "cbo"])
@pytest.mark.parametrize("told", [5, 10])
def test_a_batch_across_the_end_of_the_initial_design_is_random_where_no_set_was_told(
    name: str, told: int
) -> None:
    """The first ten rows are without interventions; the fifteenth is the first to be chosen."""
    problem, _, optimizer = played(name, "causal:toy", told)
    batch = optimizer.ask(15 - told)
    chosen, _ = problem.space.decode(batch)
    assert problem.space.sets[chosen[-1]] != ()
    assert optimizer.explain()["acquisition"] == 0.0


def test_the_rival_that_sees_no_node_has_the_noise_of_the_reward() -> None:
    """A sum of four unit noises has deviation 2. False alarm: 1e-6, by 4.89 standard errors."""
    task = make_task("causal:rosenbrock?noise=1")
    assert isinstance(task, CausalTask)
    deviation = task.problem.reward_deviation()
    assert deviation == pytest.approx(2.0, abs=4.89 * 2.0 / np.sqrt(2 * 64 * 512))
    assert deviation is not None
    config: Any = CausalGpUcbConfig(reward_noise=deviation).with_graph(task.graph)
    assert config.observed_metrics == ()
    search = config.build(dimension=5, seed=0)
    search.tell(np.full((1, 5), 0.5), np.zeros(1))
    assert search._data.variances[0, 0] == pytest.approx(deviation**2)
    exact = make_task("causal:ackley")
    assert isinstance(exact, CausalTask)
    assert exact.problem.reward_deviation() == 0.0


@pytest.mark.parametrize("name", ["eicbo", "cbo"])
def test_noise_from_above_the_reward_is_no_signal_to_the_processes_of_sets(name: str) -> None:
    """X0 -> X1 -> Y = -(X1 - 1)^2, unit noise but of Y: do(X1 = 1) is best, and do(X0) noisy."""
    noise, nodes = NodeNoise(kind="normal", scale=1.0), ("X0", "X1")
    graph = CausalGraph(
        nodes=(
            CausalNode(name="X0", noise=noise),
            CausalNode(name="X1", parents=("X0",), noise=noise),
            CausalNode(name="Y", parents=("X1",)),
        ),
        do=tuple(ActionRange(name=each, low=-3.0, high=3.0) for each in nodes),
    )
    mechanisms = {
        "X0": lambda _: 0.0,
        "X1": lambda x: x["X0"],
        "Y": lambda x: -((x["X1"] - 1) ** 2),
    }
    task = CausalProblem(graph, mechanisms)()
    plain: Any = optimizer_config(name, raw_samples=256, samples=16)
    informed = with_reward_noise(with_task_graph(plain, task), task, 1)
    seen = task.problem.reward_deviation()
    assert vars(informed)["reward_noise"] == seen
    assert seen is not None
    assert seen > 2.0
    on_best = [
        rounds_on_best(task, config, seed) for config in (plain, informed) for seed in (0, 1)
    ]
    assert sum(on_best[2:]) > sum(on_best[:2])


def rounds_on_best(task: CausalTask, config: Any, seed: int) -> int:
    """Return how many of 30 rounds after the initial design set X1."""
    space = task.problem.space
    search: Any = with_task_graph(config, task).build(dimension=space.dimension, seed=seed)
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(14 + 30):
        candidate = search.ask(1)
        seeds = rng.integers(1 << 63, size=1, dtype=np.uint64)
        nodes = task.problem.simulator.draw(space.values(candidate), seeds)
        told = {each: nodes[each][:, None] for each in ("X0", "X1")}
        search.tell_nodes(candidate, nodes["Y"], None, told)
        chosen.append(int(space.decode(candidate)[0][0]))
    return chosen[14:].count(space.sets.index(("X1",)))


def test_a_set_of_two_rewards_that_are_alike_is_not_known_for_certain() -> None:
    places, rewards = np.array([[0.2], [0.9]]), np.array([0.1 + 0.2, 0.3])
    nothing = np.empty((0, 1))
    process = set_processes._process(
        places, rewards, np.zeros(2), nothing, unit=1.0, constant_mean=False
    )
    deviation = process.posterior(torch.tensor([[0.55]], dtype=torch.float64))[1]
    assert float(deviation) > 0.01


def test_posterior_samples_of_a_node_are_normal_and_those_of_two_nodes_unlike() -> None:
    """Scrambled Sobol points: the first moments of 512 draws are those of a normal to 0.02."""
    eta = normal_deviates(512, 2, np.random.default_rng(0), "cpu")
    draws = torch.stack([torch.as_tensor(eta(k, lambda: torch.zeros(1))) for k in range(2)])
    assert draws.mean(dim=1).abs().max() < 0.02
    assert (draws.std(dim=1) - 1.0).abs().max() < 0.02
    assert abs(float(torch.corrcoef(draws)[0, 1])) < 0.05


def test_a_wrong_noise_is_refused() -> None:
    with pytest.raises(RequestError, match=r"CausalGpUcbConfig.reward_noise is -1; expected"):
        CausalGpUcbConfig(reward_noise=-1)


def test_a_device_that_a_method_has_not_is_refused() -> None:
    smooth = make_task("causal:ackley")
    assert isinstance(smooth, CausalTask)
    unseen = "cuda:999"
    for config in (CausalGpUcbConfig(device=unseen), EifnConfig(device=unseen)):
        with pytest.raises(RequestError, match=r"device is 'cuda:999'; expected cpu, or one of"):
            config.with_graph(smooth.graph).build(dimension=6, seed=0)  # type: ignore[attr-defined]
    with pytest.raises(RequestError, match=r"setting of optimizer 'cbo' 'device' does not exist"):
        optimizer_config("cbo", device="cuda")
