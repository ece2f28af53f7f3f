"""Optimisers of rolecast as a sampler of Optuna: `rolecast.optuna.RolecastSampler`.

Needs Optuna (`pip install optuna`). What its distributions are in the unit cube says
`rolecast.search_space`.
"""

import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np
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

from rolecast.core.validation import COUNT_OR_ZERO, LARGEST_RETURN, POSITIVE_INTEGER, check, plain
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.search_space import Choice, Range, holds
from rolecast.trial_optimizer import Finished, TrialOptimizer

ASKED_KEY: Final = "rolecast:asked"
"""In the system attributes of a trial: by whom, and in which search space, it was asked for."""

Distributions = dict[str, BaseDistribution]


class RolecastSampler(BaseSampler):
    """Asks an optimiser of rolecast for the parameters that all trials of a study share.

    Its memory is the study: a sampler of the same name and seed that meets a study again asks and
    is told as the one before it, and goes on. So trials may run in processes of their own.
    Parameters that only some trials have are drawn at random. A trial that was pruned, failed or
    gave no finite value is not told. A local search may stay in the worse of several choices; more
    `random_trials` make that rarer.

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
            settings: of the optimiser; say `evaluations` where the number of trials is known,
                random ones included.

        Raises:
            RequestError: an unknown name or setting, or a value out of range.
        """
        seed, batch, random_trials = plain((seed, batch, random_trials))
        rules = {"batch": POSITIVE_INTEGER, "random_trials": COUNT_OR_ZERO, "seed": COUNT_OR_ZERO}
        given = {"batch": batch, "random_trials": random_trials, "seed": seed}
        check("RolecastSampler", given, rules)
        optimizer_config(optimizer, **settings)
        self._name, self._seed, self._batch = optimizer, seed, batch
        self._random_trials, self._settings = random_trials, settings
        self._shared = IntersectionSearchSpace()
        self._lock = threading.Lock()
        self._forget({})

    def _forget(self, space: Distributions) -> None:
        """Begin anew on a search space."""
        self._space = space
        self._optimizer: TrialOptimizer | None = None
        self._told: set[int] = set()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what the study knows."""
        return {name: value for name, value in vars(self).items() if name != "_lock"} | {
            "_space": {},
            "_optimizer": None,
            "_told": set(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        """Return the parameters that all finished trials share; none while those are too few."""
        shared = self._shared.calculate(study)
        if len(_finished(study)) < self._random_trials:
            return {}
        return {name: found for name, found in shared.items() if not found.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Distributions
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
            asked = self._told_optimizer(study, trial.number).suggest(trial.number)
            mark = self._mark()
        note = study._storage.set_trial_system_attr  # noqa: SLF001 - as Optuna's own samplers do
        note(trial._trial_id, ASKED_KEY, mark)  # noqa: SLF001
        return asked

    def _mark(self) -> int:
        """Return what tells trials that were asked for here, and in this search space, apart."""
        space = sorted((name, str(found)) for name, found in self._space.items())
        return crc32(repr((self._name, self._seed, space)).encode())

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Return a random value of a parameter that not all trials have.

        It depends on seed, trial and name alone, whichever process draws it.

        Raises:
            ValueError: the study has several objectives.
        """
        self._raise_error_if_multi_objective(study)
        words = self._seed, trial.number, crc32(param_name.encode())
        drawn = RandomSampler(seed=int(np.random.SeedSequence(words).generate_state(1)[0]))
        return drawn.sample_independent(study, trial, param_name, param_distribution)

    def _told_optimizer(self, study: Study, number: int) -> TrialOptimizer:
        """Return the optimiser, told all finished trials, for the trial of a number."""
        if self._optimizer is None:
            self._optimizer = TrialOptimizer(
                self._name,
                space_of(self._space),
                seed=self._seed,
                settings=self._settings,
                batch=self._batch,
                random_trials=self._random_trials,
            )
            self._repeat(study, number, self._optimizer)
        self._tell(study, _ended(study), self._optimizer)
        return self._optimizer

    def _repeat(self, study: Study, number: int, optimizer: TrialOptimizer) -> None:
        """Ask and tell what was asked and told for the trials before that of a number."""
        before = [each for each in study.get_trials(deepcopy=False) if each.number < number]
        ended, strayed, mark = list[FrozenTrial](), False, self._mark()
        for each in sorted(before, key=lambda trial: trial.number):
            if each.system_attrs.get(ASKED_KEY) == mark:
                self._tell(study, ended, optimizer)
                free = each.params.keys() - each.system_attrs.get("fixed_params", {})
                asked = optimizer.suggest(each.number)
                strayed |= any(asked[name] != each.params[name] for name in free & asked.keys())
            if each.state.is_finished():
                ended.append(each)
        self._tell(study, ended, optimizer)
        if strayed:  # several trials at once
            optimizer.forget_pending()

    def _tell(self, study: Study, ended: Sequence[FrozenTrial], optimizer: TrialOptimizer) -> None:
        """Tell trials that have not been told; without a value to tell, they are dropped."""
        news = sorted(
            (each for each in ended if each.number not in self._told), key=lambda t: t.number
        )
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        told: dict[Hashable, Finished] = {
            each.number: Finished(each.params, sign * each.values[0])
            for each in news
            if each.state == TrialState.COMPLETE
            and abs(each.values[0]) <= LARGEST_RETURN
            and holds(optimizer.space, each.params)
        }
        optimizer.tell(told)
        for each in news:
            self._told.add(each.number)
            if each.number not in told:
                optimizer.drop(each.number)


def _finished(study: Study) -> list[FrozenTrial]:
    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def _ended(study: Study) -> list[FrozenTrial]:
    return [each for each in study.get_trials(deepcopy=False) if each.state.is_finished()]


def space_of(distributions: Mapping[str, BaseDistribution]) -> dict[str, Range | Choice]:
    """Return the search space that distributions of Optuna describe."""
    return {name: _parameter(found) for name, found in distributions.items()}


def _parameter(found: BaseDistribution) -> Range | Choice:
    if isinstance(found, CategoricalDistribution):
        return Choice(tuple(found.choices))
    assert isinstance(found, FloatDistribution | IntDistribution), "Optuna has no fourth kind"
    whole = isinstance(found, IntDistribution)
    return Range(low=found.low, high=found.high, log=found.log, step=found.step, whole=whole)
