"""Maximises BoTorch's acquisition functions by BoTorch, quietly and from a seed of its own."""

import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogExpectedImprovement, qLogNoisyExpectedImprovement
from botorch.exceptions.warnings import BotorchWarning
from botorch.generation.gen import gen_candidates_scipy
from botorch.models.model import Model
from botorch.optim.optimize import optimize_acqf
from botorch.sampling.normal import SobolQMCNormalSampler
from linear_operator.utils.warnings import NumericalWarning
from torch import Tensor

from rolecast.baselines.hdbo.search import Beliefs
from rolecast.baselines.hdbo.surrogate import SurrogateConfig
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float
from rolecast.core.validation import BOOLEAN_VALUE, POSITIVE_INTEGER, check, one_of
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.protocol import Proposal

IMPROVEMENT_KINDS: Final = ("noisy", "mean")


@dataclass(frozen=True, kw_only=True)
class AcquisitionConfig(SurrogateConfig):
    """Settings of the competitors that maximise an acquisition function."""

    restarts: int = 2
    """Starts of the ascent for each point of a batch."""

    raw_samples: int = 128
    """Points among which the starts are chosen: uniform ones, and as many round the best point."""

    ascent_steps: int = 50
    """Most iterations of one ascent."""

    draws: int = 64
    """Monte Carlo draws of the expected improvement."""

    improvement: str = "noisy"
    """Reference of the improvement: "noisy", the known points in each posterior draw; "mean", their
    highest posterior mean. For exact returns both are equal, and "mean" is faster."""

    greedy: bool = True
    """Choose the points of a batch one after the other, each given those before. Otherwise all in
    one ascent, which is faster and worse."""

    def __post_init__(self) -> None:
        super().__post_init__()
        owner, counts = type(self).__name__, ("restarts", "raw_samples", "ascent_steps", "draws")
        others = {"improvement": one_of(*IMPROVEMENT_KINDS), "greedy": BOOLEAN_VALUE}
        check(owner, vars(self), {**dict.fromkeys(counts, POSITIVE_INTEGER), **others})
        if self.raw_samples < self.restarts:
            expected = f">= restarts, {self.restarts}"
            raise ConfigError(f"{owner}.raw_samples", self.raw_samples, expected)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose few candidates of many episodes: each costs an ascent."""
        return default_batch_plan(budget_episodes, episodes=32, batch_size=15)


def expected_improvement(
    beliefs: Beliefs,
    config: AcquisitionConfig,
    rng: np.random.Generator,
    model: Model | None = None,
) -> AcquisitionFunction:
    """Return the logarithm of expected improvement, in view of pending points.

    Args:
        beliefs: what is known.
        config: reference of the improvement, and number of draws.
        rng: of the draws.
        model: None: the process of the beliefs.

    Source: Ament et al. (2023), Unexpected improvements to expected improvement.
    """
    sampler = SobolQMCNormalSampler(torch.Size([config.draws]), seed=int(rng.integers(2**31)))
    used = beliefs.model if model is None else model
    pending = torch.as_tensor(beliefs.pending) if len(beliefs.pending) else None
    with quiet(rng):
        if config.improvement == "mean":
            best = float(beliefs.means.max())
            return qLogExpectedImprovement(used, best, sampler=sampler, X_pending=pending)
        return qLogNoisyExpectedImprovement(
            used,
            torch.as_tensor(beliefs.inputs),
            sampler=sampler,
            prune_baseline=True,
            X_pending=pending,
        )


def maximise(
    acquisition: AcquisitionFunction,
    q: int,
    rng: np.random.Generator,
    *,
    config: AcquisitionConfig,
    bounds: tuple[Float, Float],
    pending: Float,
    starts: Float | None = None,
) -> Float:
    """Return a batch [q, d].

    Args:
        acquisition: that takes pending points.
        q: points.
        rng: of the starts.
        config: numbers of starts and steps.
        bounds: lower and upper corner [d].
        pending: inputs [K, d] of earlier batches, which the function knows already. BoTorch's own
            record of them is empty where they count as known points.
        starts: [K, d], points among which the starts of an ascent are chosen; None:
            BoTorch's own.
    """
    options: dict[str, Any] = {"maxiter": config.ascent_steps, "sample_around_best": True}
    chosen: list[Tensor] = []
    sizes = [1] * q if config.greedy else [q]
    with quiet(rng):
        for size in sizes:
            initial = None if starts is None else _best(acquisition, starts, config.restarts, size)
            point, _ = optimize_acqf(
                acquisition,
                torch.as_tensor(np.stack(bounds)),
                q=size,
                num_restarts=config.restarts,
                raw_samples=config.raw_samples if initial is None else None,
                batch_initial_conditions=initial,
                gen_candidates=_ascend,
                options={**options, "seed": int(rng.integers(2**31))},
                retry_on_optimization_warning=False,
            )
            chosen.append(point)
            acquisition.set_X_pending(torch.cat([torch.as_tensor(pending), *chosen]))
    return np.asarray(torch.cat(chosen).numpy())


def _ascend(
    starts: Tensor, acquisition: AcquisitionFunction, fixed_features: Any = None, **kwargs: Any
) -> tuple[Tensor, Tensor]:
    """Ascend as BoTorch does; nothing to fix is None, for an {} has it copy column by column."""
    found: tuple[Tensor, Tensor] = gen_candidates_scipy(
        starts, acquisition, fixed_features=fixed_features or None, **kwargs
    )
    return found


def _best(acquisition: AcquisitionFunction, starts: Float, count: int, q: int) -> Tensor:
    """Return the best of some points as starts [count, q, d]."""
    points = torch.as_tensor(starts[: len(starts) // q * q].reshape(-1, q, starts.shape[1]))
    with torch.no_grad():
        # Few at a time: each may need the covariance of all known points.
        values = torch.cat([acquisition(part) for part in torch.split(points, 8)])
    return points[torch.argsort(values, descending=True, stable=True)[:count]]


class quiet:  # noqa: N801  (used like contextlib's)
    """A context in which BoTorch neither warns nor touches torch's own generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._seed = int(rng.integers(2**31))
        self._warnings = warnings.catch_warnings()
        self._fork = torch.random.fork_rng(devices=[])

    def __enter__(self) -> None:
        self._warnings.__enter__()
        for category in (BotorchWarning, NumericalWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        self._fork.__enter__()
        torch.manual_seed(self._seed)

    def __exit__(self, *error: Any) -> None:
        self._fork.__exit__(*error)
        self._warnings.__exit__(*error)
