"""CBO: a process a set of hard interventions, and expected improvement (Aglietti et al. 2020).

The process of a set is from its values to the reward. Its prior mean is that of do-calculus: the
mean rollout through mechanisms that were fitted to observations without interventions.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import ndtr

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.envs.causal.interventions import InterventionSpace
from rolecast.platform.optimizers.mcbo.config import RewardNoiseConfig
from rolecast.platform.optimizers.mcbo.graph_model import GraphModel, node_noise
from rolecast.platform.optimizers.mcbo.hyperparameters import fit
from rolecast.platform.optimizers.mcbo.node_data import (
    LEAST_NOISE,
    NodeTargets,
    NodeUnits,
    Observed,
)
from rolecast.platform.optimizers.mcbo.node_process import NodeProcess
from rolecast.platform.optimizers.mcbo.search import CausalSearch


@dataclass(frozen=True, kw_only=True)
class EicboConfig(RewardNoiseConfig):
    """Causal Bayesian optimisation: a process a set of interventions, do-calculus prior.

    Differs: it is told noisy rewards with their known noise, as its rivals are, and not E[Y | a];
    the prior's variance is that of the kernel alone; points are chosen among random ones, which
    suffice for the few dimensions of a set. Noise that reaches the reward from other nodes is known
    of a simulator that is given as mechanisms, as those of the catalogue are. The incumbent is that
    of `mcbo`: the told candidate of highest mean by a model of all mechanisms.
    """

    raw_samples: int = 2048
    """Random points of each set, the best of which is chosen."""

    def build(self, *, dimension: int, seed: int) -> CausalSearch:
        """Return a fresh search."""
        return _search(self, dimension, seed, prior=True)


@dataclass(frozen=True, kw_only=True)
class CboConfig(EicboConfig):
    """Causal Bayesian optimisation without its prior: a process a set, of prior mean zero.

    Differs: as `EicboConfig`, so that its incumbent, too, is by a model of all mechanisms. Its
    candidates are not.
    """

    def build(self, *, dimension: int, seed: int) -> CausalSearch:
        """Return a fresh search."""
        return _search(self, dimension, seed, prior=False)


def _search(config: EicboConfig, dimension: int, seed: int, *, prior: bool) -> CausalSearch:
    graph = config.resolved_graph(dimension)
    space = InterventionSpace(graph)
    if not space.chooses or () not in space.sets:
        raise RequestError(
            f"the sets of interventions are {list(space.sets)}; expected several for cbo and "
            "eicbo, with that of no intervention"
        )
    proposer = _SetProposer(config, prior=prior)
    mean = config.constant_mean
    return CausalSearch(graph, proposer, dimension=dimension, seed=seed, constant_mean=mean)


class _SetProposer:
    """Maximiser of expected improvement over all sets."""

    def __init__(self, config: EicboConfig, *, prior: bool) -> None:
        self._config, self._prior = config, prior
        self._kept: GraphModel | None = None

    def propose(
        self, model: GraphModel, good: Float, rng: np.random.Generator
    ) -> tuple[Float, float]:
        """Return the candidate [D] of highest expected improvement, and that improvement.

        A random one where no set of interventions was told, as in a batch that the initial design
        begins. A set with pending rows alone has no process.
        """
        space, data = model.space, model.data
        natural = space.sets.index(())
        chosen, places = space.decode(data.candidates)
        told = np.arange(len(data)) < model.told
        causal = self._observational(model, told & (chosen == natural))
        noise = node_noise(space, self._config.samples, rng, "cpu")
        variances, unit = data.variances[:, -1], float(model.units.deviation[-1])
        if self._config.reward_noise is not None:
            variances = np.full(len(data), self._config.reward_noise**2)
        found = []
        for one in range(len(space.sets)):
            rows, waiting = (np.flatnonzero((chosen == one) & each) for each in (told, ~told))
            if one == natural or not len(rows):
                continue
            points = np.tile(space.rest, (self._config.raw_samples, 1))
            columns = np.flatnonzero(space.members[one])
            points[:, columns] = rng.random((len(points), len(columns)))
            queries = space.encode(np.full(len(points), one), points)
            both = np.concatenate([queries, data.candidates[rows]])
            prior = np.zeros(len(both)) if causal is None else causal.mean_rewards(both, noise)
            process = _process(
                places[rows][:, columns],
                data.values[rows, -1] - prior[len(queries) :],
                variances[rows],
                places[waiting][:, columns],
                unit=unit,
                constant_mean=self._config.constant_mean,
            )
            inputs = np.concatenate([points[:, columns], places[rows][:, columns]])
            mean, deviation = (x.numpy() for x in process.posterior(torch.as_tensor(inputs)))
            found.append((queries, mean + prior, deviation))
        if not found:
            others = [one for one in range(len(space.sets)) if one != natural]
            drawn = np.asarray(rng.choice(others, size=1), dtype=np.int64)
            return np.asarray(space.encode(drawn, rng.random((1, space.size)))[0]), 0.0
        best = max(float(mean[len(queries) :].max()) for queries, mean, _ in found)
        return _most_improving(found, best)

    def _observational(self, model: GraphModel, rows: np.ndarray) -> GraphModel | None:
        """Return the model of observations without interventions; None without a prior.

        It is fitted again only when these are others: as a rule, all are of the initial design.
        """
        if not self._prior or not rows.any():
            return None
        data = Observed(**{name: values[rows] for name, values in vars(model.data).items()})
        if self._kept is None or not _same(self._kept.data, data):
            constant = self._config.constant_mean
            self._kept = GraphModel(model.space, data, constant_mean=constant)
        return self._kept


def _same(one: Observed, other: Observed) -> bool:
    """Tell whether evaluations are the same, unknown noise included."""
    pairs = zip(vars(one).values(), vars(other).values(), strict=True)
    return all(np.array_equal(left, right, equal_nan=True) for left, right in pairs)


def _process(
    inputs: Float,
    residuals: Float,
    variances: Float,
    waiting: Float,
    *,
    unit: float,
    constant_mean: bool,
) -> NodeProcess:
    """Return the process of a set, given residuals of its prior mean.

    Args:
        inputs: [N, A], places that were told.
        residuals: [N], of the rewards there.
        variances: [N], noise of the rewards.
        waiting: [P, A], pending places: as if they had given the posterior means, so that the mean
            stays and the deviation shrinks. Hyperparameters are of what was told.
        unit: deviation of all rewards, in which each set's process is fitted: that of a set's few
            own rewards may be next to nothing.
        constant_mean: as of `fit`.
    """
    data = _targets(
        inputs,
        (residuals - residuals.mean()) / unit,
        np.maximum(np.nan_to_num(variances) / unit**2, LEAST_NOISE),
        NodeUnits(
            low=np.zeros((1, inputs.shape[1])),
            width=np.ones((1, inputs.shape[1])),
            mean=np.array([residuals.mean()]),
            deviation=np.array([unit]),
        ),
    )
    hyper = fit(data, constant_mean=constant_mean)
    process = NodeProcess(data, hyper, 0, inputs.shape[1], "cpu")
    if not len(waiting):
        return process
    means = process.posterior(torch.as_tensor(waiting))[0].numpy()
    imagined = _targets(
        np.concatenate([inputs, waiting]),
        np.append(data.targets[0], (means - residuals.mean()) / unit),
        np.append(data.noise[0], np.full(len(waiting), data.noise.mean())),
        data.units,
    )
    return NodeProcess(imagined, hyper, 0, inputs.shape[1], "cpu")


def _targets(inputs: Float, targets: Float, noise: Float, units: NodeUnits) -> NodeTargets:
    """Return what one process learns from, all rows of it."""
    counts = np.ones((1, len(inputs)), dtype=np.bool_)
    return NodeTargets(inputs[None], targets[None], noise[None], counts, units)


def _most_improving(found: list[tuple[Float, Float, Float]], best: float) -> tuple[Float, float]:
    """Return the candidate [D] of highest expected improvement on a reward, and that improvement.

    Args:
        found: of each set, candidates [Q, D], then means and deviations [Q + N] at them first.
        best: reward.
    """
    chosen, most = found[0][0][0], -np.inf
    for queries, mean, deviation in found:
        gain = mean[: len(queries)] - best
        scaled = gain / deviation[: len(queries)]
        density = np.exp(-0.5 * scaled**2) / np.sqrt(2.0 * np.pi)
        improvement = gain * ndtr(scaled) + deviation[: len(queries)] * density
        row = int(improvement.argmax())
        if improvement[row] > most:
            chosen, most = queries[row], float(improvement[row])
    return np.asarray(chosen), float(most)
