"""LineBO: one line after another through the best point, each searched by the bound of one process.

Source: Kirschner et al. (2019), Adaptive and safe Bayesian optimization in high dimensions via
one-dimensional subspaces. Numbers that the paper leaves open are those of the authors' code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch

from rolecast.baselines.hdbo.search import Beliefs, Plain, SurrogateSearch
from rolecast.baselines.hdbo.surrogate import SurrogateConfig, posterior_draws, posterior_mean
from rolecast.core.types import Float
from rolecast.core.validation import POSITIVE_INTEGER, POSITIVE_NUMBER, check, one_of, or_none
from rolecast.platform.optimizers.batch_plan import default_batch_plan
from rolecast.platform.optimizers.protocol import Proposal

DIRECTION_RULES: Final = ("coordinate", "random", "descent")

LINE_GRID: Final = 300
"""Points of a line among which the bound is maximised."""

LINE_MARGIN: Final = 0.05
"""Share of a line at either end in which its best point is not looked for."""

DIFFERENCE_STEP: Final = 1e-3
"""Step of the differences that give a gradient."""

LEAST_STEP_SHARE: Final = 0.02
"""A step up the gradient shorter than this share of the radius is replaced by a random one."""


@dataclass(frozen=True, kw_only=True)
class LineBoConfig(SurrogateConfig):
    """LineBO: one line after another through the best point."""

    direction: str = "descent"
    """"coordinate": one axis after the other; "random": uniform. "descent": the process's gradient
    (the authors minimise), from evaluations close to the best point."""

    queries: int = 10
    """Evaluations of one line."""

    probes: int | None = None
    """Evaluations close to the best point before each line of "descent"; None: min(D, 10)."""

    radius: float = 0.1
    """Their distance from it."""

    beta: float = 2.0
    """Standard deviations in the upper confidence bound."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rules = {
            "direction": one_of(*DIRECTION_RULES),
            "queries": POSITIVE_INTEGER,
            "probes": or_none(POSITIVE_INTEGER),
            "radius": POSITIVE_NUMBER,
            "beta": POSITIVE_NUMBER,
        }
        check("LineBoConfig", vars(self), rules)

    def build(self, *, dimension: int, seed: int) -> SurrogateSearch:
        """Return a fresh optimiser."""
        method = LineBo(self, dimension)
        return SurrogateSearch(self, method, dimension=dimension, seed=seed, initial=10)

    def proposal(self, budget_episodes: int) -> Proposal:
        """Propose few candidates of many episodes: lines follow each other."""
        return default_batch_plan(budget_episodes, episodes=32, batch_size=15)


def ends_of_line(anchor: Float, direction: Float) -> tuple[float, float]:
    """Return least and greatest t at which anchor + t direction, both [D], is in the cube."""
    moving = direction != 0.0
    first = -anchor[moving] / direction[moving]
    last = (1.0 - anchor[moving]) / direction[moving]
    return float(np.minimum(first, last).max()), float(np.maximum(first, last).min())


def joint_covariance(posterior: Any) -> Float:
    """Return the covariance [N, N] of BoTorch's posterior at N inputs, writable."""
    return np.array(posterior.distribution.covariance_matrix.numpy())


class LineBo(Plain):
    """Remembers its line, and what is left of its evaluations."""

    def __init__(self, config: LineBoConfig, dimension: int) -> None:
        super().__init__(dimension)
        self._config = config
        self._anchor = np.empty(0)
        self._way = np.zeros(dimension)
        self._probing, self._left, self._lines = False, 0, 0

    def propose(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D]: of the line of now, and of those that follow it."""
        points = np.empty((0, self.dimension))
        while len(points) < q:
            if self._left == 0:
                # The best point of a line is evaluated before the next one leaves it.
                self._turn(beliefs, rng)
                points = np.concatenate([points, self._anchor[None]])
                continue
            count = min(self._left, q - len(points))
            known = np.concatenate([beliefs.pending, points])
            fresh = self._probe(beliefs, count, rng) if self._probing else None
            fresh = self._of_greatest_bound(beliefs, known, count) if fresh is None else fresh
            points = np.concatenate([points, fresh])
            self._left -= count
        return points[:q]

    def _turn(self, beliefs: Beliefs, rng: np.random.Generator) -> None:
        """Begin another line, or the evaluations round the anchor that come before it."""
        probed, descent = self._probing, self._config.direction == "descent"
        before = self._anchor
        if not len(before):
            self._anchor = beliefs.best
        elif probed:
            self._anchor = self._uphill(beliefs, before)
        else:
            inner = self._line(np.linspace(LINE_MARGIN, 1.0 - LINE_MARGIN, LINE_GRID))
            self._anchor = inner[int(np.argmax(posterior_mean(beliefs.model, inner)))]
        self._probing = descent and not probed
        if self._probing:
            self._left = self._config.probes or min(self.dimension, 10)
            return
        self._left, way = self._config.queries, rng.standard_normal(self.dimension)
        if self._config.direction == "coordinate":
            way = np.eye(self.dimension)[self._lines % self.dimension]
        elif descent:
            step = self._anchor - before
            way = step if np.linalg.norm(step) > LEAST_STEP_SHARE * self._config.radius else way
        self._way, self._lines = way / np.linalg.norm(way), self._lines + 1

    def _line(self, shares: Float) -> Float:
        """Return points [K, D] of the line at shares [K] of its length."""
        low, high = ends_of_line(self._anchor, self._way)
        points = self._anchor + (low + (high - low) * shares)[:, None] * self._way
        return np.clip(points, 0.0, 1.0)

    def _of_greatest_bound(self, beliefs: Beliefs, known: Float, q: int) -> Float:
        """Return q points of the line [q, D], each in view of those before and of known ones.

        A pending candidate counts with its posterior mean (Desautels et al. 2014).
        """
        grid = self._line(np.linspace(0.0, 1.0, max(LINE_GRID, 2 * q)))
        with torch.no_grad():
            posterior = beliefs.model.posterior(torch.as_tensor(np.concatenate([known, grid])))
            means = posterior.mean[:, 0].numpy()
            covariance = joint_covariance(posterior)
            noise = float(beliefs.model.likelihood.noise.mean())
        chosen: list[int] = []
        for place in range(len(known) + q):
            pick = place
            if place >= len(known):
                deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
                bounds = means + self._config.beta * deviations
                bounds[[*range(len(known)), *chosen]] = -np.inf
                pick = int(np.argmax(bounds))
                chosen.append(pick)
            column = covariance[:, pick]
            covariance -= np.outer(column, column) / (covariance[pick, pick] + noise)
        return np.asarray(grid[np.array(chosen) - len(known)])

    def _nudged(self) -> Float:
        """Return the anchor and its neighbours along every axis, [1 + D, D], in the cube."""
        signs = np.where(self._anchor > 0.5, -DIFFERENCE_STEP, DIFFERENCE_STEP)
        return np.concatenate([self._anchor[None], self._anchor + np.diag(signs)])

    def _gradients(self, values: Float) -> Float:
        """Return gradients [K, D] of values [K, 1 + D] at the nudged points."""
        signs = np.where(self._anchor > 0.5, -DIFFERENCE_STEP, DIFFERENCE_STEP)
        return (values[:, 1:] - values[:, :1]) / signs

    def _probe(self, beliefs: Beliefs, q: int, rng: np.random.Generator) -> Float:
        """Return q points [q, D] at the radius, each up the gradient of a draw of the process."""
        draws = posterior_draws(beliefs.model, self._nudged(), q, rng)
        ways = self._gradients(draws)
        ways /= np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
        return np.clip(self._anchor + self._config.radius * ways, 0.0, 1.0)

    def _uphill(self, beliefs: Beliefs, anchor: Float) -> Float:
        """Return the best point [D] by posterior mean along its gradient, up to the radius."""
        means = posterior_mean(beliefs.model, self._nudged())
        way = self._gradients(means[None])[0]
        way /= max(float(np.linalg.norm(way)), 1e-12)
        steps = np.linspace(0.0, self._config.radius, 100)[:, None]
        points = np.clip(anchor + steps * way, 0.0, 1.0)
        return np.asarray(points[int(np.argmax(posterior_mean(beliefs.model, points)))])

    def state_dict(self) -> dict[str, Any]:
        """Return the line and what is left of it."""
        return {
            "anchor": self._anchor.copy(),
            "way": self._way.copy(),
            "counts": [int(self._probing), self._left, self._lines],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with a line."""
        self._anchor = np.array(state["anchor"], dtype=np.float64)
        self._way = np.array(state["way"], dtype=np.float64)
        probing, self._left, self._lines = map(int, state["counts"])
        self._probing = bool(probing)
