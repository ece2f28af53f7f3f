"""What TreeBO and RDUCB share as searches: a forest of dimensions, and points of greatest bound.

By message passing the greatest bound on a grid is found; a finer grid is laid where that is.
Source: Han, Arora and Scarlett (2021), section 4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from gpytorch.kernels import Kernel

from rolecast.baselines.hdbo.forest.cliques import Edge, maximise
from rolecast.baselines.hdbo.forest.process import ForestKernel, TermPosterior
from rolecast.baselines.hdbo.search import Method, Plain, SurrogateSearch
from rolecast.baselines.hdbo.surrogate import SurrogateConfig
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, POSITIVE_NUMBER, at_least, check

INITIAL_POINTS: Final = 10
"""Random points before the first model; the authors' of both."""


@dataclass(frozen=True, kw_only=True)
class ForestConfig(SurrogateConfig):
    """Common settings of TreeBO and RDUCB."""

    max_points: int = 500
    """Most evaluations in one process: half the best, half the latest."""

    fit_steps: int = 20
    """Most iterations of one fit."""

    exploration: float = 0.5
    """Factor of kappa = exploration ln(2 t), by which a term's deviation counts; the authors'."""

    lengthscale: float = 0.1
    """Where the fit of lengthscales begins; the authors'."""

    resolution: int = 4
    """Points of the grid in each dimension; the authors'."""

    zooms: int = 5
    """Grids laid one in the other: 4^5 places a dimension, where the authors have 1,000."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = {
            "exploration": POSITIVE_NUMBER,
            "lengthscale": POSITIVE_NUMBER,
            "resolution": at_least(2),
            "zooms": POSITIVE_INTEGER,
        }
        check(type(self).__name__, vars(self), rules)


def zoomed(
    posterior: TermPosterior, kappa: float, config: ForestConfig, rng: np.random.Generator
) -> Float:
    """Return a point [D] of great bound: the best of a coarse grid, of a finer one there, and on.

    Each dimension's interval is cut into as many parts as the grid has places, with a random place
    in each. Message passing chooses parts, which are the next intervals.
    """
    dimension, places = posterior.points.shape[1], config.resolution
    low, width = np.zeros(dimension), 1.0
    grid = np.empty((dimension, places))
    chosen = np.zeros(dimension, dtype=np.int64)
    for _ in range(config.zooms):
        width /= places
        parts = low[:, None] + width * np.arange(places)
        grid = parts + width * rng.random((dimension, places))
        single, pairs = posterior.bounds(grid, kappa)
        chosen, _ = maximise(single, posterior.edges, pairs)
        low = parts[np.arange(dimension), chosen]
    return grid[np.arange(dimension), chosen]


class ForestMethod(Plain):
    """Holds a forest; how it is chosen is `propose`'s to say."""

    def __init__(self, config: ForestConfig, dimension: int) -> None:
        super().__init__(dimension)
        self._config = config
        self.edges: tuple[Edge, ...] = ()

    def kernel(self) -> Kernel:
        """Return the sum over the forest."""
        return ForestKernel(self.edges, self.dimension, self._config.lengthscale)

    def design(self, q: int, rng: np.random.Generator) -> Float:
        """Return uniform points [q, D], as the authors do."""
        return rng.random((q, self.dimension))

    def highest(self, posterior: TermPosterior, told: int, rng: np.random.Generator) -> Float:
        """Return a point [D] of great upper bound, after `told` evaluations."""
        kappa = self._config.exploration * np.log(2.0 * told)
        return zoomed(posterior, kappa, self._config, rng)

    def state_dict(self) -> dict[str, Any]:
        """Return the forest, as an array [E, 2]."""
        return {"edges": np.array(self.edges, dtype=np.float64).reshape(-1, 2)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Replace it."""
        self.edges = tuple((int(one), int(other)) for one, other in np.asarray(state["edges"]))


class ForestSearch(SurrogateSearch):
    """A search whose forest changes at an ask."""

    def __init__(self, config: ForestConfig, method: Method, *, dimension: int, seed: int) -> None:
        super().__init__(config, method, dimension=dimension, seed=seed, initial=INITIAL_POINTS)

    def ask(self, q: int) -> Float:
        """Return q points [q, D]; what is asked next is asked of a process over the new forest."""
        asked = super().ask(q)
        self._surrogate.drop()
        return asked
