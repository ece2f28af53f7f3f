"""Posterior gradient of a Gaussian process at one point, and the evaluation that informs it most.

Source: Müller, von Rohr and Trimpe (2021), Local policy search with Bayesian optimization. Here are
the posterior of the Jacobian and the acquisition function that lowers its trace.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

from rolecast.baselines.hdbo.inverse import bordered
from rolecast.core.types import Float


@dataclass(frozen=True)
class SquaredExponential:
    """k(x, x') = scale exp(-|(x - x') / lengthscales|^2 / 2)."""

    scale: float

    lengthscales: Float
    """[D]."""

    def matrix(self, A: Float, B: Float) -> Float:
        """Return [N, M] between rows of A [N, D] and B [M, D]."""
        a, b = A / self.lengthscales, B / self.lengthscales
        squares = np.square(a).sum(1)[:, None] + np.square(b).sum(1) - 2.0 * a @ b.T
        return np.asarray(self.scale * np.exp(-0.5 * np.maximum(squares, 0.0)))

    def slope(self, point: Float, others: Float) -> Float:
        """Return the gradients [N, D] of k(point, others_n) in the point [D]."""
        apart = (others - point) / np.square(self.lengthscales)
        return np.asarray(self.matrix(others, point[None]) * apart)


@dataclass(frozen=True)
class GradientPosterior:
    """The process given N points, as its gradient at one point needs it."""

    kernel: SquaredExponential

    centre: Float
    """[D], where the gradient is."""

    points: Float
    """[N, D]."""

    targets: Float
    """[N], less the prior mean."""

    noise: Float
    """[N], variances."""

    inverse: Float
    """[N, N], inverse of covariance and noise."""

    @classmethod
    def given(
        cls,
        kernel: SquaredExponential,
        centre: Float,
        points: Float,
        targets: Float,
        noise: Float,
    ) -> "GradientPosterior":
        """Condition on points [N, D], targets [N] and noise variances [N]."""
        covariance = kernel.matrix(points, points)
        covariance[np.diag_indices_from(covariance)] += noise
        factor = cholesky(covariance, lower=True), True
        return cls(kernel, centre, points, targets, noise, cho_solve(factor, np.eye(len(points))))

    def mean(self) -> Float:
        """Return the posterior mean [D] of the gradient."""
        return self.kernel.slope(self.centre, self.points).T @ (self.inverse @ self.targets)

    def covariance(self) -> Float:
        """Return the posterior covariance [D, D] of the gradient."""
        slopes = self.kernel.slope(self.centre, self.points)
        prior = np.diag(self.kernel.scale / np.square(self.kernel.lengthscales))
        return np.asarray(prior - slopes.T @ self.inverse @ slopes)

    def gain(self, query: Float, noise: float) -> tuple[float, Float]:
        """Return by how much an evaluation at a query [D] lowers the trace of that covariance.

        It is |c|^2 / s: c is the posterior covariance of gradient and value at the query, s the
        value's variance with noise. The second result is the gain's own gradient [D].
        """
        inner = np.square(self.kernel.lengthscales)
        slopes = self.kernel.slope(self.centre, self.points)
        known = self.kernel.matrix(self.points, query[None])[:, 0]
        solved = self.inverse @ known
        own = float(self.kernel.matrix(query[None], self.centre[None])[0, 0])
        apart = (query - self.centre) / inner
        cross = own * apart - slopes.T @ solved
        spread = max(self.kernel.scale - float(known @ solved), 0.0) + noise
        gained = float(cross @ cross) / spread
        # Derivatives of k(x_n, query) in the query are k_n (x_n - query) / lengthscales^2.
        mixed = self.inverse @ (slopes @ cross)

        def along(weights: Float) -> Float:
            products = weights * known
            return np.asarray((products @ self.points - products.sum() * query) / inner)

        of_cross = own * (cross / inner - float(apart @ cross) * apart) - along(mixed)
        of_spread = -2.0 * along(solved)
        return gained, (2.0 * of_cross - gained * of_spread) / spread

    def gains(self, queries: Float, noise: float) -> Float:
        """Return the gains [Q] of evaluations at queries [Q, D], each by itself."""
        slopes = self.kernel.slope(self.centre, self.points)
        known = self.kernel.matrix(queries, self.points)
        solved = known @ self.inverse
        cross = self.kernel.slope(self.centre, queries) - solved @ slopes
        spread = np.maximum(self.kernel.scale - (solved * known).sum(1), 0.0) + noise
        return np.asarray(np.square(cross).sum(1) / spread)

    def best_query(
        self,
        corners: tuple[Float, Float],
        noise: float,
        *,
        raw_samples: int,
        restarts: int,
        steps: int,
        rng: np.random.Generator,
    ) -> Float:
        """Return a point [D] of a box whose evaluation gains most, by L-BFGS-B from random points.

        Args:
            corners: lower and upper corner [D] of the box.
            noise: variance of the evaluation.
            raw_samples: random points, the best of which are starts.
            restarts: number of starts.
            steps: most iterations from each.
            rng: draws the random points.
        """
        low, high = corners
        starts = rng.uniform(low, high, (raw_samples, len(low)))
        values = self.gains(starts, noise)
        found, greatest = starts[int(np.argmax(values))], float(values.max())
        if greatest <= 0.0:
            return np.asarray(found)

        def loss(query: Float) -> tuple[float, Float]:
            gained, slope = self.gain(query, noise)
            return -gained / greatest, -slope / greatest

        ends = [
            minimize(
                loss,
                starts[start],
                jac=True,
                method="L-BFGS-B",
                bounds=list(zip(low, high, strict=True)),
                options={"maxiter": steps},
            )
            for start in np.argsort(-values, kind="stable")[:restarts]
        ]
        best = min(ends, key=lambda end: float(end.fun))
        return np.clip(best.x, low, high) if best.fun < -1.0 else found

    def observed(self, query: Float, noise: float) -> "GradientPosterior":
        """Return the posterior after an evaluation at a query [D] that found what was expected."""
        known = self.kernel.matrix(self.points, query[None])[:, 0]
        solved = self.inverse @ known
        spread = max(self.kernel.scale - float(known @ solved), 0.0) + noise
        expected = float(solved @ self.targets)
        return replace(
            self,
            points=np.concatenate([self.points, query[None]]),
            targets=np.append(self.targets, expected),
            noise=np.append(self.noise, noise),
            inverse=bordered(self.inverse, solved, spread),
        )
