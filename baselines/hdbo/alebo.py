"""ALEBO: search in a random linear embedding, of which the cube's faces cut out a polytope.

Source: Letham et al. (2020), Re-examining linear embeddings for high-dimensional Bayesian
optimization.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from botorch.acquisition.acquisition import AcquisitionFunction
from gpytorch.kernels import Kernel, ScaleKernel
from torch import Tensor

from rolecast.baselines.hdbo.acquisition import AcquisitionConfig, expected_improvement, maximise
from rolecast.baselines.hdbo.mahalanobis import MahalanobisKernel, integrated, random_start
from rolecast.baselines.hdbo.search import Beliefs, Plain, SurrogateSearch
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, check

GENERATOR_TAGS: Final = (7, 8)
"""What tells the generators of the embedding and of the kernel's start from all others."""


@dataclass(frozen=True, kw_only=True)
class AleboConfig(AcquisitionConfig):
    """ALEBO: search in a random linear embedding."""

    embedding: int = 12
    """d_e, dimensions of the embedding, D at most; the authors' for a function of 6 in 1,000."""

    matrices: int = 10
    """Draws over which the kernel's matrix is integrated."""

    max_points: int = 500
    """Most evaluations in the process, of which each draw keeps a matrix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check(
            "AleboConfig", vars(self), {"embedding": POSITIVE_INTEGER, "matrices": POSITIVE_INTEGER}
        )

    def build(self, *, dimension: int, seed: int) -> SurrogateSearch:
        """Return a fresh optimiser."""
        method = Alebo(self, dimension, seed)
        return SurrogateSearch(self, method, dimension=dimension, seed=seed, initial=10)


class InPolytope(AcquisitionFunction):
    """An acquisition function at inputs y drawn towards 0 until B^+ y is in [-1, 1]^D.

    Inside the polytope it is the function itself, outside its value on the boundary. A maximum over
    any box round the polytope is so a maximum in it, without constraints.
    """

    def __init__(self, inner: AcquisitionFunction, inverse: Tensor) -> None:
        super().__init__(inner.model)
        self.inner, self._inverse = inner, inverse
        self.X_pending = inner.X_pending

    def set_X_pending(self, X_pending: Tensor | None = None) -> None:  # noqa: N802
        """Tell the function of pending inputs [K, d]."""
        self.inner.set_X_pending(None if X_pending is None else self.drawn_in(X_pending))
        self.X_pending = self.inner.X_pending

    def drawn_in(self, X: Tensor) -> Tensor:
        """Return the nearest inputs of the polytope on the way to 0."""
        reach = (X @ self._inverse.mT).abs().amax(-1, keepdim=True)
        return X / reach.clamp_min(1.0)

    def forward(self, X: Tensor) -> Tensor:
        """Return values [B] at X [B, q, d]."""
        return torch.as_tensor(self.inner(self.drawn_in(X)))


class Alebo(Plain):
    """Points x of [-1, 1]^D (the cube, stretched) are B^+ y of inputs y of d dimensions."""

    def __init__(self, config: AleboConfig, dimension: int, seed: int) -> None:
        super().__init__(dimension)
        self._config = config
        self._draw(seed)

    def _draw(self, seed: int) -> None:
        """Draw B [d, D], each of whose columns is uniform on the unit sphere."""
        self._seed = seed
        rng = np.random.default_rng((seed, GENERATOR_TAGS[0]))
        size = min(self._config.embedding, self.dimension)
        columns = rng.standard_normal((size, self.dimension))
        self.embedding = columns / np.linalg.norm(columns, axis=0)
        self.inverse = np.linalg.pinv(self.embedding)

    def kernel(self) -> Kernel:
        """Return the Mahalanobis kernel at a random projection."""
        rng = np.random.default_rng((self._seed, GENERATOR_TAGS[1]))
        return ScaleKernel(MahalanobisKernel(random_start(self.embedding, rng))).double()

    def inputs(self, points: Float) -> Float:
        """Return y = B x [N, d] of points [N, D]."""
        return np.asarray((2.0 * points - 1.0) @ self.embedding.T)

    def points(self, inputs: Float) -> Float:
        """Return x = B^+ y [N, D] of inputs [N, d], in the cube."""
        return np.asarray(np.clip(0.5 + 0.5 * inputs @ self.inverse.T, 0.0, 1.0))

    def feasible(self, inputs: Float) -> Float:
        """Return inputs [N, d], drawn towards 0 as far as their points leave the cube."""
        reach = np.abs(inputs @ self.inverse.T).max(1, keepdims=True)
        return np.asarray(inputs / np.maximum(reach, 1.0))

    def _uniform(self, q: int, rng: np.random.Generator) -> Float:
        """Return feasible inputs [q, d] of uniform points; those inside before those drawn in."""
        drawn = rng.uniform(-1.0, 1.0, (10 * q, self.dimension)) @ self.embedding.T
        reach = np.abs(drawn @ self.inverse.T).max(1)
        order = np.argsort(np.maximum(reach, 1.0), kind="stable")[:q]
        return self.feasible(drawn[order])

    def design(self, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D] of the embedding."""
        return self.points(self._uniform(q, rng))

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D] of greatest improvement in the polytope."""
        model = integrated(beliefs.model, self._config.matrices, rng)
        improvement = expected_improvement(beliefs, self._config, rng, model=model)
        acquisition = InPolytope(improvement, torch.as_tensor(self.inverse))
        best = self.feasible(beliefs.best[None])
        uniform = self._uniform(self._config.raw_samples * (1 if self._config.greedy else q), rng)
        shares = rng.choice([0.05, 0.2, 1.0], (len(uniform), 1))
        reach = np.abs(self.embedding).sum(1)
        found = maximise(
            acquisition,
            q,
            rng,
            config=self._config,
            bounds=(-reach, reach),
            pending=beliefs.pending,
            starts=best + shares * (uniform - best),
        )
        return self.points(self.feasible(found))

    def state_dict(self) -> dict[str, Any]:
        """Return what the embedding is drawn from."""
        return {"seed": self._seed}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Draw the embedding of a state."""
        self._draw(int(state["seed"]))
