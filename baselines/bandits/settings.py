"""Settings that all rivals share, and the candidates over which they maximise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rolecast.baselines.bandits.posterior import CandidatePosterior
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_NUMBER, check
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.domain import first_candidates
from rolecast.platform.search.bandit.method import BanditProblem, KernelSettings


@dataclass(frozen=True, kw_only=True)
class UcbSettings(KernelSettings):
    """Settings of a method that maximises an upper confidence bound."""

    beta: float = 1.0
    """Deviations above the mean, above 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = dict.fromkeys(("beta", "threshold", "inducing_factor"), POSITIVE_NUMBER)
        check(type(self).__name__, vars(self), rules)


class CandidatePrior:
    """The candidates of a problem, and posteriors without an observation."""

    def __init__(self, problem: BanditProblem, settings: UcbSettings) -> None:
        self.points = first_candidates(problem.domain)
        self.kernel = settings.kernel_of(problem)
        self.noise = settings.noise_variance
        self._seed = problem.seed

    def first_places(self, agents: int) -> NDArray[np.int64]:
        """Return the candidates [N] that agents ask for first: uniform, each by its own coin."""
        numbers = np.arange(agents)
        coins, attempt = Coins(self._seed, 1, numbers), np.zeros(1, dtype=np.int64)
        thrown = coins.uniforms(numbers, np.zeros_like(numbers), attempt, 1)[:, 0, 0]
        return np.asarray(thrown * len(self.points)).astype(np.int64)

    def row(self, place: int) -> Float:
        """Return the prior covariance [C] of a candidate with all."""
        return np.asarray(self.kernel.matrix(self.points[place : place + 1], self.points)[0])

    def maximiser(self, posteriors: Sequence[CandidatePosterior]) -> Float:
        """Return the candidate [d] of the greatest mean of any posterior."""
        best = max(posteriors, key=lambda each: float(each.mean.max()))
        return np.asarray(self.points[int(best.mean.argmax())])

    def posterior(self) -> CandidatePosterior:
        """Return a posterior without an observation."""
        count = len(self.points)
        return CandidatePosterior(self.row, np.zeros(count), np.ones(count), self.noise)
