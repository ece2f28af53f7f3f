"""DUETS as an ask/tell optimiser: an epoch's points in any batches, told in any order.

Points of an epoch are numbered by (draw, agent). Their values are ordered by that number before
they are used, so that a search depends on no order of arrival.

Differs: returns are standardised, by the deviation of the first epoch whose returns differ; the
paper knows a bound on the function's norm. The last epoch is used too, for the incumbent. While an
epoch waits for values, and after N T evaluations, further candidates are further draws of the
agents in the same region, which no trimming uses.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.optimizers.duets.coins import Coins
from rolecast.platform.optimizers.duets.local_parties import LocalParties
from rolecast.platform.optimizers.duets.protocol import DuetsProtocol
from rolecast.platform.optimizers.observations import Observations, require_batch
from rolecast.platform.optimizers.random import shrunk_best
from rolecast.platform.surrogate.outcome_transform import rounding_deviation


class DuetsSearch:
    """Server and all agents in one process, behind the common ask/tell."""

    waits_for_all = True

    def __init__(self, protocol: DuetsProtocol, *, standardise: bool) -> None:
        self._protocol = protocol
        self._standardise = standardise
        dimension = protocol.domain.dimension
        self._data = Observations(dimension)
        self._scale: float | None = None
        self._parties = LocalParties(protocol)
        self._asked, self._further = 0, 0
        self._explained: dict[str, float] = {}
        self._begin()

    def _begin(self) -> None:
        """Begin an epoch; after the last there are only further draws."""
        epochs = self._protocol.epochs
        if self._parties.server.epoch > len(epochs):
            self._points = np.empty((0, self._data.dimension))
        else:
            points = self._parties.server.points()
            self._points = points.swapaxes(0, 1).reshape(-1, points.shape[-1])
        self._places = {row.tobytes(): place for place, row in enumerate(self._points)}
        self._values = np.full(len(self._points), np.nan)

    def ask(self, q: int) -> Float:
        """Return the next points of the epoch, then further draws of its region."""
        count, first = require_batch(q), self._asked
        waiting = first + np.flatnonzero(np.isnan(self._values[first:]))[:count]
        fresh = [self._points[waiting]]
        if len(waiting) == count:
            self._asked = int(waiting[-1]) + 1
        else:
            self._asked, agents = len(self._points), self._protocol.agents
            start = len(self._points) + self._further
            stop = start + count - len(waiting)
            low, high = start // agents, -(-stop // agents)
            coins = Coins(self._protocol.seed, self._parties.server.epoch, np.arange(agents))
            drawn = self._parties.server.region.draw(coins, agents, low, high - low)
            rows = drawn.swapaxes(0, 1).reshape(-1, self._data.dimension)
            fresh.append(rows[start - low * agents : stop - low * agents])
            self._further += stop - start
        return np.concatenate(fresh)

    def forget_pending(self) -> None:
        """Ask again for the points of the epoch that have no value."""
        self._asked = int(np.append(np.isnan(self._values), True).argmax())

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations; the epoch ends with the last value of its points."""
        before = len(self._data)
        self._data.add(candidates, returns, stderrs)
        for row, value in zip(
            self._data.candidates[before:], self._data.returns[before:], strict=True
        ):
            place = self._places.get(row.tobytes())
            if place is not None and np.isnan(self._values[place]):
                self._values[place] = value
        if len(self._values) and not np.isnan(self._values).any():
            self._end_epoch()

    def _end_epoch(self) -> None:
        """Exchange and trim, as the parties of Algorithms 1 and 2 do."""
        values = self._values.copy()
        if self._standardise:
            spread = float(values.std())
            if self._scale is None and spread > rounding_deviation(values):
                self._scale = spread
            values = (values - values.mean()) / (self._scale or 1.0)
        self._parties.exchange(values.reshape(-1, self._protocol.agents).T)
        record = self._parties.server.records[-1]
        self._explained = {
            "epoch": float(record.epoch),
            "largest_deviation": record.largest_deviation,
            "inducing_points": float(record.inducing),
            "region_share": record.share * record.box_share,
        }
        self._asked, self._further = 0, 0
        self._begin()

    def best(self) -> Float:
        """Return the maximiser of the last sparse mean; before the first, that of random search.

        Raises:
            RequestError: nothing was told yet.
        """
        tests = self._parties.server.region.tests
        return tests[-1].maximiser.copy() if tests else shrunk_best(self._data)

    def explain(self) -> dict[str, float]:
        """Return what the last epoch found."""
        return dict(self._explained)

    def state_dict(self) -> dict[str, Any]:
        """Return data, region and the values of this epoch."""
        return {
            "data": self._data.state_dict(),
            "seed": self._protocol.seed,
            "epoch": self._parties.server.epoch,
            "region": self._parties.server.region.state_dict(),
            "values": self._values.copy(),
            "asked": self._asked,
            "further": self._further,
            "scale": self._scale,
            "explained": dict(self._explained),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; the coins give the epoch's points again."""
        self._data.load_state_dict(state["data"])
        self._protocol = replace(self._protocol, seed=int(state["seed"]))
        epoch, region = int(state["epoch"]), state["region"]
        self._parties = LocalParties(self._protocol, epoch=epoch, region=region)
        self._begin()
        self._values = np.array(state["values"], dtype=np.float64)
        asked = int(state["asked"])
        self._asked = min(asked, len(self._points))
        # Earlier states count both together.
        self._further = int(state.get("further", asked - self._asked))
        # Earlier states have 1 before the end of the first epoch, where there is no scale yet.
        self._scale = None if epoch == 1 or state["scale"] is None else float(state["scale"])
        self._explained = dict(state["explained"])
