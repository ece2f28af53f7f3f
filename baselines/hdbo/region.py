"""One trust region of TuRBO or BAxUS: its points carry a tag, its box follows their values."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from botorch.models import SingleTaskGP

from rolecast.baselines.hdbo import trust_region
from rolecast.baselines.hdbo.record import Index, Record
from rolecast.baselines.hdbo.surrogate import Surrogate, posterior_draws, posterior_mean
from rolecast.baselines.hdbo.trust_region import TrustRegion, gains
from rolecast.core.types import Float
from rolecast.platform.surrogate.outcome_transform import untransform_returns


class Region:
    """A box, a process, and how many of the region's points were judged.

    D dimensions of a point, d inputs of the process.
    """

    def __init__(
        self,
        record: Record,
        tag: int,
        surrogate: Surrogate,
        *,
        outcome_transform: str,
        inputs: Callable[[Float], Float] = lambda points: points,
        observed: bool = False,
    ) -> None:
        """Begin with a new box and no point judged.

        Args:
            record: of all regions.
            tag: of this one's points.
            surrogate: the process.
            outcome_transform: of its returns.
            inputs: maps points [N, D] to inputs [N, d].
            observed: a point's value is its return, not its posterior mean.
        """
        self.tag, self.judged, self.box, self.surrogate = tag, 0, TrustRegion(), surrogate
        self._record, self._outcome_transform, self._inputs = record, outcome_transform, inputs
        self._observed = observed

    def rows(self) -> Index:
        """Return which evaluations are the region's, in order."""
        return np.flatnonzero(self._record.tags == self.tag)

    def model(self) -> tuple[SingleTaskGP, Index, Float]:
        """Return the process, the rows [K] that it sees, and their inputs [K, d]."""
        data, rows = self._record.data, self.rows()
        inputs = self._inputs(data.candidates[rows])
        model, seen = self.surrogate.model(inputs, data.returns[rows], data.stderrs[rows])
        return model, rows[seen], inputs[seen]

    def in_returns(self, transformed: Float, rows: Index) -> Float:
        """Map values of the process that sees some rows to the unit of the task."""
        return untransform_returns(
            transformed, self._record.data.returns[rows], self._outcome_transform
        )

    def values(self) -> tuple[Index, Float]:
        """Return rows [K] of the region's points and their values, in the unit of the task."""
        if self._observed:
            rows = self.rows()
            return rows, self._record.data.returns[rows]
        model, rows, inputs = self.model()
        return rows, self.in_returns(posterior_mean(model, inputs), rows)

    def centre(self) -> tuple[int, float]:
        """Return the row of the best point, and its value."""
        rows, values = self.values()
        best = int(np.argmax(values))
        return int(rows[best]), float(values[best])

    def judge(self, initial: int, tolerance: int, *, singly: bool = False) -> None:
        """Count the evaluations since the last call, without the first design.

        They are compared by value; by return, as the authors do, where the process sees no earlier
        point, since the best returns are all new and it has no room for more.

        Args:
            initial: points of the first design.
            tolerance: evaluations without gain after which the box is halved.
            singly: compare each evaluation with those before it, so a batch may halve the box
                repeatedly. Otherwise all of them are one batch.
        """
        count, known = len(self.rows()), self.judged
        if count == known:
            return
        self.judged = count
        if known < initial:
            return
        every = self.rows()
        rows, values = self.values()
        if rows[0] >= every[known]:
            rows, values = every, self._record.data.returns[every]
        fresh = rows >= every[known]
        best = float(values[~fresh].max())
        if not singly:
            self.box.judge(gains(float(values[fresh].max()), best), count - known, tolerance)
            return
        for value in map(float, values[fresh]):
            self.box.judge(gains(value, best), 1, tolerance)
            best = max(best, value)
            if self.box.too_small:
                return

    def draws(
        self, q: int, size: int, rng: np.random.Generator, *, low: float = 0.0, high: float = 1.0
    ) -> tuple[Float, Float]:
        """Return candidates [size, d] of the box, and draws [q, size] of the process there.

        Args:
            q: draws.
            size: candidates; 2 q where that is more.
            rng: of both.
            low: least input.
            high: greatest input.
        """
        model, _, _ = self.model()
        self.surrogate.commit()
        row, _ = self.centre()
        centre = self._inputs(self._record.data.candidates[row][None])[0]
        lengthscales = model.covar_module.base_kernel.lengthscale.detach().numpy()[0]
        corners = trust_region.box(centre, lengthscales, self.box.length, low, high)
        pool = trust_region.candidates(centre, corners, max(size, 2 * q), rng)
        return pool, posterior_draws(model, pool, q, rng)

    def begin(self) -> None:
        """Begin with a new box and a first fit; points and those judged stay."""
        self.box = TrustRegion()
        self.surrogate.forget()

    def state_dict(self) -> dict[str, Any]:
        """Return tag, box and hyperparameters."""
        return {
            "tag": self.tag,
            "judged": self.judged,
            "box": self.box.state_dict(),
            "surrogate": self.surrogate.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.tag, self.judged = int(state["tag"]), int(state["judged"])
        self.box = TrustRegion.from_state(state["box"])
        self.surrogate.load_state_dict(state["surrogate"])


def best_of_draws(draws: Float) -> list[int]:
    """Return the place of the greatest value of each draw [q, K], none twice."""
    chosen: list[int] = []
    for draw in draws:
        draw[chosen] = -np.inf
        chosen.append(int(np.argmax(draw)))
    return chosen


def best_centre(record: Record, regions: Iterable[Region], ended: Float) -> Float:
    """Return the best centre [D], of regions and of those that ended.

    Args:
        record: of all regions.
        regions: those of now.
        ended: [K, 2], row of the centre and its value, of each region that ended.
    """
    record.require_told()
    live = [region.centre() for region in regions if len(region.rows())]
    row, _ = max([*live, *map(tuple, ended)], key=lambda centre: centre[1])
    return np.array(record.data.candidates[int(row)])
