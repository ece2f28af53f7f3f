"""TreeBO: an additive process whose forest of interactions is learned by Gibbs sampling.

Source: Han, Arora and Scarlett (2021), High-dimensional Bayesian optimization via tree-structured
additive models, sections 3 and 4. Settings are those of their published configurations.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from botorch.models import SingleTaskGP
from scipy.linalg import cho_factor, cho_solve

from rolecast.baselines.hdbo.forest.cliques import Edge, alone, path
from rolecast.baselines.hdbo.forest.process import term_posterior
from rolecast.baselines.hdbo.forest.search import ForestConfig, ForestMethod, ForestSearch
from rolecast.baselines.hdbo.search import Beliefs
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, check


@dataclass(frozen=True, kw_only=True)
class TreeboConfig(ForestConfig):
    """TreeBO: an additive process over a forest that is learned."""

    learn_every: int = 15
    """Evaluations after which the forest is sampled anew; the authors'."""

    gibbs_steps: int = 100
    """Forests whose evidence is computed each time; the authors'."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check(
            "TreeboConfig",
            vars(self),
            {"learn_every": POSITIVE_INTEGER, "gibbs_steps": POSITIVE_INTEGER},
        )

    def build(self, *, dimension: int, seed: int) -> ForestSearch:
        """Return a fresh optimiser."""
        return ForestSearch(self, Treebo(self, dimension), dimension=dimension, seed=seed)


class Evidence:
    """Log marginal likelihood of forests over the same data and hyperparameters."""

    def __init__(
        self, points: Float, targets: Float, noise: Float, lengthscales: Float, variances: Float
    ) -> None:
        """Take points [N, D], targets [N], noise variances [N], and parameters [D], [D]."""
        self._scaled, self._targets, self._noise = points / lengthscales, targets, noise
        self._variances = variances
        self.dimension = points.shape[1]

    def covariance(self, edges: Iterable[Edge]) -> Float:
        """Return the sum of all terms of a forest, [N, N]."""
        held = tuple(edges)
        total = np.zeros((len(self._scaled), len(self._scaled)))
        for clique in (*held, *((one,) for one in alone(held, self.dimension))):
            total += self.term(clique)
        return total

    def term(self, clique: tuple[int, ...]) -> Float:
        """Return the covariance [N, N] of one term."""
        inputs = self._scaled[:, clique]
        squares = np.square(inputs[:, None] - inputs[None]).sum(2)
        scale = float(np.sqrt(np.square(self._variances[list(clique)]).sum()))
        return np.asarray(scale * np.exp(-0.5 * squares))

    def changed(self, covariance: Float, before: set[Edge], after: set[Edge]) -> Float:
        """Return the covariance of a forest from that of another of nearly the same edges."""
        ends = {end for edge in before ^ after for end in edge}
        found = covariance.copy()
        for edges, sign in ((before, -1.0), (after, 1.0)):
            held = {end for edge in edges for end in edge}
            for one in ends - held:
                found += sign * self.term((one,))
        for edge in before - after:
            found -= self.term(edge)
        for edge in after - before:
            found += self.term(edge)
        return found

    def value(self, covariance: Float) -> float:
        """Return the log marginal likelihood, up to a constant."""
        noisy = covariance.copy()
        noisy[np.diag_indices_from(noisy)] += self._noise
        factor = cho_factor(noisy, lower=True, overwrite_a=True, check_finite=False)
        fitted = self._targets @ cho_solve(factor, self._targets, check_finite=False)
        return -0.5 * float(fitted) - float(np.log(np.diag(factor[0])).sum())


def learn(
    edges: Iterable[Edge], evidence: Evidence, steps: int, rng: np.random.Generator
) -> tuple[Edge, ...]:
    """Sample forests; return the one of greatest evidence.

    A pair of dimensions is drawn. The alternative to an edge is its absence. That to a pair of two
    trees is its presence. A pair that would close a cycle replaces a random edge of the cycle, the
    mutation of section 3. The alternative is taken with its posterior probability of the two. Every
    forest is as likely as any other beforehand.
    """
    current = set(edges)
    covariance = evidence.covariance(current)
    value = evidence.value(covariance)
    best, greatest = set(current), value
    if evidence.dimension < 2:
        return ()
    for _ in range(steps):
        one, other = sorted(map(int, rng.choice(evidence.dimension, 2, replace=False)))
        joined = path(current, evidence.dimension, one, other)
        if (one, other) in current:
            changed = current - {(one, other)}
        elif joined:
            changed = current - {joined[int(rng.integers(len(joined)))]} | {(one, other)}
        else:
            changed = current | {(one, other)}
        proposed = evidence.changed(covariance, current, changed)
        gained = evidence.value(proposed) - value
        # Inverse of the logistic function: true with probability 1 / (1 + exp(-gained)).
        if gained > -rng.logistic():
            current, covariance, value = changed, proposed, value + gained
            if value > greatest:
                best, greatest = set(current), value
    return tuple(sorted(best))


def evidence_of(model: SingleTaskGP) -> Evidence:
    """Return the evidence over a model's data, with its hyperparameters."""
    (inputs,) = model.train_inputs
    kernel = model.covar_module
    return Evidence(
        inputs.numpy(),
        (model.train_targets - model.mean_module.constant).detach().numpy(),
        model.likelihood.noise.detach().expand(len(inputs)).numpy(),
        kernel.lengthscale.detach().numpy()[0],
        kernel.variance.detach().numpy(),
    )


class Treebo(ForestMethod):
    """Learns a forest now and then; all points of a batch are proposed over the same one."""

    def __init__(self, config: TreeboConfig, dimension: int) -> None:
        super().__init__(config, dimension)
        self._learn_every, self._gibbs_steps = config.learn_every, config.gibbs_steps
        self._learned = 0

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return points of greatest bound [q, D]."""
        if not self._learned or beliefs.told >= self._learned + self._learn_every:
            evidence = evidence_of(beliefs.model)
            self.edges = learn(self.edges, evidence, self._gibbs_steps, rng)
            self._learned = beliefs.told
        posterior = term_posterior(beliefs.model, self.edges, beliefs.pending)
        chosen = np.empty((q, self.dimension))
        for place in range(q):
            chosen[place] = self.highest(posterior, beliefs.told + place + 1, rng)
            posterior = posterior.with_pending(chosen[place])
        return chosen

    def state_dict(self) -> dict[str, Any]:
        """Return the forest, and when it was learned."""
        return {**super().state_dict(), "learned": self._learned}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace them."""
        super().load_state_dict(state)
        self._learned = int(state["learned"])
