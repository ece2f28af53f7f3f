"""An optimiser asked for the parameters of one trial after the other, as Optuna and Ray Tune do."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rolecast.platform.optimizers.observations import asked_points
from rolecast.platform.optimizers.protocol import KeepsPending, Paced
from rolecast.platform.optimizers.registry import make_optimizer, optimizer_config
from rolecast.search_space import Point, SearchSpace, dimension, from_cube, to_cube


class Finished(NamedTuple):
    """A trial that has ended."""

    values: Mapping[str, Any]
    """Its parameters by name."""

    score: float
    """What it gave, finite; greater is better."""


class TrialOptimizer:
    """Optimiser of a search space; it knows which of its points each trial was given.

    A trial is told at the very point that was asked for it, by which the optimiser knows that it is
    pending no longer: values of a grid or a choice would lead back to another point.
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
        self._awaited: set[Hashable] | None = None
        self._told = 0

    def suggest(self, trial: Hashable) -> dict[str, Any]:
        """Return the values of the parameters for a new trial."""
        if not self._waiting:
            if self._trials is not None and isinstance(self._optimizer, Paced):
                self._optimizer.pace(min(1.0, self._told / self._trials))
            self._waiting = self._asked()
        return self.give(trial, self._waiting.pop(0))

    def _asked(self) -> list[Point]:
        """Return new points; those of dropped trials are forgotten before, once that is due."""
        if self._awaited is not None and not self._awaited & self._given.keys():
            self._awaited = None
            if isinstance(self._optimizer, KeepsPending):
                self._optimizer.forget_pending()
        shape = self._batch, dimension(self.space)
        # One that has forgotten what is pending may ask again for points of trials that run.
        running = {point.tobytes() for point in self._given.values() if self._dropped}
        for _ in range(1 + len(running)):
            asked = asked_points(self._optimizer.ask(self._batch), shape)
            fresh = [point for point in asked if point.tobytes() not in running]
            if fresh:
                return fresh
        return list(asked)

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

        What is pending is forgotten once the trials that run now have ended, and at the next ask.
        """
        point = self._given.pop(trial, None)
        if point is not None:
            self._dropped[trial] = point
            self._awaited = set(self._given)

    def _tell_points(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        self._optimizer.tell(np.stack(points), np.array(scores))
        self._told += len(points)

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
        self._given, self._dropped, self._awaited = {}, {}, None
        if isinstance(self._optimizer, KeepsPending):
            self._optimizer.forget_pending()

    def state_dict(self) -> dict[str, Any]:
        """Return the complete state, as nested arrays and JSON values; names of trials are text."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "waiting": list(self._waiting),
            "given": {str(trial): point for trial, point in self._given.items()},
            "dropped": {str(trial): point for trial, point in self._dropped.items()},
            "awaited": None if self._awaited is None else sorted(map(str, self._awaited)),
            "told": self._told,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore a state; what follows is what would have followed."""
        self._optimizer.load_state_dict(state["optimizer"])
        self._waiting = list(state["waiting"])
        self._given = dict(state["given"])
        self._dropped = dict(state.get("dropped", {}))  # earlier states have none
        awaited = state.get("awaited")
        self._awaited = None if awaited is None else set(awaited)
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
