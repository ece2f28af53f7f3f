"""Rollouts through a graph and their maximisation: against finite differences and known models."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from rolecast.core.types import Float
from rolecast.envs.causal.graph import ActionRange, CausalGraph, CausalNode, NodeNoise
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.config import (
    McboConfig,
    climbed,
    optimism_for,
    optimistic_value,
    reward_graph,
)
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel, node_noise
from rolecast.platform.optimizers.mcbo.maximisation import (
    Points,
    Value,
    best_starts,
    climb,
    drawn_points,
    score,
)
from rolecast.platform.optimizers.mcbo.node_data import (
    Observed,
)
from rolecast.platform.optimizers.mcbo.optimism import ConstantOptimism, NetOptimism

Observing = Callable[..., tuple[InterventionSpace, Observed]]


@pytest.mark.parametrize("noisy", [False, True])
def test_the_gradient_through_three_nodes_is_that_of_finite_differences(noisy: bool) -> None:
    noise = NodeNoise(kind="normal", scale=0.3) if noisy else NodeNoise()
    graph = CausalGraph(
        nodes=(
            CausalNode(name="x", actions=("a",), noise=noise),
            CausalNode(name="z", parents=("x",), actions=("b",), noise=noise),
            CausalNode(name="y", parents=("x", "z"), noise=noise),
        ),
        actions=(ActionRange(name="a"), ActionRange(name="b")),
    )
    space, rng = InterventionSpace(graph), np.random.default_rng(3)
    points = rng.random((12, 2))
    x = np.sin(4 * points[:, 0])
    z = x * points[:, 1]
    values = np.stack([x, z, z - x**2], axis=1)
    model = GraphModel(space, Observed(points, values, np.full_like(values, 0.01)))
    optimism = optimism_for(model)
    assert isinstance(optimism, NetOptimism if noisy else ConstantOptimism)
    value = optimistic_value(model, optimism, node_noise(space, 16, rng, "cpu"), beta=0.7)
    at = torch.tensor(np.concatenate([rng.random((2, 2)), optimism.draw(2, rng)], axis=1))
    chosen = torch.zeros(2, dtype=torch.int64)

    def total(rows: torch.Tensor) -> torch.Tensor:
        return value(rows[:, :2], chosen, rows[:, 2:]).sum()

    rows = at.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(total(rows), rows)
    step = 1e-6
    for row, column in np.ndindex(*at.shape):
        moved = [at.clone(), at.clone()]
        for sign, each in zip((1.0, -1.0), moved, strict=True):
            each[row, column] += sign * step
        slope = float(total(moved[0]) - total(moved[1])) / (2.0 * step)
        assert float(gradient[row, column]) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_without_a_graph_the_acquisition_is_the_upper_confidence_bound() -> None:
    space, rng = InterventionSpace(reward_graph(3)), np.random.default_rng(0)
    points = rng.random((9, 3))
    values = np.sin(3.0 * points).sum(axis=1, keepdims=True)
    model = GraphModel(space, Observed(points, values, np.full_like(values, 0.01)))
    queries = torch.tensor(rng.random((20, 3)))
    for beta in (0.0, 0.5, 5.0):
        value = optimistic_value(model, optimism_for(model), node_noise(space, 4, rng, "cpu"), beta)
        found = value(queries, torch.zeros(20, dtype=torch.int64), torch.zeros((20, 0)))
        mean, deviation = model.processes[0].posterior(queries)
        torch.testing.assert_close(found, mean + beta * deviation, rtol=0.0, atol=1e-8)


def test_a_wider_band_allows_no_less_reward_and_without_eta_the_rollout_is_the_mean(
    observed: Observing,
) -> None:
    space, data = observed("causal:alpine2", 20)
    model, rng = GraphModel(space, data), np.random.default_rng(2)
    optimism = optimism_for(model)
    noise = node_noise(space, 1, rng, "cpu")
    places = torch.tensor(np.repeat(rng.random((3, 6)), 4, axis=0))
    chosen = torch.zeros(12, dtype=torch.int64)
    eta = Points(places.numpy(), chosen.numpy(), optimism.draw(12, rng))
    reached: list[Float] = []
    for beta in (0.0, 0.1, 0.5, 2.0):
        value = optimistic_value(model, optimism, noise, beta)

        def fixed(_: Tensor, sets: Tensor, parameters: Tensor, value: Value = value) -> Tensor:
            return value(places, sets, parameters)

        # Each climb begins where the one of the narrower band has ended.
        eta = climb(fixed, eta, optimism.bounds, steps=60)
        reached.append(score(fixed, eta).reshape(3, 4).max(axis=1))
    assert (np.diff(reached, axis=0) > 0.0).all()
    still = model.rollout(places[:1], chosen[:1], noise=noise)[0, 0, -1]
    wide = model.rollout(
        places[:1], chosen[:1], noise=noise, beta=9.0, deviates=lambda place, inputs: 0.0
    )
    torch.testing.assert_close(wide[0, 0, -1], still, rtol=0.0, atol=1e-12)
    mean = model.mean_rewards(space.encode(np.array([0]), places[:1].numpy()), noise)
    assert float(still) == pytest.approx(float(mean[0]), abs=1e-12)


def test_a_net_and_a_constant_reach_the_same_optimism_where_there_is_no_noise(
    observed: Observing,
) -> None:
    space, data = observed("causal:dropwave", 12)
    model = GraphModel(space, data)
    config = McboConfig(beta=1.0, starts=16, raw_samples=400, steps=200)
    quiet, reached = node_noise(space, 1, np.random.default_rng(0), "cpu"), []
    for optimism in (ConstantOptimism(model.inputs.sizes), NetOptimism(model.inputs.sizes)):
        value = optimistic_value(model, optimism, quiet, config.beta)
        points = drawn_points(space, optimism.draw, 400, np.zeros((0, 2)), np.random.default_rng(5))
        reached.append(climbed(config, model, value, points, optimism.bounds)[1])
    assert reached[1] == pytest.approx(reached[0], rel=1e-6)


def test_the_best_of_every_set_is_a_start() -> None:
    points = Points(np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2]), np.zeros((6, 0)))
    values = np.array([5.0, 6.0, 0.0, 1.0, 9.0, 8.0])
    starts = best_starts(points, values, 4, 3)
    np.testing.assert_array_equal(starts.places[:, 0], [1, 3, 4, 5])
    assert score(lambda p, c, k: p.sum(1), starts).tolist() == [1, 3, 4, 5]
