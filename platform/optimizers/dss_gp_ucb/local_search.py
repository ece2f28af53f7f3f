"""The local search: a process over a cloud, a centre that climbs its mean, a cloud that narrows.

Each `tell` fits the process to the latest evaluations and moves the centre up its posterior mean,
at most `step` radii; each `ask` draws a fresh cloud round the centre. With structure, the kernel is
a common term over all dimensions plus the cliques, their share chosen by evidence, so that where
the cliques say nothing it is the plain search again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from rolecast.envs.errors import ConfigError, RequestError
from rolecast.envs.spec import Float
from rolecast.platform.optimizers.dss_gp_ucb.cloud import Cloud
from rolecast.platform.optimizers.dss_gp_ucb.config import LocalGpConfig
from rolecast.platform.optimizers.dss_gp_ucb.evidence import (
    LARGE_NOISES,
    NOISES,
    SCALES,
    SHARES,
    SMALL_NOISES,
    best_scale,
    best_share,
    noise_shape,
)
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    require_batch,
    restored_generator,
)
from rolecast.platform.surrogate.gp import Posterior, fit
from rolecast.platform.surrogate.kernels import CliqueSum, Kernel, Matern, Mixture
from rolecast.platform.surrogate.levelling import level, to_returns
from rolecast.platform.surrogate.memory import require_memory
from rolecast.platform.surrogate.relevance import group_variances, relevance

CHOICE_INTERVAL: Final = 4
"""Batches between two choices of share and lengthscales."""

ASCENT_STEPS: Final = 8
"""Gradient steps of one move of the centre."""

UNASKED: Final = 64
"""Evaluations from which the centre moves where none was asked for; two batches else."""

NEAR: Final = 3
"""Noises among which a batch chooses: the last one and its two neighbours."""

FIRST_NOISE: Final = 0.2
"""The noise from which the choice begins."""

RELEVANCE_WINDOW: Final = 2400
"""Latest evaluations that the relevance is fitted to."""

RELEVANCE_BOUNDS: Final = (0.1, 20.0)
"""Least and greatest relevance of a dimension."""


class LocalSearch:
    """Local Gaussian-process search of the unit cube; see the module."""

    def __init__(self, config: LocalGpConfig, *, dimension: int, seed: int) -> None:
        self._config, self._data = config, Observations(dimension)
        self._reach = config.reach(dimension)
        self._rng = np.random.default_rng(seed)
        self._groups = _groups(config, dimension)
        self._cliques = _interacting(config.surrogate_cliques())
        self._centre = np.full(dimension, 0.5)
        self._path = np.empty((0, dimension))
        self._variances = np.ones(int(self._groups.max()) + 1)
        self._relevance = np.ones(dimension)
        self._cloud = Cloud(self._reach, evaluations=config.evaluations, dimension=dimension)
        self._by_evidence = self._reach.lengthscale == "evidence"
        self._noises = (*SMALL_NOISES, *NOISES, *LARGE_NOISES) if self._by_evidence else NOISES
        self._noise, self._share = FIRST_NOISE, 0.0
        self._scales = 1.0, 1.0
        self._first_batch, self._tells = 0, 0
        self._incumbent: tuple[float, float] | None = None

    @property
    def radius(self) -> float:
        """Root mean square distance of the cloud from its centre, now."""
        return self._cloud.radius(len(self._data))

    @property
    def _averaged(self) -> int:
        """How many of the latest centres make the incumbent; from one tell to the next one more."""
        return max(1, round(self._config.averaged * self._tells))

    def pace(self, spent: float) -> None:
        """Take in the share of the budget spent."""
        self._cloud.pace(spent)

    def ask(self, q: int) -> Float:
        """Return q points of the cloud [q, D]."""
        dimension = self._data.dimension
        self._first_batch = self._first_batch or require_batch(q)
        shape = self._relevance ** (0.5 * self._config.relevance_cloud)
        shape *= self.radius / np.sqrt(dimension) / np.sqrt(np.square(shape).mean())
        noise = self._rng.standard_normal((require_batch(q), dimension))
        # Points beyond a face are mirrored at it: clipped ones could fall on one another.
        folded = np.mod(self._centre + shape * noise, 2.0)
        return np.asarray(np.where(folded > 1.0, 2.0 - folded, folded))

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations, refit, move the centre."""
        self._data.add(candidates, returns, stderrs)
        self._tells += 1
        if len(self._data) >= (2 * self._first_batch or UNASKED):
            self._learn()

    def best(self) -> Float:
        """Return the average of the latest centres: of highest posterior mean, less their walk.

        Evaluated points are no candidates: each carries its own luck, the centre that of all.
        """
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        if not len(self._path):
            return self._centre.copy()
        return np.asarray(self._path[-self._averaged :].mean(0))

    def explain(self) -> dict[str, float]:
        """Return cloud radius, shares of noise and structure, and what the centre should earn."""
        found = {"cloud_radius": self.radius, "noise_share": self._noise}
        if self._by_evidence:
            found["lengthscale"] = self._scales[0] * self.radius
        if self._cliques is not None:
            found["structure_share"] = self._share
        if self._incumbent is not None:
            found["incumbent_mean"], found["incumbent_stderr"] = self._incumbent
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return data, generator, centre and what evidence chose last."""
        return {
            "data": self._data.state_dict(),
            "rng": generator_state(self._rng),
            "centre": self._centre.copy(),
            "path": self._path.copy(),
            "variances": self._variances.copy(),
            "relevance": self._relevance.copy(),
            "cloud": self._cloud.state_dict(),
            "choices": [self._noise, self._share, *self._scales],
            "counts": [self._first_batch, self._tells],
            "incumbent": None if self._incumbent is None else list(self._incumbent),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])
        for name in ("centre", "path", "variances", "relevance"):
            setattr(self, f"_{name}", np.array(state[name], dtype=np.float64))
        self._cloud.load_state_dict(state["cloud"])
        self._noise, self._share, *scales = map(float, state["choices"])
        self._scales = scales[0], scales[1]
        self._first_batch, self._tells = map(int, state["counts"])
        believed = state["incumbent"]
        self._incumbent = None if believed is None else (float(believed[0]), float(believed[1]))

    def _learn(self) -> None:
        """Fit relevance and process to the latest evaluations, and climb."""
        self._update_relevance()
        stretch = np.sqrt(self._relevance)
        recent = slice(max(0, len(self._data) - self._config.window), None)
        targets, slopes = level(self._data.returns[recent], self._config.levelling)
        noise = noise_shape(self._data.stderrs[recent] * slopes, self._config.stderr_weight)
        points = self._data.candidates[recent] * stretch
        posterior = self._fit(points, targets, noise)
        limit = self._reach.step * self.radius
        move = climb(posterior, self._centre * stretch, limit) * stretch
        length = float(np.linalg.norm(move))
        before = self._centre
        self._centre = np.clip(before + move * min(1.0, limit / max(length, 1e-300)), 0.0, 1.0)
        mean, deviation = posterior.mean_and_deviation((self._centre * stretch)[None])
        low, middle, high = to_returns(
            mean + np.array([-1.0, 0.0, 1.0]) * deviation,
            self._data.returns[recent],
            self._config.levelling,
        )
        self._incumbent = float(middle), 0.5 * float(high - low)
        self._path = np.concatenate([self._path[-self._averaged :], self._centre[None]])
        self._cloud.moved((self._centre - before) / limit)

    def _update_relevance(self) -> None:
        config, count = self._config, len(self._data)
        power = self._reach.relevance_power * max(0.0, 1.0 - count / config.relevance_end)
        if power == 0.0 or count < config.relevance_start:
            self._relevance = np.ones(self._data.dimension)
            return
        recent = slice(max(0, count - RELEVANCE_WINDOW), None)
        targets, _ = level(self._data.returns[recent], config.levelling)
        design = self._data.candidates[recent] / (self.radius / np.sqrt(self._data.dimension))
        self._variances = group_variances(
            design - design.mean(0), targets, self._groups, self._variances
        )
        self._relevance = relevance(self._variances, self._groups, power, RELEVANCE_BOUNDS)

    def _fit(self, points: Float, targets: Float, noise: Float) -> Posterior:
        """Choose noise, lengthscales and structured share by evidence; condition.

        The noise is near the last choice, the others are chosen anew every few batches.

        Raises:
            ConfigError: the window holds more evaluations than memory does.
        """
        require_memory(*points.shape, fits=NEAR)
        choosing = self._tells % CHOICE_INTERVAL == 1
        if self._by_evidence and (choosing or self._tells < CHOICE_INTERVAL):
            self._choose_scales(points, targets, noise)
        kernel: Kernel = self._common(self._scales[0])
        covariance = kernel.matrix(points, points)
        if self._cliques is not None and (choosing or self._share):
            if choosing:
                self._choose_share(self._cliques, points, covariance, targets, noise)
            if self._share:
                structured = self._structured(self._cliques, self._scales[1])
                covariance += self._share * (structured.matrix(points, points) - covariance)
                kernel = Mixture(kernel, structured, self._share)
        place = self._noises.index(self._noise)
        near = self._noises[max(0, place - NEAR // 2) : place + NEAR // 2 + 1]
        fits = {choice: fit(covariance, targets, choice * noise) for choice in near}
        self._noise = max(fits, key=lambda choice: fits[choice].log_evidence)
        return Posterior(kernel, points, fits[self._noise])

    def _choose_scales(self, points: Float, targets: Float, noise: Float) -> None:
        """Choose the common term's lengthscale."""

        def matrix(scale: float) -> Float:
            return self._common(scale).matrix(points, points)

        self._scales = best_scale(matrix, targets, noise, self._noises), self._scales[1]

    def _choose_share(
        self,
        cliques: Sequence[Sequence[int]],
        points: Float,
        covariance: Float,
        targets: Float,
        noise: Float,
    ) -> None:
        """Choose the structured term's share, and its scale where lengthscales are chosen."""
        scales = SCALES if self._by_evidence else (1.0,)
        matrices = (
            (scale, self._structured(cliques, scale).matrix(points, points)) for scale in scales
        )
        noises = self._noises if self._by_evidence else (*NOISES, *LARGE_NOISES)
        shares = SHARES[1:] if self._by_evidence else SHARES[1:-1]
        self._share, scale = best_share(covariance, matrices, targets, noise, noises, shares)
        self._scales = self._scales[0], scale

    def _common(self, scale: float) -> Matern:
        """Return the term over all dimensions, at a multiple of the cloud's scale."""
        return Matern(scale * self.radius)

    def _structured(self, cliques: Sequence[Sequence[int]], scale: float) -> Kernel:
        """Return the sum over cliques, each at that multiple of the cloud in its dimensions."""
        sizes = np.array([len(clique) for clique in cliques], dtype=np.float64)
        lengthscales = scale * self.radius * np.sqrt(sizes / self._data.dimension)
        # Single precision adds 2e-6 of the variance, far below any noise of a policy's returns.
        weights = sizes / sizes.sum()
        return CliqueSum(cliques, lengthscales, weights, single=not self._by_evidence)


def climb(posterior: Posterior, start: Float, limit: float) -> Float:
    """Return the move [D] from a start that raises the posterior mean, at most `limit` long.

    Steps of equal length along the normalised gradient, while the mean rises; the length of the
    gradient is not used, for in high dimension it says little about how far to trust it.
    """
    place, height = start, float(posterior.mean(start[None])[0])
    for _ in range(ASCENT_STEPS):
        gradient = posterior.mean_gradient(place)
        step = limit / ASCENT_STEPS * gradient / max(float(np.linalg.norm(gradient)), 1e-300)
        offset = place + step - start
        offset *= min(1.0, limit / max(float(np.linalg.norm(offset)), 1e-300))
        reached = float(posterior.mean((start + offset)[None])[0])
        if reached <= height:
            break
        place, height = start + offset, reached
    return place - start


def _interacting(cliques: Sequence[Sequence[int]] | None) -> Sequence[Sequence[int]] | None:
    """Return the cliques of two dimensions or more; the common term covers the others."""
    kept = [clique for clique in cliques or () if len(clique) > 1]
    return kept or None


def _groups(config: LocalGpConfig, dimension: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the relevance group of each dimension."""
    if config.groups is None:
        return np.arange(dimension)
    if len(config.groups) != dimension:
        field = f"{type(config).__name__}.groups"
        raise ConfigError(field, f"{len(config.groups)} groups", f"one for each of {dimension}")
    return np.asarray(config.groups, dtype=np.int64)
