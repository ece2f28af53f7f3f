"""Local search: a Gaussian process in a trust region, whose centre climbs the posterior mean.

After a batch, which may be told in parts, the process is fitted to the latest evaluations. The
centre then moves uphill, by at most `step` radii, before what accepted symmetries take off the
radius. Each `ask` draws a new cloud of candidates round the centre. With structure, the kernel is
(1 - s) k_common + s k_cliques. Evidence chooses the share s; s = 0 is the plain search.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rolecast.core.errors import RequestError
from rolecast.core.types import Float
from rolecast.platform.optimizers.local_gp.acquisition import (
    greatest_bounds,
    greatest_draws,
    greatest_improvements,
    root_beta,
)
from rolecast.platform.optimizers.local_gp.batch import Batch
from rolecast.platform.optimizers.local_gp.climb import climb
from rolecast.platform.optimizers.local_gp.constants import SEARCH_CONSTANTS
from rolecast.platform.optimizers.local_gp.model import LocalGp
from rolecast.platform.optimizers.local_gp.noise import NoiseRule
from rolecast.platform.optimizers.local_gp.pending import PendingPairs
from rolecast.platform.optimizers.local_gp.prediction import PredictionRule
from rolecast.platform.optimizers.local_gp.restart import StartRule
from rolecast.platform.optimizers.local_gp.settings import LocalGpSettings
from rolecast.platform.optimizers.local_gp.trust_region import TrustRegion
from rolecast.platform.optimizers.observations import (
    Observations,
    generator_state,
    in_pairs,
    pair_rows,
    require_batch,
    restored_generator,
)
from rolecast.platform.optimizers.random import shrunk_best


class LocalSearch:
    """Local Gaussian-process search of the unit cube; see the module."""

    def __init__(self, config: LocalGpSettings, *, dimension: int, seed: int) -> None:
        self._config, self._dimension = config, dimension
        self._defaults = config.search_defaults(dimension)
        self._rng = np.random.default_rng(seed)
        planned = config.evaluations or SEARCH_CONSTANTS.schedule_evaluations
        self._trust_region = TrustRegion(self._defaults, evaluations=planned, dimension=dimension)
        self._start = StartRule(np.full(dimension, 0.5), enabled=self._defaults.restart_at_centre)
        self._first_batch, self._tells, self._total, self._asked = 0, 0, 0, 0
        self._episode_rows = np.zeros(0, dtype=np.int64)
        self._batch, self._pending = Batch(dimension), PendingPairs(dimension)
        self._begin()

    def _begin(self) -> None:
        """Start at the centre of the cube, without evaluations."""
        dimension = self._dimension
        self._data = Observations(dimension)
        self._process = LocalGp(self._config, self._defaults, dimension=dimension)
        self._noise = NoiseRule(self._defaults.signal_to_noise)
        self._prediction = PredictionRule(self._config)
        self._centre = np.full(dimension, 0.5)
        self._path = np.empty((0, dimension))
        self._groups = np.zeros(0, dtype=np.int64)
        self._incumbent: tuple[float, float] | None = None

    @property
    def radius(self) -> float:
        """Current radius: root mean square distance of the cloud from its centre."""
        self._learn()
        return self._wide_radius * self._prediction.width(self._process.metric.free_share)

    @property
    def _wide_radius(self) -> float:
        """Radius without what accepted symmetries allow to take off it; it bounds moves."""
        return self._start.width * self._noise.width * self._trust_region.radius(self._total)

    def episodes(self, planned: int) -> int:
        """Return the episodes of each candidate asked for next, from 1 to `planned`."""
        self._learn()
        return self._noise.episodes(planned)

    @property
    def _averaged(self) -> int:
        """Number of latest centres averaged into the incumbent; it grows with the batches told."""
        return max(1, round(self._config.averaged * self._tells))

    def pace(self, spent: float) -> None:
        """Set the share of the budget spent."""
        self._learn()
        self._trust_region.pace(spent)
        self._batch.pace(spent)

    def ask(self, q: int) -> Float:
        """Return q points of the cloud [q, D].

        Raises:
            ConfigError: the device of the settings does not exist here.
        """
        _ = self._process.device  # a missing device fails before any evaluation
        count = require_batch(q)
        self._learn()
        self._batch = Batch(self._dimension)
        self._first_batch = self._first_batch or count
        cloud, mirrored = self._config.acquisition == "cloud", self._mirrored
        self._episode_rows = pair_rows(count) if mirrored else np.arange(count)
        drawn = self._drawn(count, mirrored=mirrored) if cloud else self._chosen(count)
        asked = self._start.with_start(drawn)
        self._pending.add(asked, self._asked + self._episode_rows)
        self._asked += count
        return asked

    def forget_pending(self) -> None:
        """Forget candidates that will not be told; the start is asked for again if it is one."""
        self._learn()
        self._batch = Batch(self._dimension)
        self._pending.forget()
        self._start.forget_pending()

    def episode_rows(self) -> NDArray[np.int64]:
        """Return the row [q] of the last `ask` whose episodes each candidate meets."""
        return self._episode_rows

    def _drawn(self, count: int, *, mirrored: bool = False) -> Float:
        """Return `count` normal draws round the centre, folded at the faces of the cube.

        Args:
            count: q.
            mirrored: rows 2i and 2i + 1 are a draw and its mirror image in the centre.
        """
        rows = (count + 1) // 2 if mirrored else count
        noise = self._rng.standard_normal((rows, self._dimension))
        noise = self._process.metric.shaped(noise, self.radius)
        if mirrored:
            noise = in_pairs(noise, -noise, count)
        # Points beyond a face are mirrored at it: clipped ones could fall on one another.
        folded = np.mod(self._centre + noise, 2.0)
        return np.asarray(np.where(folded > 1.0, 2.0 - folded, folded))

    def _chosen(self, q: int) -> Float:
        """Return the q points [q, D] of a larger cloud chosen by the acquisition function."""
        config = self._config
        posterior = self._process.current(self._data, self._groups)
        if posterior is None:
            return self._drawn(q)
        cloud = self._drawn(q * config.choices)
        seen = self._process.metric.seen
        if config.acquisition == "thompson":
            return cloud[greatest_draws(posterior, seen(cloud), q, rng=self._rng)]
        pool = np.concatenate([self._pending.points, cloud])
        if config.acquisition == "log_ei":
            choose = greatest_improvements
        else:
            weight = root_beta(config.beta, self._process.order, len(self._data))
            choose = partial(greatest_bounds, root_beta=weight)
        places = choose(
            posterior, seen(pool), q, pending=len(self._pending), noise=self._process.noise
        )
        return pool[places]

    def tell(self, candidates: Float, returns: Float, stderrs: Float | None = None) -> None:
        """Add evaluations to the batch; the search learns from it once a result is wanted."""
        batch, waiting = self._batch, len(self._pending)
        batch.evaluations.add(candidates, returns, stderrs)
        if batch.before is None:
            batch.before = self._position() | {"tells": self._tells, "radius": self.radius}
        told = self._pending.take(candidates)
        batch.pairs = np.concatenate([batch.pairs, told])
        # What was known before the search of a black box is none of its budget.
        self._total += waiting - len(self._pending) if self._black_box else len(told)

    def _learn(self) -> None:
        """Refit the process and move the centre by the whole batch, unless that is done."""
        batch = self._batch
        if batch.before is None or batch.learned == len(batch):
            return
        if batch.learned:
            self._return_to(batch.before)
        batch.learned, before, told = len(batch), batch.before, batch.evaluations
        known, centre = len(self._data), self._centre
        follows = self._follows and len(batch) > 1
        prior = self._process.current(self._data, self._groups) if follows else None
        self._data.add(told.candidates, told.returns, told.stderrs)
        self._groups = np.concatenate([self._groups, batch.groups(known)])
        self._tells += 1
        if prior is not None:
            self._prediction.update(prior, self._process.metric, self._data, self._groups, known)
        if len(self._data) >= self._first_move or self._ends_early:
            self._move()
        self._noise.update_by_cloud(told, centre, before["radius"])
        spent = self._trust_region.spent(self._total)
        if self._start.should_restart(told.candidates, told.returns, spent):
            before["data"] = self._data.state_dict()
            self._restart()

    def _return_to(self, before: Mapping[str, Any]) -> None:
        """Return to the position before the batch, from the evaluations before it."""
        self._load_position(before)
        self._tells = int(before["tells"])
        if "data" in before:  # the batch had caused a restart
            self._data.load_state_dict(before["data"])
        self._data.drop(len(self._groups))

    def best(self) -> Float:
        """Return the average of the latest centres, which removes their random walk.

        Evaluated points are not considered, as their own noise would bias the choice, but in a
        search of a black box whose centre has not moved yet.
        """
        self._learn()
        if not len(self._data):
            raise RequestError("best() needs at least one evaluation; none was told yet")
        if not len(self._path):
            return shrunk_best(self._data) if self._black_box else self._centre.copy()
        return np.asarray(self._path[-self._averaged :].mean(0))

    def explain(self) -> dict[str, float]:
        """Return radius, noise, structure, and the posterior return at the centre."""
        found = {"cloud_radius": self.radius} | self._process.explain() | self._noise.explain()
        found |= self._start.explain()
        if self._follows:
            found |= self._prediction.explain()
        if self._incumbent is not None:
            found["incumbent_mean"], found["incumbent_stderr"] = self._incumbent
        return found

    def state_dict(self) -> dict[str, Any]:
        """Return data, generator, pending candidates, the batch and the position."""
        self._learn()
        return {
            "data": self._data.state_dict(),
            "rng": generator_state(self._rng),
            "counts": [self._first_batch, self._tells, self._total, self._asked],
            "batch": self._batch.state_dict(),
            **self._pending.state_dict(),
            **self._position(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._data.load_state_dict(state["data"])
        self._rng = restored_generator(state["rng"])
        self._first_batch, self._tells, self._total, self._asked = map(int, state["counts"])
        self._batch = Batch(self._dimension)
        if "batch" in state:  # earlier states have none
            self._batch.load_state_dict(state["batch"])
        self._pending.load_state_dict(state)
        self._load_position(state)

    def _position(self) -> dict[str, Any]:
        """Return what a batch changes, but for the evaluations and their counts."""
        return {
            "centre": self._centre.copy(),
            "path": self._path.copy(),
            "groups": self._groups.copy(),
            "process": self._process.state_dict(),
            "cloud": self._trust_region.state_dict(),
            "incumbent": None if self._incumbent is None else list(self._incumbent),
            "noise": self._noise.state_dict(),
            "start": self._start.state_dict(),
            "prediction": self._prediction.state_dict(),
        }

    def _load_position(self, state: Mapping[str, Any]) -> None:
        """Continue from a position."""
        for name in ("centre", "path"):
            setattr(self, f"_{name}", np.array(state[name], dtype=np.float64))
        self._groups = np.array(state["groups"], dtype=np.int64)
        self._process.load_state_dict(state["process"])
        self._trust_region.load_state_dict(state["cloud"])
        believed = state["incumbent"]
        self._incumbent = None if believed is None else (float(believed[0]), float(believed[1]))
        self._noise.load_state_dict(state["noise"])
        self._start.load_state_dict(state["start"])
        if "prediction" in state:  # earlier states have none
            self._prediction.load_state_dict(state["prediction"])

    def _restart(self) -> None:
        """Start again, keeping only the evaluations of the start itself."""
        data, kept = self._data, self._start.among(self._data.candidates)
        self._begin()
        self._data.add(data.candidates[kept], data.returns[kept], data.stderrs[kept])
        self._groups = np.arange(len(self._data))

    @property
    def _mirrored(self) -> bool:
        """Whether candidates are mirrored pairs."""
        return self._config.acquisition == "cloud" and self._defaults.mirrored_pairs

    @property
    def _follows(self) -> bool:
        """Whether the radius follows predictions of pairs."""
        return self._mirrored and self._process.metric.knows_symmetries

    @property
    def _black_box(self) -> bool:
        """Whether nothing is known of what the coordinates mean."""
        return self._config.groups is None

    @property
    def _first_move(self) -> int:
        """Evaluations from which on the centre moves."""
        whole = 2 * self._first_batch or SEARCH_CONSTANTS.first_move_evaluations
        return min(whole, SEARCH_CONSTANTS.first_move_evaluations) if self._black_box else whole

    @property
    def _ends_early(self) -> bool:
        """Whether two batches were all of the budget, the second a smaller one."""
        spent = self._trust_region.spent(self._total)
        return (
            not self._black_box and self._tells == 2 and spent >= SEARCH_CONSTANTS.last_batch_share
        )

    def _move(self) -> None:
        """Condition the process on the latest evaluations, and move the centre."""
        posterior = self._process.condition(self._data, self._groups, self.radius, self._tells)
        metric = self._process.metric
        limit = self._defaults.step * self._wide_radius
        before = self._centre
        move = climb(posterior, before, limit, metric)
        self._centre = metric.symmetric_part(np.clip(before + move, 0.0, 1.0))
        mean, deviation = posterior.mean_and_deviation(metric.seen(self._centre)[None])
        bounds = mean + np.array([-1.0, 0.0, 1.0]) * deviation
        low, middle, high = self._process.returns(bounds, self._data)
        self._incumbent = float(middle), 0.5 * float(high - low)
        self._path = np.concatenate([self._path[-self._averaged :], self._centre[None]])
        self._trust_region.update((self._centre - before) / limit)
