"""SAASBO: a process in which few dimensions matter, by a prior over inverse lengthscales.

Source: Eriksson and Jankowiak (2021), High-dimensional Bayesian optimization with sparse
axis-aligned subspaces. The kernel's prior is BoTorch's.
"""

from dataclasses import dataclass
from typing import Final

from botorch.models.map_saas import add_saas_prior
from gpytorch.kernels import Kernel, MaternKernel, ScaleKernel
from gpytorch.priors import GammaPrior

from rolecast.baselines.hdbo.acquisition import AcquisitionConfig
from rolecast.baselines.hdbo.plain_gp import LogEi
from rolecast.baselines.hdbo.search import SurrogateSearch
from rolecast.envs.errors import ConfigError
from rolecast.platform.optimizers.proposals import many_cheap
from rolecast.platform.optimizers.protocol import Proposal

MOST: Final = 100
"""D up to which the authors' claims reach, and a fit is quick."""


@dataclass(frozen=True, kw_only=True)
class SaasboConfig(AcquisitionConfig):
    """A sparse process, its hyperparameters by greatest posterior density."""

    largest: int = MOST
    """Most dimensions that are accepted; a greater number says that the time it takes is known."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.largest) is not int or self.largest < 1:
            raise ConfigError("SaasboConfig.largest", self.largest, "an integer >= 1")

    def build(self, *, dimension: int, seed: int) -> SurrogateSearch:
        """Return a fresh optimiser."""
        if dimension > self.largest:
            expected = f"at most {self.largest}, or a greater setting `largest`"
            raise ConfigError("SaasboConfig dimension", dimension, expected)
        method = Saas(self, dimension)
        return SurrogateSearch(self, method, dimension=dimension, seed=seed, initial=20)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose few candidates of many episodes: each costs an ascent."""
        return many_cheap(budget_episodes, episodes=32, batch_size=15)


class Saas(LogEi):
    """Proposes as the plain process does, with another kernel."""

    def kernel(self) -> Kernel:
        """Return Matern-5/2 whose tau / lengthscale^2 is half-Cauchy(1), tau half-Cauchy(0.1)."""
        base = add_saas_prior(MaternKernel(nu=2.5, ard_num_dims=self.dimension).double())
        return ScaleKernel(base, outputscale_prior=GammaPrior(2.0, 0.15)).double()
