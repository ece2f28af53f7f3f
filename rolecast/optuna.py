"""Optimisers of rolecast as a sampler of Optuna: `rolecast.optuna.RolecastSampler`.

Needs Optuna (`pip install optuna`). Numbers are mapped to the unit cube, logarithmic ones by their
logarithm; a choice of k values is k numbers, of which the largest wins.
"""

import threading
from collections.abc import Mapping, Sequence
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from rolecast.platform.optimizers.protocol import Optimizer
from rolecast.platform.optimizers.registry import make_optimizer

Point = NDArray[np.float64]
"""[D], in the unit cube."""

SearchSpace = dict[str, BaseDistribution]


class RolecastSampler(BaseSampler):
    """Asks an optimiser of rolecast for the parameters that all trials of a study share.

    Its memory is the study: a sampler of the same seed that meets a study again is told all of its
    finished trials. Parameters that only some trials have are drawn at random. A trial that was
    pruned, failed or gave no finite value is not told. A local search may stay in the worse of
    several choices; more `random_trials` make that rarer.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=RolecastSampler("local_gp", seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -5, 5) - 2) ** 2, n_trials=30)
    >>> study.best_value < 0.1
    True
    """

    def __init__(
        self,
        optimizer: str = "local_gp",
        *,
        seed: int = 0,
        batch: int = 1,
        random_trials: int = 10,
        **settings: Any,
    ) -> None:
        """Choose an optimiser.

        Args:
            optimizer: from `rolecast optimizers`.
            seed: seed of all random choices.
            batch: candidates that are asked for at once; with `n_jobs` workers, so many.
            random_trials: at first, drawn at random, so that a choice is seen from all sides.
            settings: of the optimiser; say `evaluations` where the number of trials is known.
        """
        self._name, self._seed, self._batch = optimizer, seed, batch
        self._random_trials, self._settings = random_trials, settings
        self._random = RandomSampler(seed=seed)
        self._shared = IntersectionSearchSpace()
        self._lock = threading.Lock()
        self._forget({})

    def _forget(self, space: SearchSpace) -> None:
        """Begin anew on a search space."""
        self._space = space
        self._optimizer: Optimizer | None = None
        self._told: set[int] = set()
        self._waiting: list[Point] = []

    def reseed_rng(self) -> None:
        """Draw other parameters at random from now on; the optimiser keeps its seed."""
        self._random.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> SearchSpace:
        """Return the parameters that all finished trials share; none while those are too few."""
        shared = self._shared.calculate(study)
        if len(_finished(study)) < self._random_trials:
            return {}
        return {name: found for name, found in shared.items() if not found.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: SearchSpace
    ) -> dict[str, Any]:
        """Return values of the shared parameters.

        Raises:
            ValueError: the study has several objectives.
        """
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            if search_space != self._space:
                self._forget(dict(search_space))
            optimizer = self._told_optimizer(study)
            if not self._waiting:
                self._waiting = list(optimizer.ask(self._batch))
            return from_cube(self._waiting.pop(0), self._space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a random value of a parameter that not all trials have.

        Raises:
            ValueError: the study has several objectives.
        """
        self._raise_error_if_multi_objective(study)
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def _told_optimizer(self, study: Study) -> Optimizer:
        """Return the optimiser, told all finished trials."""
        if self._optimizer is None:
            dimension = sum(map(width, self._space.values()))
            self._optimizer = make_optimizer(
                self._name, dimension=dimension, seed=self._seed, **self._settings
            )
        new = [each for each in _finished(study) if self._tells(each)]
        if new:
            sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
            points = np.stack([to_cube(each.params, self._space) for each in new])
            values = np.array([sign * float(each.values[0]) for each in new])
            self._optimizer.tell(points, values)
            self._told |= {each.number for each in new}
        return self._optimizer

    def _tells(self, trial: FrozenTrial) -> bool:
        """Tell whether a finished trial is news, and lies in the search space."""
        if trial.number in self._told or not isfinite(trial.values[0]):
            return False
        return all(
            name in trial.params and _inside(trial.params[name], found)
            for name, found in self._space.items()
        )


def _finished(study: Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def _inside(value: Any, found: BaseDistribution) -> bool:
    """Tell whether a value lies in the range that a parameter has now."""
    if isinstance(found, CategoricalDistribution):
        return value in found.choices
    assert isinstance(found, FloatDistribution | IntDistribution), "Optuna has no fourth kind"
    return bool(found.low <= value <= found.high)


def width(found: BaseDistribution) -> int:
    """Return how many numbers of the cube one parameter takes."""
    return len(found.choices) if isinstance(found, CategoricalDistribution) else 1


def to_cube(values: Mapping[str, Any], space: Mapping[str, BaseDistribution]) -> Point:
    """Return the point of the cube whose parameters have these values."""
    parts: list[Sequence[float]] = []
    for name, found in space.items():
        if isinstance(found, CategoricalDistribution):
            chosen = int(found.to_internal_repr(values[name]))
            parts.append([float(place == chosen) for place in range(len(found.choices))])
        else:
            low, high = _ends(found)
            value = _scaled(float(values[name]), found)
            parts.append([min(1.0, max(0.0, (value - low) / (high - low)))])
    return np.concatenate(parts)


def from_cube(point: Point, space: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    """Return the values of the parameters at a point [D] of the cube."""
    values: dict[str, Any] = {}
    start = 0
    for name, found in space.items():
        numbers = point[start : start + width(found)]
        start += len(numbers)
        if isinstance(found, CategoricalDistribution):
            values[name] = found.choices[int(np.argmax(numbers))]
        else:
            values[name] = _number(float(numbers[0]), found)
    return values


def _number(share: float, found: BaseDistribution) -> float | int:
    """Return the value at a share of a parameter's range, on its grid."""
    assert isinstance(found, FloatDistribution | IntDistribution), "Optuna has no fourth kind"
    low, high = _ends(found)
    value = low + share * (high - low)
    value = float(np.exp(value)) if found.log else value
    if found.step is not None and not found.log:
        value = found.low + round((value - found.low) / found.step) * found.step
    value = min(max(value, found.low), found.high)
    return round(value) if isinstance(found, IntDistribution) else float(value)


def _ends(found: BaseDistribution) -> tuple[float, float]:
    """Return the ends of a range; half a step beyond, so that all values are equally wide."""
    assert isinstance(found, FloatDistribution | IntDistribution), "Optuna has no fourth kind"
    half = 0.5 * (found.step or 0.0)
    if found.log:
        return log(found.low - half), log(found.high + half)
    return found.low - half, found.high + half


def _scaled(value: float, found: BaseDistribution) -> float:
    assert isinstance(found, FloatDistribution | IntDistribution), "Optuna has no fourth kind"
    return log(value) if found.log else value
