"""SAASBO: a process in which few dimensions matter, by a prior over inverse lengthscales.

Source: Eriksson and Jankowiak (2021), High-dimensional Bayesian optimization with sparse
axis-aligned subspaces. The kernel's prior is BoTorch's.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

import numpy as np
import torch
from botorch.models.map_saas import add_saas_prior
from botorch.models.model import Model
from botorch.settings import validate_input_scaling
from gpytorch.kernels import Kernel, MaternKernel, ScaleKernel
from gpytorch.priors import GammaPrior

from rolecast.baselines.hdbo.acquisition import AcquisitionConfig, quiet
from rolecast.baselines.hdbo.logei import LogEi
from rolecast.baselines.hdbo.search import Beliefs, SurrogateSearch
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.validation import POSITIVE_INTEGER, check, one_of

MOST_DIMENSIONS: Final = 100
"""D up to which a fit is quick."""

INFERENCE_METHODS: Final = ("map", "nuts")


@dataclass(frozen=True, kw_only=True)
class SaasboConfig(AcquisitionConfig):
    """SAASBO: a process in which few dimensions matter, by its prior."""

    inference: str = "map"
    """Inference of hyperparameters: "map", greatest posterior density; or "nuts", draws at every
    batch, as the authors do. "nuts" takes minutes and needs NumPyro."""

    warmup: int = 512
    """Steps of "nuts" that are thrown away."""

    samples: int = 256
    """Steps of "nuts" after warm-up; every 16th is kept."""

    largest: int = MOST_DIMENSIONS
    """Most dimensions that are accepted; raise it where the time is acceptable."""

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = dict.fromkeys(("largest", "warmup", "samples"), POSITIVE_INTEGER)
        check("SaasboConfig", vars(self), {**counts, "inference": one_of(*INFERENCE_METHODS)})
        if self.inference == "nuts" and find_spec("numpyro") is None:
            raise RequestError(
                "SaasboConfig.inference is 'nuts', which needs NumPyro; install it by "
                "`pip install 'botorch[fully_bayesian]'`, or take 'map'"
            )

    def build(self, *, dimension: int, seed: int) -> SurrogateSearch:
        """Return a fresh optimiser."""
        if dimension > self.largest:
            expected = f"at most {self.largest}, or a greater setting `largest`"
            raise ConfigError("SaasboConfig dimension", dimension, expected)
        method = Saas(self, dimension)
        return SurrogateSearch(self, method, dimension=dimension, seed=seed, initial=20)


class Saas(LogEi):
    """Proposes as the plain process does, with another kernel."""

    def __init__(self, config: SaasboConfig, dimension: int) -> None:
        super().__init__(config, dimension)
        self._inference = config

    def model(self, beliefs: Beliefs, rng: np.random.Generator) -> Model | None:
        """Return the process of the acquisition function; None: that of the beliefs."""
        if self._inference.inference == "map":
            return None
        from botorch.fit import fit_fully_bayesian_model_nuts
        from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP

        known = beliefs.model
        with quiet(rng), validate_input_scaling(False):
            model = SaasFullyBayesianSingleTaskGP(
                torch.as_tensor(beliefs.inputs),
                known.train_targets[:, None],
                known.likelihood.noise.detach().expand(len(beliefs.inputs))[:, None],
            )
            fit_fully_bayesian_model_nuts(
                model,
                warmup_steps=self._inference.warmup,
                num_samples=self._inference.samples,
                thinning=min(16, self._inference.samples),
                disable_progbar=True,
                seed=int(rng.integers(2**31)),
            )
        return model

    def kernel(self) -> Kernel:
        """Return Matern-5/2 whose tau / lengthscale^2 is half-Cauchy(1), tau half-Cauchy(0.1)."""
        base = add_saas_prior(MaternKernel(nu=2.5, ard_num_dims=self.dimension).double())
        return ScaleKernel(base, outputscale_prior=GammaPrior(2.0, 0.15)).double()
