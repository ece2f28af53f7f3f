"""The Gaussian process of the competitors: BoTorch's, with known noise and a learned floor.

Shared here: standardisation of returns, selection of evaluations where there are many, and the
times of new fits.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from botorch.exceptions.warnings import BotorchWarning
from botorch.models import SingleTaskGP
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.sampling.pathwise.features import gen_kernel_features
from botorch.settings import validate_input_scaling
from gpytorch.constraints import GreaterThan, Interval
from gpytorch.kernels import Kernel
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.priors import LogNormalPrior, Prior
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from rolecast.baselines.hdbo.record import Index
from rolecast.baselines.hdbo.shared_points import SharedProcess
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, at_least, check, number_from, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.protocol import Proposal
from rolecast.platform.surrogate.outcome_transform import OUTCOME_TRANSFORM_RULE, transform_returns

NOISE_BOUNDS: Final = (1e-6, 1e2)
"""Least and greatest known noise variance, of returns standardised to variance 1."""

FOURIER_FEATURES: Final = 2048
"""Random Fourier features of a prior draw."""


@dataclass(frozen=True)
class Noise:
    """The learned part of the noise variance, of standardised returns."""

    prior: Prior | None
    bounds: Interval
    start: float


def default_noise() -> Noise:
    """Return BoTorch's: log-normal about 0.018, at least 1e-4."""
    floor = GreaterThan(1e-4, transform=None, initial_value=float(np.exp(-5.0)))
    return Noise(LogNormalPrior(-4.0, 1.0), floor, float(np.exp(-5.0)))


@dataclass(frozen=True, kw_only=True)
class SurrogateConfig:
    """Settings of all competitors with a Gaussian process."""

    initial: int | None = None
    """Points of the first design; None: as many as the method's authors take."""

    outcome_transform: str = "none"
    """How returns are made comparable before they are standardised: "none", "signed_sqrt",
    "rank" or "automatic"."""

    max_points: int = 1000
    """Most evaluations in one process: half the best, half the latest."""

    refit: float = 1.1
    """Hyperparameters are fitted anew, from the prior's start, when there are this many times the
    points of the last fit."""

    fit_steps: int = 50
    """Most iterations of one fit."""

    def __post_init__(self) -> None:
        rules = {
            "initial": or_none(at_least(2)),
            "outcome_transform": OUTCOME_TRANSFORM_RULE,
            "max_points": at_least(4),
            "refit": number_from(1),
            "fit_steps": POSITIVE_INTEGER,
        }
        check(type(self).__name__, vars(self), rules)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Divide a budget as the local searches do."""
        return default_batch_plan(budget_episodes)


Choice = Callable[[Float], Index | slice]
"""Says which of N returns a process sees, ascending."""


def kept(returns: Float, most: int) -> Index:
    """Return which of N returns a process sees, ascending: half the best, half the latest."""
    count = len(returns)
    if count <= most:
        return np.arange(count)
    latest = count - most // 2
    best = np.argsort(-returns[:latest], kind="stable")[: most - most // 2]
    return np.concatenate([np.sort(best), np.arange(latest, count)])


def process(
    inputs: Float, targets: Float, variances: Float, kernel: Kernel | None, noise: Noise
) -> SingleTaskGP:
    """Build a process that is not fitted yet.

    Args:
        inputs: [N, d].
        targets: [N], standardised.
        variances: [N], known noise variance of each, 0 where none is known.
        kernel: None: BoTorch's default.
        noise: the learned part.
    """
    floored = torch.as_tensor(np.clip(variances, *NOISE_BOUNDS))
    likelihood = FixedNoiseGaussianLikelihood(
        floored, learn_additional_noise=True, noise_prior=noise.prior, noise_constraint=noise.bounds
    )
    likelihood.second_noise_covar.initialize(noise=noise.start)
    with validate_input_scaling(False):
        return SharedProcess(
            torch.as_tensor(inputs),
            torch.as_tensor(targets)[:, None],
            likelihood=likelihood.double(),
            covar_module=kernel,
            outcome_transform=None,
        )


def fit(model: SingleTaskGP, steps: int) -> None:
    """Maximise the posterior of a model's hyperparameters, from where they are, by L-BFGS-B."""
    before = hyperparameters(model)
    with warnings.catch_warnings():
        # That a fit stops early is what `steps` asks for.
        warnings.simplefilter("ignore", BotorchWarning)
        warnings.simplefilter("ignore", NumericalWarning)
        model.train()
        objective = ExactMarginalLogLikelihood(model.likelihood, model)
        fit_gpytorch_mll_scipy(objective, options={"maxiter": steps})
    if not all(np.isfinite(value).all() for value in hyperparameters(model).values()):
        set_hyperparameters(model, before)
    model.eval()


def hyperparameters(model: SingleTaskGP) -> dict[str, Float]:
    """Return copies of a model's parameters by name."""
    return {name: value.detach().numpy().copy() for name, value in model.named_parameters()}


def set_hyperparameters(model: SingleTaskGP, values: Mapping[str, Float]) -> None:
    """Replace a model's parameters."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.copy_(torch.as_tensor(np.asarray(values[name], dtype=np.float64)))


class Surrogate:
    """Gaussian process of the evaluations; only `commit` changes its hyperparameters."""

    def __init__(
        self,
        config: SurrogateConfig,
        kernel: Callable[[], Kernel | None],
        noise: Callable[[], Noise] = default_noise,
        choice: Choice | None = None,
    ) -> None:
        """Take settings, what builds a fresh kernel and noise, and a choice; None: `kept`."""
        self._config, self._kernel, self._noise = config, kernel, noise
        self._choice = choice or (lambda returns: kept(returns, config.max_points))
        self._values: dict[str, Float] = {}
        self._fitted = 0
        self._cached: tuple[int, int, SingleTaskGP] | None = None

    def model(self, inputs: Float, returns: Float, stderrs: Float) -> tuple[SingleTaskGP, Index]:
        """Return the process of all evaluations, and which rows [N'] are in it.

        Args:
            inputs: [N, d].
            returns: [N], in the unit of the task.
            stderrs: [N], NaN where unknown.
        """
        rows, count = self._choice(returns), len(returns)
        if self._cached is None or self._cached[0] != count:
            targets, slopes = transform_returns(returns[rows], self._config.outcome_transform)
            variances = np.square(np.nan_to_num(stderrs[rows]) * slopes)
            model = process(inputs[rows], targets, variances, self._kernel(), self._noise())
            due = count >= self._config.refit * self._fitted
            if due:
                # From the prior's start: a fit that goes on from the last stays at its optimum,
                # where the first few points led it.
                fit(model, self._config.fit_steps)
            else:
                set_hyperparameters(model, self._values)
            self._cached = (count, count if due else self._fitted, model.eval())
        return self._cached[2], np.arange(count)[rows]

    def commit(self) -> None:
        """Go on from the hyperparameters of the last model."""
        if self._cached is not None:
            _, self._fitted, model = self._cached
            self._values = hyperparameters(model)

    def drop(self) -> None:
        """Build the next model anew, from the committed hyperparameters."""
        self._cached = None

    def forget(self) -> None:
        """Begin anew, with a first fit."""
        self._values, self._fitted, self._cached = {}, 0, None

    def state_dict(self) -> dict[str, Any]:
        """Return the committed hyperparameters."""
        values = {name: value.copy() for name, value in self._values.items()}
        return {"values": values, "fitted": self._fitted}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._values = {
            name: np.array(value, dtype=np.float64) for name, value in state["values"].items()
        }
        self._fitted, self._cached = int(state["fitted"]), None


def posterior_mean(model: SingleTaskGP, inputs: Float) -> Float:
    """Return posterior means [Q] at inputs [Q, d], in standardised units."""
    with torch.no_grad():
        return np.asarray(model.posterior(torch.as_tensor(inputs)).mean[:, 0].numpy())


def posterior_draws(
    model: SingleTaskGP, inputs: Float, count: int, rng: np.random.Generator
) -> Float:
    """Return joint draws [count, Q] of the process at inputs [Q, d], without noise.

    A draw of the prior by random Fourier features is moved onto the observations by Matheron's
    rule. It is exact but for the finite number of features, in O(Q N); the joint covariance takes
    O(Q^3). Source: Wilson et al. (2020), Efficiently sampling functions from Gaussian process
    posteriors.
    """
    queries = torch.as_tensor(inputs)
    (points,) = model.train_inputs
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        features = gen_kernel_features(model.covar_module, points.shape[-1], FOURIER_FEATURES)
        weights = torch.randn(FOURIER_FEATURES, count, dtype=torch.float64)
        known, asked = features(points) @ weights, features(queries) @ weights
        noise = model.likelihood.noise.expand(len(points))
        errors = noise.sqrt()[:, None] * torch.randn(len(points), count, dtype=torch.float64)
        mean = model.mean_module.constant
        covariance = _dense(model.covar_module(points)) + torch.diag(noise)
        residuals = model.train_targets[:, None] - mean - known - errors
        solved = torch.cholesky_solve(residuals, torch.linalg.cholesky(covariance))
        drawn = mean + asked + _dense(model.covar_module(queries, points)) @ solved
    return np.asarray(drawn.T.numpy())


def _dense(covariance: Any) -> Tensor:
    """Return a lazy covariance as a tensor."""
    return torch.as_tensor(covariance.to_dense())
