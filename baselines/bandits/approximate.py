"""ApproxDisKernelUCB (Li et al., 2022): statistics in features of a shared dictionary travel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rolecast.baselines.bandits.posterior import CandidatePosterior, sparse_posterior
from rolecast.baselines.bandits.settings import UcbSettings
from rolecast.baselines.bandits.sharing import SharingUcb
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.posterior import inducing_factor, inducing_features
from rolecast.platform.search.bandit.method import BanditMethod, BanditProblem


@dataclass(frozen=True, kw_only=True)
class ApproxDisKernelUcbConfig(UcbSettings):
    """ApproxDisKernelUCB (Li et al., 2022): Nystrom features of a shared dictionary."""

    threshold: float = 20.0
    """D, above 0: all share when s~^2 / lambda of an agent's new points add up to more."""

    inducing_factor: float = 10.0
    """q, above 0: a point enters the dictionary with probability q s~^2 / lambda."""

    def build(self, problem: BanditProblem) -> BanditMethod:
        """Return server and agents."""
        return ApproxDisKernelUcb(problem, self)


class ApproxDisKernelUcb(SharingUcb):
    """A dictionary, and the statistics of all data in its features, are shared."""

    def __init__(self, problem: BanditProblem, settings: ApproxDisKernelUcbConfig) -> None:
        super().__init__(problem, settings)
        self._settings, self._seed = settings, problem.seed
        self._left = np.zeros(len(self._prior.points))
        self._all: list[list[tuple[int, float]]] = [[] for _ in range(self._count)]

    def tell(self, values: Float) -> None:
        """Add the values [N, 1]; share where an agent's new variances add up to the threshold."""
        self._round += 1
        for number, (place, value) in enumerate(zip(self._places, values[:, 0], strict=True)):
            before = self._agents[number].add(int(place), float(value))
            self._all[number].append((int(place), float(value)))
            self._gain[number] += (before + self._left[place]) / self._settings.noise_variance
        if (self._gain > self._settings.threshold).any():
            self._share()
        self._places = np.array([int(self._upper(agent).argmax()) for agent in self._agents])

    def _upper(self, agent: CandidatePosterior) -> Float:
        """Return an agent's upper confidence bound [C]; s~^2 adds what the features lack."""
        variance = np.maximum(agent.variance, 0.0) + self._left
        return np.asarray(agent.mean + self._settings.beta * np.sqrt(variance))

    def _share(self) -> None:
        """Draw a dictionary, then exchange Gram matrix and vector in its features."""
        places = np.array([place for own in self._all for place, _ in own])
        values = np.array([value for own in self._all for _, value in own])
        chosen = self._dictionary(places)
        points = self._prior.points
        factor = inducing_factor(self._prior.kernel, points[chosen])
        across = inducing_features(self._prior.kernel, factor, points[chosen], points)
        features = across[places]
        self._left = np.maximum(1.0 - np.square(across).sum(1), 0.0)
        self._shared = sparse_posterior(
            across, features.T @ features, features.T @ values, self._settings.noise_variance
        )
        self._send(len(chosen))

    def _dictionary(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return places of the points drawn with probability q s~^2 / lambda; at least one."""
        variance = np.maximum(self._shared.variance, 0.0) + self._left
        coins = Coins(self._seed, len(self._records) + 1, np.array([self._count]))
        rows = np.arange(len(places))
        thrown = coins.uniforms(rows * 0, rows, np.zeros(1, dtype=np.int64), 1)[:, 0, 0]
        scale = self._settings.inducing_factor / self._settings.noise_variance
        chance = scale * variance[places]
        kept = np.unique(places[thrown < chance])
        return kept if len(kept) else places[np.argmax(variance[places])][None]

    def _send(self, size: int) -> None:
        """Send dictionary points up and down, then Gram matrices (symmetric) and vectors."""
        points = size * self._prior.points.shape[1]
        statistics = size * (size + 1) // 2 + size
        uplink, downlink = points / self._count + statistics, float(points + statistics)
        self._exchanged(uplink, downlink, dictionary=size)
