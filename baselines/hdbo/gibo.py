"""GIBO: evaluations that say most of the gradient at a centre, then a step along that gradient.

Source: Müller, von Rohr and Trimpe (2021), Local policy search with Bayesian optimization.
Settings are those of their published configurations for reinforcement learning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from botorch.models import SingleTaskGP
from gpytorch.constraints import GreaterThan, Interval
from gpytorch.kernels import Kernel, RBFKernel, ScaleKernel
from gpytorch.priors import NormalPrior

from rolecast.baselines.hdbo.gradient_posterior import GradientPosterior, SquaredExponential
from rolecast.baselines.hdbo.record import Record
from rolecast.baselines.hdbo.surrogate import Surrogate, SurrogateConfig, posterior_mean
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, POSITIVE_NUMBER, at_least, check, or_none
from rolecast.platform.optimizers.observations import require_batch

LENGTHSCALE_BOUNDS: Final = (0.01, 0.3)
"""Bounds of the lengthscales; the authors', of weights in a range of about 1."""

SAMPLES_PER_STEP: Final = 16
"""The authors' evaluations between two steps of a policy."""

KEPT_CENTRES: Final = 64
"""Latest centres from which `best()` chooses."""


@dataclass(frozen=True, kw_only=True)
class GiboConfig(SurrogateConfig):
    """Local search by the posterior of the gradient, from the middle of the cube."""

    max_points: int = 500
    """Most evaluations in the process."""

    memory: int | None = None
    """Latest evaluations in the process. None: 5 D, the authors' number for functions, but at least
    32, theirs for reinforcement learning. It is at most `max_points`."""

    samples: int | None = None
    """Least evaluations between two steps; None: the authors' 16 of policies, but at most D, theirs
    of functions."""

    step: float = 0.5
    """Length of a step in lengthscales; the authors' 0.5 of policies, of functions it is 0.25."""

    width: float = 0.1
    """Greatest distance of an evaluation from the centre in each dimension. The authors have 0.1
    for policies and 0.2 for functions."""

    raw_samples: int = 64
    """Random points among which the acquisition function begins; the authors'."""

    restarts: int = 5
    """Starts of the acquisition function; the authors'."""

    ascent_steps: int = 20
    """Most iterations from each start."""

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = dict.fromkeys(("raw_samples", "restarts", "ascent_steps"), POSITIVE_INTEGER)
        optional = {"samples": or_none(POSITIVE_INTEGER), "memory": or_none(at_least(2))}
        lengths = {"step": POSITIVE_NUMBER, "width": POSITIVE_NUMBER}
        check("GiboConfig", vars(self), {**counts, **optional, **lengths})

    def build(self, *, dimension: int, seed: int) -> "Gibo":
        """Return a fresh optimiser."""
        return Gibo(self, dimension=dimension, seed=seed)


@dataclass(frozen=True)
class _Next:
    """What the next ask begins with."""

    model: SingleTaskGP

    centre: Float
    """[D]."""

    moved: bool
    """Whether the centre is a new one."""


class Gibo:
    """A centre, the latest evaluations round it, and the hyperparameters of the last fit."""

    def __init__(self, config: GiboConfig, *, dimension: int, seed: int) -> None:
        self._config = config
        self._record = Record(dimension, seed)
        wanted = max(5 * dimension, 32) if config.memory is None else config.memory
        self._memory = min(wanted, config.max_points)
        self._surrogate = Surrogate(
            config, self._kernel, choice=lambda _: slice(-self._memory, None)
        )
        self._centre = np.full(dimension, 0.5)
        self._centres = np.empty((0, dimension))
        self._samples = (
            min(SAMPLES_PER_STEP, dimension) if config.samples is None else config.samples
        )
        self._stepped = 0
        self._cached: _Next | None = None

    def _kernel(self) -> Kernel:
        """Return the authors' kernel: squared exponential, a lengthscale a dimension, in bounds."""
        kernel = ScaleKernel(
            RBFKernel(
                ard_num_dims=self._record.dimension,
                lengthscale_constraint=Interval(*LENGTHSCALE_BOUNDS),
            ),
            outputscale_prior=NormalPrior(2.0, 1.0),
            outputscale_constraint=GreaterThan(1e-3),
        ).double()
        kernel.outputscale = 2.0
        return kernel

    def ask(self, q: int) -> Float:
        """Return q points [q, D]: the centre where it is new, then those that say most of it."""
        count, rng = require_batch(q), self._record.generator()
        if not len(self._record):
            return self._record.asked(self._around(count, rng), rng)
        now = self._next()
        self._surrogate.commit()
        self._surrogate.drop()
        if now.moved:
            self._stepped = len(self._record)
            self._centres = np.vstack([self._centres, self._centre])[-KEPT_CENTRES:]
        self._centre, self._cached = now.centre, None
        known = self._posterior(now.model, now.centre)
        noise = float(np.median(known.noise))
        for waiting in self._record.pending:
            known = known.observed(waiting, noise)
        chosen = []
        for place in range(count):
            first = now.moved and place == 0
            query = now.centre if first else self._query(known, noise, rng)
            known = known.observed(query, noise)
            chosen.append(query)
        return self._record.asked(np.array(chosen), rng)

    def _around(self, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D]: the centre, then uniform ones of the box round it."""
        points = rng.uniform(*self._box(), (q, self._record.dimension))
        if not len(self._record.pending):
            points[0] = self._centre
        return np.asarray(points)

    def _box(self) -> tuple[Float, Float]:
        low, high = self._centre - self._config.width, self._centre + self._config.width
        return np.maximum(low, 0.0), np.minimum(high, 1.0)

    def _query(self, known: GradientPosterior, noise: float, rng: np.random.Generator) -> Float:
        return known.best_query(
            self._box(),
            noise,
            raw_samples=self._config.raw_samples,
            restarts=self._config.restarts,
            steps=self._config.ascent_steps,
            rng=rng,
        )

    def _next(self) -> _Next:
        """Return the model of the evaluations, and the centre after the step that is due."""
        if self._cached is None:
            data, count, centre = self._record.data, len(self._record), self._centre
            model, _ = self._surrogate.model(data.candidates, data.returns, data.stderrs)
            if self._record.asks == 0:
                points = data.candidates[-self._memory :]
                centre = np.array(points[int(np.argmax(posterior_mean(model, points)))])
            moved = count - self._stepped >= self._samples
            if moved:
                centre = self._climbed(model, centre)
            self._cached = _Next(model, centre, moved)
        return self._cached

    def _climbed(self, model: SingleTaskGP, centre: Float) -> Float:
        """Return the centre [D] moved along the expected gradient, by `step` lengthscales."""
        known = self._posterior(model, centre)
        uphill = known.mean()
        length = max(float(np.linalg.norm(uphill)), 1e-300)
        moved = self._config.step * known.kernel.lengthscales * uphill / length
        return np.clip(centre + moved, 0.0, 1.0)

    def _posterior(self, model: SingleTaskGP, centre: Float) -> GradientPosterior:
        (inputs,) = model.train_inputs
        covariance = model.covar_module
        lengthscales = covariance.base_kernel.lengthscale.detach().numpy()[0].copy()
        kernel = SquaredExponential(float(covariance.outputscale.detach()), lengthscales)
        return GradientPosterior.given(
            kernel,
            centre,
            inputs.numpy(),
            (model.train_targets - model.mean_module.constant).detach().numpy(),
            model.likelihood.noise.detach().expand(len(inputs)).numpy(),
        )

    def forget_pending(self) -> None:
        """Forget candidates that will not be told."""
        self._record.forget_pending()

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Take in evaluations; the next ask steps where they are enough."""
        self._record.told(candidates, returns, stderrs)
        self._cached = None

    def best(self) -> Float:
        """Return, of the latest centres and that of the next ask, the one of highest mean [D].

        All steps have one length, so near a maximum the latest centre often lies beyond it.
        """
        self._record.require_told()
        now = self._next()
        centres = np.vstack([now.centre, self._centres])
        return np.array(centres[int(np.argmax(posterior_mean(now.model, centres)))])

    def explain(self) -> dict[str, float]:
        """Return the evaluations since the last step."""
        return {"evaluations_since_step": float(len(self._record) - self._stepped)}

    def state_dict(self) -> dict[str, Any]:
        """Return points, centre, hyperparameters, and when they last changed."""
        surrogate = self._surrogate.state_dict()
        return {
            "record": self._record.state_dict(),
            "centre": self._centre.copy(),
            "centres": self._centres.copy(),
            "values": surrogate["values"],
            "counts": [surrogate["fitted"], self._stepped],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._record.load_state_dict(state["record"])
        self._centre = np.array(state["centre"], dtype=np.float64)
        self._centres = np.array(state["centres"], dtype=np.float64)
        fitted, self._stepped = map(int, state["counts"])
        self._surrogate.load_state_dict({"values": state["values"], "fitted": fitted})
        self._cached = None
