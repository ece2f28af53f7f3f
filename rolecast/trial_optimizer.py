"""An optimiser asked for the parameters of one trial after the other, as Optuna and Ray Tune do."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rolecast.platform.optimizers.observations import asked_points
from rolecast.platform.optimizers.protocol import KeepsPending, Paced, WaitsForAll
from rolecast.platform.optimizers.registry import make_optimizer, optimizer_config
from rolecast.search_space import Point, SearchSpace, dimension, from_cube, to_cube


class Finished(NamedTuple):
    """A trial that has ended."""

    values: Mapping[str, Any]
    """Its parameters by name."""

    score: float
    """What it gave, finite; greater is better."""


class TrialOptimizer:
    """Optimiser of a search space, with the point that each trial was given.

    A trial is told at the very point that was asked for it, so that it is pending no longer:
    values of a grid or a choice would lead back to another point.
    """

    def __init__(
        self,
        name: str,
        space: SearchSpace,
        *,
        seed: int,
        settings: Mapping[str, Any],
        batch: int = 1,
        random_trials: int = 0,
        trials: int | None = None,
    ) -> None:
        """Build the optimiser.

        Args:
            name: from `rolecast optimizers`.
            space: of the parameters.
            seed: seed of all random choices.
            settings: of the optimiser.
            batch: points that are asked for at once.
            random_trials: trials that are not asked for; of the setting `evaluations`, which counts
                all trials, the optimiser is left those that it is asked for.
            trials: planned, for optimisers with a schedule; None for no plan.
        Raises:
            RequestError: an unknown name or setting, or a value out of range.
        """
        self.space = dict(space)
        own = _asked_evaluations(name, settings, random_trials)
        self._optimizer = make_optimizer(name, dimension=dimension(space), seed=seed, **own)
        self._batch, self._trials = batch, trials
        self._waiting: list[Point] = []
        self._given: dict[Hashable, Point] = {}
        self._dropped: dict[Hashable, Point] = {}
        self._lost: list[Point] = []
        self._lowest: float | None = None
        self._told = 0

    def suggest(self, trial: Hashable) -> dict[str, Any]:
        """Return the values of the parameters for a new trial."""
        if not self._waiting:
            if self._trials is not None and isinstance(self._optimizer, Paced):
                self._optimizer.pace(min(1.0, self._told / self._trials))
            shape = self._batch, dimension(self.space)
            self._waiting = list(asked_points(self._optimizer.ask(self._batch), shape))
        return self.give(trial, self._waiting.pop(0))

    def give(self, trial: Hashable, point: Point) -> dict[str, Any]:
        """Return the values of the parameters at a point [D], which a new trial has."""
        self._given[trial] = point
        return from_cube(point, self.space)

    def tell(self, finished: Mapping[Hashable, Finished]) -> None:
        """Tell trials that have ended, those of others too; their values lie in the space."""
        if not finished:
            return
        points = [self._point(trial, each.values) for trial, each in finished.items()]
        self._tell_points(points, [each.score for each in finished.values()])

    def tell_given(self, trial: Hashable, score: float) -> None:
        """Tell a trial that has ended at the point it was given here; others are not told."""
        point = self._given.pop(trial, self._dropped.pop(trial, None))
        if point is not None:
            self._tell_points([point], [score])

    def drop(self, trial: Hashable) -> None:
        """Count on no score of a trial that was given a point; it may be told nevertheless.

        An optimiser that waits for all is told the lowest score there is, or the first one to come.
        To others the point stays pending, so that they ask elsewhere.
        """
        point = self._given.pop(trial, None)
        if point is None:
            return
        self._dropped[trial] = point
        if isinstance(self._optimizer, WaitsForAll):
            self._lost.append(point)
            self._tell_lost()

    def _tell_points(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        self._optimizer.tell(np.stack(points), np.array(scores))
        self._told += len(points)
        lowest = min(scores)
        self._lowest = lowest if self._lowest is None else min(lowest, self._lowest)
        self._tell_lost()

    def _tell_lost(self) -> None:
        """Tell what has no score the lowest one, once there is any."""
        if self._lost and self._lowest is not None:
            lost, self._lost = self._lost, []
            self._tell_points(lost, [self._lowest] * len(lost))

    def _point(self, trial: Hashable, values: Mapping[str, Any]) -> Point:
        """Return the point of a trial: the one it was given, unless it has other values."""
        given = self._given.pop(trial, None)
        told = to_cube(values, self.space)
        if given is None or not np.allclose(
            to_cube(from_cube(given, self.space), self.space), told
        ):
            return told
        return given

    def forget_pending(self) -> None:
        """Count on no trial that was given a point and not told."""
        self._given, self._dropped, self._lost = {}, {}, []
        if isinstance(self._optimizer, KeepsPending):
            self._optimizer.forget_pending()

    def state_dict(self) -> dict[str, Any]:
        """Return the complete state, as nested arrays and JSON values; names of trials are text."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "waiting": list(self._waiting),
            "given": {str(trial): point for trial, point in self._given.items()},
            "dropped": {str(trial): point for trial, point in self._dropped.items()},
            "lost": list(self._lost),
            "lowest": self._lowest,
            "told": self._told,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state; what follows is what would have followed."""
        self._optimizer.load_state_dict(state["optimizer"])
        self._waiting = list(state["waiting"])
        self._given = dict(state["given"])
        # Earlier states know of no trial without a score.
        self._dropped, self._lost = dict(state.get("dropped", {})), list(state.get("lost", []))
        self._lowest = state.get("lowest")
        self._told = state["told"]


def _asked_evaluations(
    name: str, settings: Mapping[str, Any], random_trials: int
) -> Mapping[str, Any]:
    """Return settings whose `evaluations`, where they are given, are those asked for.

    Raises:
        RequestError: an unknown name or setting, or a value out of range.
    """
    optimizer_config(name, **settings)
    evaluations = settings.get("evaluations")
    if evaluations is None:
        return settings
    return {**settings, "evaluations": max(1, int(evaluations) - random_trials)}
