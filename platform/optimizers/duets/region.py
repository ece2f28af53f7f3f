"""Active region X_j of the domain, as the list of all tests that trimmed it (equation 9).

Every party holds the same region and trims it alone, by deterministic steps.

Differs: suprema are over 2^14 candidates of the smallest box around the region, then climbed by
pattern search from the best of them; the paper assumes suprema of a continuous set. A part of the
region that lies farther than one spacing from every surviving candidate is lost.
Differs: several components are sampled as one set; footnote 3 of the paper would query T_j points
in each, which breaks the budget of T rounds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.domain import (
    Domain,
    candidate_spacing,
    candidates_in,
    first_candidates,
)
from rolecast.platform.optimizers.duets.kernel import StationaryKernel
from rolecast.platform.optimizers.duets.posterior import sparse_mean

CLIMBING_STARTS: Final = 8
"""Best candidates from which the sparse mean is climbed."""

CLIMBING_HALVINGS: Final = 12
"""Halvings of the step of pattern search, from one spacing of candidates."""

SHRUNK_SHARE: Final = 0.5
"""Share of its box's volume below which candidates are laid anew in the smaller box."""

MOST_ZOOMS: Final = 40
"""Most times that candidates are laid anew in one trimming."""

ATTEMPT_BLOCK: Final = 1 << 16
"""Largest number of points proposed at once."""

MOST_ATTEMPTS: Final = 1 << 22
"""Attempts after which a draw has failed: the region is below some 1e-6 of its box."""

Mask = NDArray[np.bool_]


class EmptyRegionError(RequestError):
    """No point of a region is found any more: beta or lengthscale was too small."""


@dataclass(frozen=True)
class TrimmingTest:
    """Test of one epoch: a point stays where the sparse mean reaches the threshold."""

    inducing: Float
    """S_j [S, d]."""

    weights: Float
    """Weights [S] of the mean in kernels at the inducing points."""

    threshold: float
    """Supremum of the mean over X_j less 2 beta s_max."""

    supremum: float
    """Largest mean found in X_j."""

    maximiser: Float
    """Point [d] of the largest mean."""

    def mean(self, kernel: StationaryKernel, points: Float) -> Float:
        """Return the sparse mean [P] at points [P, d]."""
        return sparse_mean(kernel, self.inducing, self.weights, points)


@dataclass(frozen=True)
class Region:
    """Set of points of a domain that pass all tests so far."""

    domain: Domain
    kernel: StationaryKernel
    low: Float = field(repr=False)
    """Least coordinates [d] of the box around the region."""

    high: Float = field(repr=False)
    """Greatest coordinates [d] of it."""

    candidates: Float = field(repr=False)
    """Candidates [C, d] of the region."""

    share: float = 1.0
    """Share of the box's candidates that are in the region."""

    tests: tuple[TrimmingTest, ...] = ()
    """Tests of the epochs before."""

    def state_dict(self) -> dict[str, Any]:
        """Return all but domain and kernel, as arrays and JSON values."""
        return {
            "low": self.low,
            "high": self.high,
            "candidates": self.candidates,
            "share": self.share,
            "tests": {str(place): dict(vars(test)) for place, test in enumerate(self.tests)},
        }

    def restored(self, state: Mapping[str, Any]) -> "Region":
        """Return the region of a state, with this one's domain and kernel."""
        tests = tuple(TrimmingTest(**test) for test in state["tests"].values())
        return replace(self, **{**state, "tests": tests})

    @classmethod
    def whole(cls, domain: Domain, kernel: StationaryKernel) -> "Region":
        """Return X_1, the domain."""
        low, high = domain.bounds
        return cls(domain, kernel, low, high, first_candidates(domain))

    def contains(self, points: Float) -> Mask:
        """Return which points [P, d] are in the region."""
        inside = self.domain.contains(points)
        for test in self.tests:
            rows = np.flatnonzero(inside)
            inside[rows] = test.mean(self.kernel, points[rows]) >= test.threshold
        return inside

    def draw(self, coins: Coins, agents: int, first: int, count: int) -> Float:
        """Return uniform points of the region: draws of each agent, [agents, count, d].

        Draw k of an agent is the first of its attempts that is in the region, whatever else is
        drawn.

        Raises:
            EmptyRegionError: the region is too small a part of its box.
        """
        owners, draws = np.divmod(np.arange(agents * count), max(count, 1))
        draws += first
        found = np.empty((agents * count, self.domain.dimension))
        waiting, done = np.arange(agents * count), 0
        while len(waiting):
            if done >= MOST_ATTEMPTS:
                raise EmptyRegionError(self._vanished(done))
            width = min(max(1, int(2.0 / max(self.share, 1e-4))), max(1, ATTEMPT_BLOCK // 64))
            parts = []
            for part in _parts(waiting, max(1, ATTEMPT_BLOCK // width)):
                attempts = np.arange(done, done + width)
                dimension = self.domain.dimension
                uniforms = coins.uniforms(owners[part], draws[part], attempts, dimension)
                proposed = self._proposed(uniforms).reshape(-1, dimension)
                inside = self.contains(proposed).reshape(len(part), width)
                hit, place = inside.any(1), inside.argmax(1)
                rows = np.arange(len(part)) * width + place
                found[part[hit]] = proposed[rows[hit]]
                parts.append(part[~hit])
            waiting, done = np.concatenate(parts), done + width
        return found.reshape(agents, count, self.domain.dimension)

    def _vanished(self, attempts: int) -> str:
        found = f"no point of the region was found in {attempts:,} attempts after"
        best = self.tests[-1].maximiser.tolist() if self.tests else None
        return (
            f"{found} {len(self.tests)} trimmings; expected a greater beta or lengthscale; the "
            f"last mean was greatest at {best}, and the queries so far are kept"
        )

    def _proposed(self, uniforms: Float) -> Float:
        """Map uniform numbers to the smaller of the domain and the box around the region."""
        if self.domain.volume <= float(np.prod(self.high - self.low)):
            return self.domain.from_cube(uniforms)
        return np.asarray(self.low + uniforms * (self.high - self.low))

    def trimmed(self, inducing: Float, weights: Float, width: float) -> "Region":
        """Return X_{j+1}: points whose mean is at least the supremum less `width` (equation 9)."""

        def mean(points: Float) -> Float:
            return sparse_mean(self.kernel, inducing, weights, points)

        means = mean(self.candidates)
        best = np.argsort(-means, kind="stable")[:CLIMBING_STARTS]
        maximiser, supremum = self._climbed(self.candidates[best], means[best], mean)
        test = TrimmingTest(inducing, weights, supremum - width, supremum, maximiser)
        survivors = np.concatenate([self.candidates[means >= test.threshold], maximiser[None]])
        smaller = replace(self, tests=(*self.tests, test), candidates=survivors)
        share = self.share * len(survivors) / (len(self.candidates) + 1)
        return zoomed(replace(smaller, share=share))

    def _climbed(
        self, points: Float, means: Float, mean: Callable[[Float], Float]
    ) -> tuple[Float, float]:
        """Climb a function from points inside the region; return the best point and its value."""
        step = candidate_spacing(self.domain, self.low, self.high)
        moves = np.concatenate([np.eye(len(step)), -np.eye(len(step))]) * step
        points, means = points.copy(), means.copy()
        for _ in range(CLIMBING_HALVINGS):
            for _ in range(2):
                tried = (points[:, None] + moves).reshape(-1, len(step))
                tried = np.clip(tried, *self.domain.bounds)
                values = np.where(self.contains(tried), mean(tried), -np.inf)
                values = values.reshape(len(points), -1)
                place = values.argmax(1)
                rows = np.arange(len(points))
                better = values[rows, place] > means
                chosen = tried.reshape(len(points), -1, len(step))[rows, place]
                points[better] = chosen[better]
                means[better] = values[rows, place][better]
            moves = moves * 0.5
        best = int(np.argmax(means))
        return points[best], float(means[best])


def zoomed(region: Region) -> Region:
    """Return the region with candidates laid anew in the box around its survivors."""
    for _ in range(MOST_ZOOMS):
        spacing = candidate_spacing(region.domain, region.low, region.high)
        low = np.maximum(region.candidates.min(0) - spacing, region.low)
        high = np.minimum(region.candidates.max(0) + spacing, region.high)
        before = float(np.prod(region.high - region.low))
        if float(np.prod(high - low)) > SHRUNK_SHARE * before:
            break
        laid = candidates_in(region.domain, low, high)
        kept = laid[region.contains(laid)]
        maximiser = region.tests[-1].maximiser[None]
        region = replace(
            region,
            low=low,
            high=high,
            candidates=np.concatenate([kept, maximiser]),
            share=len(kept) / max(len(laid), 1),
        )
    return region


def _parts(rows: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
