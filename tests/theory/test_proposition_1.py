"""Proposition 1: parameters that never meet in a term have no mixed second derivative.

And what does not follow from it: the converse, and that the policy's Hessian shows the return's.
Section 4.5 and appendices E and H of the DSS-GP-UCB paper.
"""

from collections.abc import Callable
from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor

import rolecast
from rolecast.core.types import Float
from rolecast.platform.optimizers.structure.cliques import find_structure

D = 7
Function = Callable[[Tensor], Tensor]


def additive(graph: "nx.Graph[int]", seed: int) -> Function:
    """Return a random function of the surrogate's own kind: a sum over the maximal cliques."""
    generator = torch.Generator().manual_seed(seed)
    kernel = rolecast.AdditiveCliqueKernel(list(nx.find_cliques(graph)), D).double()
    kernel.lengthscale = torch.full((D,), 0.6).double()
    centres = torch.rand(30, D, generator=generator, dtype=torch.float64)
    factors = torch.randn(30, generator=generator, dtype=torch.float64)
    return lambda point: kernel(point[None], centres).to_dense()[0] @ factors


def hessian(function: Function, point: Float) -> Float:
    found = torch.autograd.functional.hessian(function, torch.as_tensor(point))  # type: ignore[no-untyped-call]  # torch's own
    return np.asarray(found)


def adjacency(graph: "nx.Graph[int]") -> Float:
    return nx.to_numpy_array(graph, nodelist=range(len(graph)))


@pytest.mark.parametrize("seed", range(4))
def test_off_the_graph_the_hessian_is_exactly_zero_and_on_it_it_is_not(seed: int) -> None:
    """Zero as a number, not nearly: no rounding puts curvature where no term has it."""
    graph = nx.gnp_random_graph(D, 0.4, seed=seed)
    function, edges = additive(graph, seed), adjacency(graph) == 1.0
    for point in np.random.default_rng(seed).random((3, D)):
        found = hessian(function, point)
        apart = ~edges & ~np.eye(D, dtype=bool)
        assert apart.any()
        assert (found[apart] == 0.0).all()
        assert (np.abs(found[edges]) > 1e-6).all()


def test_an_edge_need_not_have_curvature() -> None:
    """The converse fails: a clique (0, 1) whose term is a sum has an edge and a Hessian of 0."""
    assert (hessian(lambda point: point.sum(), np.full(2, 0.3)) == 0.0).all()


def anchored(function: Function, graph: "nx.Graph[int]", point: Float, anchor: Float) -> float:
    """Return the sum over all cliques S, empty one too, of sum_T (-1)^|S - T| f(point on T).

    T runs over the parts of S, and the rest is at the anchor: the terms of the anchored
    decomposition (Kuo et al. 2010) that a graph allows.
    """
    cliques = {
        part
        for clique in nx.find_cliques(graph)
        for part in chain(*(combinations(sorted(clique), size) for size in range(D + 1)))
    }
    total = 0.0
    for clique in cliques:
        for size in range(len(clique) + 1):
            for moved in combinations(clique, size):
                mixed = anchor.copy()
                mixed[list(moved)] = point[list(moved)]
                sign = (-1.0) ** (len(clique) - size)
                total += sign * float(function(torch.as_tensor(mixed)).detach())
    return total


@pytest.mark.parametrize("seed", range(3))
def test_without_curvature_off_a_graph_a_function_is_a_sum_over_its_maximal_cliques(
    seed: int,
) -> None:
    """What does hold the other way round, and step 3 of algorithm 4 needs.

    Where d2v / da db = 0 everywhere for each non-edge, v is the sum of terms over cliques; of a
    graph that lacks one edge with curvature it is not.
    """
    graph = nx.gnp_random_graph(D, 0.4, seed=seed)
    function, (point, anchor) = additive(graph, seed), np.random.default_rng(seed).random((2, D))
    value = float(function(torch.as_tensor(point)).detach())
    assert anchored(function, graph, point, anchor) == pytest.approx(value, abs=1e-10)
    graph.remove_edge(*next(iter(graph.edges)))
    assert abs(anchored(function, graph, point, anchor) - value) > 1e-4


def test_three_pairs_look_like_a_triple() -> None:
    """xy + yz + zx has three cliques of two; its Hessian's graph has one of three, for good."""
    found = hessian(lambda p: p[0] * p[1] + p[1] * p[2] + p[2] * p[0], np.full(3, 0.4))
    structure = find_structure(np.abs(found), edge_cap=9, clique_cap=9, clique_size=9)
    assert structure.cliques == ((0, 1, 2),)


def wave(point: Tensor) -> Tensor:
    return torch.cos(2.0 * torch.pi * point).prod()


def saddle(point: Tensor) -> Tensor:
    return torch.exp(point[0] * point[1])


@pytest.mark.parametrize(("function", "corners"), [(wave, 0.0), (saddle, np.e - 1.0)])
def test_the_signed_mean_of_the_hessian_sees_the_corners_alone(
    function: Function, corners: float
) -> None:
    """Over the cube, d2v / da db averages to v(1, 1) - v(1, 0) - v(0, 1) + v(0, 0).

    So the signed sum of algorithm 4 tends to 0 for a pair whose corners cancel, however curved it
    is between them: no T0 is enough. The mean square stays.
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    side = [((1.0 + node) / 2.0, weight / 2.0) for node, weight in zip(nodes, weights, strict=True)]
    grid = [(np.array([a, b]), u * w) for a, u in side for b, w in side]
    entries = np.array([hessian(function, point)[0, 1] for point, _ in grid])
    shares = np.array([share for _, share in grid])
    assert shares @ entries == pytest.approx(corners, abs=1e-6)
    assert shares @ np.square(entries) > 1.0


@pytest.mark.parametrize("component", [0, 1])
def test_a_policy_without_curvature_can_have_a_return_with_it(component: int) -> None:
    """Appendix H: H_v = r + H_pi g, and the remainder r stays where H_pi is 0.

    Here the actions are the parameters and the return is their product.
    """
    point = np.array([0.3, 0.8])
    assert (hessian(lambda actions: actions[component], point) == 0.0).all()
    assert hessian(lambda actions: actions.prod(), point)[0, 1] == 1.0
