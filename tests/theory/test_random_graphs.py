"""Lemmas 4 and 5: cliques of a random graph, how large and how many.

Appendix G of the DSS-GP-UCB paper, for graphs G(n, p) of Erdős and Rényi. Both rest on expected
numbers of cliques, which are known exactly; graphs are drawn to see that the counts are those.
"""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import binom

from rolecast.core.types import Float

SIZES = [2, 5, 20, 100, 478]
SHARES = [1e-6, 0.01, 0.1, 0.3, 0.5, 0.9]
DELTAS = [1e-4, 0.05, 0.5, 0.99]


def log_expected_cliques(n: int, p: float) -> Float:
    """Return log E[C_k] for k = 1..n, C_k all cliques of k: log binom(n, k) p^(k (k - 1) / 2)."""
    k = np.arange(1, n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(ways + k * (k - 1) / 2.0 * np.log(p))


def largest(n: int, p: float, delta: float) -> float:
    """Return lemma 4's bound on the size of the largest clique."""
    log = np.log(n) / -np.log(p), np.log(n / delta) / -np.log(p)
    return float(2.0 * log[0] + 2.0 * np.sqrt(log[1] + 1.0))


def log_count(n: int, p: float, delta: float) -> float:
    """Return the logarithm of lemma 5's bound on the number of maximal cliques."""
    return float(0.5 * (np.log(n) / -np.log(p) + 5.0) * np.log(n) - np.log(delta))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("p", SHARES)
def test_lemma_4_holds(n: int, p: float) -> None:
    """By Markov's inequality over all sizes above the bound, exactly."""
    expected = log_expected_cliques(n, p)
    for delta in DELTAS:
        above = expected[int(np.floor(largest(n, p, delta))) :]
        assert len(above) == 0 or logsumexp(above) <= np.log(delta)


def test_lemma_4_has_its_one_outside_the_logarithm() -> None:
    """Read the other way, log(n / delta + 1), it says that a sparse graph has no vertex."""
    n, p, delta = 2, 1e-6, 0.9
    inside = np.log(n / delta + 1.0) / -np.log(p)
    assert 2.0 * np.log(n) / -np.log(p) + 2.0 * np.sqrt(inside) < 1.0
    assert largest(n, p, delta) >= 2.0


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("p", SHARES)
def test_lemma_5_holds(n: int, p: float) -> None:
    """All cliques are at most delta times the bound on average, the maximal ones all the more.

    Differs: the proof puts the most frequent size at log n + 1, where the exponent it maximises has
    its top at log n + 1/2; the bound is loose enough.
    """
    total = logsumexp(log_expected_cliques(n, p))
    for delta in DELTAS:
        assert total <= log_count(n, p, delta) + np.log(delta)


@pytest.mark.parametrize(("n", "p"), [(30, 0.2), (30, 0.5), (50, 0.3)])
def test_drawn_graphs_have_the_cliques_that_are_expected(n: int, p: float) -> None:
    """False alarm: about 1e-6 (normal, 4.89 standard errors, of 300 graphs) for each of two.

    Triangles off by 20 % and maximal cliques off by 8 % are always seen.
    """
    graphs = [nx.gnp_random_graph(n, p, seed=seed) for seed in range(300)]
    k = np.arange(1, n + 1)
    maximal = np.exp(log_expected_cliques(n, p)) * (1.0 - p**k) ** (n - k)
    walks = [np.linalg.matrix_power(nx.to_numpy_array(graph), 3) for graph in graphs]
    triangles = [np.trace(walk) / 6.0 for walk in walks]
    cliques = [len(list(nx.find_cliques(graph))) for graph in graphs]
    three = n * (n - 1) * (n - 2) / 6 * p**3
    for counts, expected, visible in (
        (triangles, three, 0.1),
        (cliques, float(maximal.sum()), 0.04),
    ):
        error = 4.89 * np.std(counts, ddof=1) / np.sqrt(len(counts))
        assert abs(np.mean(counts) - expected) < error
        assert error < visible * expected


@pytest.mark.parametrize(("n", "p"), [(12, 0.3), (40, 0.3), (40, 0.5)])
def test_drawn_graphs_keep_the_promises_of_lemmas_4_and_5(n: int, p: float) -> None:
    """False alarm: 1e-6 each, exact binomial, if the lemmas held with no room; of 300 graphs."""
    delta, broken = 0.2, Counter({"size": 0, "count": 0})
    for seed in range(300):
        cliques = list(nx.find_cliques(nx.gnp_random_graph(n, p, seed=seed)))
        broken["size"] += max(map(len, cliques)) > largest(n, p, delta)
        broken["count"] += np.log(len(cliques)) > log_count(n, p, delta)
    allowed = binom.ppf(1.0 - 1e-6, 300, delta)
    assert max(broken.values()) <= allowed


def test_lemma_4_is_nearly_twice_the_truth_and_lemma_5_out_of_reach() -> None:
    """What they are worth at the size of a policy: D = 478, 1,500 edges, p = 0.013."""
    n, p, delta = 478, 1500 / (478 * 477 / 2), 0.1
    cliques = list(nx.find_cliques(nx.gnm_random_graph(n, 1500, seed=0)))
    assert max(map(len, cliques)) <= 4 < largest(n, p, delta) < 7
    assert len(cliques) < 1600
    assert np.exp(log_count(n, p, delta)) > 1e9
