"""Optimisers of rolecast as a search algorithm of Ray Tune: `rolecast.tune_searcher`.

For any trainable. (A search of a policy is `rolecast.search`, a comparison `rolecast.compare`.)
"""

from collections.abc import Mapping
from math import ceil, floor, isfinite
from pathlib import Path
from typing import Any, Final, TypeGuard
from uuid import uuid4

import numpy as np
from ray.tune.search import Searcher
from ray.tune.search.sample import (
    Categorical,
    Domain,
    Float,
    Integer,
    LogUniform,
    Quantized,
    Uniform,
)
from ray.tune.search.variant_generator import parse_spec_vars
from ray.tune.utils import flatten_dict

from rolecast.core.encoding import from_bytes, to_bytes
from rolecast.core.errors import ConfigError, RequestError
from rolecast.core.files import write_bytes
from rolecast.core.validation import LARGEST_RETURN
from rolecast.search_space import Choice, Range, SearchSpace, dimension, holds
from rolecast.trial_optimizer import Finished, TrialOptimizer

_STATE_SCHEMA: Final = 1
"""Version of what `save` writes."""


class RolecastSearcher(Searcher):
    """Asks an optimiser of rolecast for the parameters of Tune's trials.

    >>> from ray import tune
    >>> searcher = RolecastSearcher("local_gp", seed=0)
    >>> searcher.set_search_properties("loss", "min", {"x": tune.uniform(-1, 1), "depth": 3})
    True
    >>> sorted(searcher.suggest("first"))
    ['x']
    """

    def __init__(
        self,
        optimizer: str = "local_gp",
        *,
        metric: str | None = None,
        mode: str | None = None,
        seed: int = 0,
        random_trials: int = 10,
        **settings: Any,
    ) -> None:
        """Choose an optimiser.

        Args:
            optimizer: from `rolecast optimizers`.
            metric: key of a trial's results; that of `TuneConfig` if not given.
            mode: "min" or "max"; that of `TuneConfig` if not given.
            seed: seed of all random choices.
            random_trials: at first, drawn at random, so that a choice is seen from all sides.
            settings: of the optimiser; `evaluations` counts random trials too.
        """
        super().__init__(metric=metric, mode=mode)
        self._name, self._seed, self._settings = optimizer, seed, settings
        self._random_trials = random_trials
        self._suggested = 0
        self._trials: TrialOptimizer | None = None
        self._planned: int | None = None

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any
    ) -> bool:
        """Take metric, mode and search space from Tune; False where they were taken before.

        Raises:
            RequestError: a parameter has a distribution that is no range and no choice, or the
                optimiser or a setting does not exist.
        """
        if self._trials is not None:
            return False
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if self._metric is None or self._mode not in {"min", "max"}:
            raise ConfigError("metric, mode", (self._metric, self._mode), "a key, and min or max")
        planned = spec.get("num_samples", -1)
        self._begin(space_of(config), planned if planned > 0 else None)
        return True

    def _begin(self, space: SearchSpace, planned: int | None) -> None:
        self._planned = planned
        self._trials = TrialOptimizer(
            self._name,
            space,
            seed=self._seed,
            settings=self._settings,
            random_trials=self._random_trials,
            trials=planned,
        )

    def suggest(self, trial_id: str) -> dict[str, Any]:
        """Return the parameters of a new trial, nested as in the search space."""
        trials = self._known()
        number, self._suggested = self._suggested, self._suggested + 1
        if number < self._random_trials:
            draws = np.random.default_rng([self._seed, number]).random(dimension(trials.space))
            return _nested(trials.give(trial_id, draws))
        return _nested(trials.suggest(trial_id))

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tell a trial's last result; one that failed, or has no finite one, is not told.

        Tune may run a trial that failed again; it then has the point that it was given first.
        """
        value = None if error or result is None else flatten_dict(result).get(self._metric)
        if is_score(value):
            self._known().tell_given(trial_id, self._score(value))
        else:
            self._known().drop(trial_id)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Tell what a trial elsewhere gave; one that failed or was stopped early is not told.

        Raises:
            RequestError: the search space is not known yet, or does not hold the parameters.
        """
        trials = self._known()
        values = {name: _at(parameters, name) for name in trials.space}
        if not holds(trials.space, values):
            raise ConfigError("parameters", parameters, f"values of {sorted(trials.space)}")
        if not (error or pruned) and is_score(value):
            trials.tell({uuid4().hex: Finished(values, self._score(value))})

    def save(self, checkpoint_path: str) -> None:
        """Write the complete state as arrays and JSON, never as a pickle."""
        trials = self._known()
        state = {
            "schema": _STATE_SCHEMA,
            "goal": [self._metric, self._mode],
            "planned": self._planned,
            "space": _as_data(trials.space),
            "suggested": self._suggested,
            "trials": trials.state_dict(),
        }
        write_bytes(Path(checkpoint_path), to_bytes(state))

    def restore(self, checkpoint_path: str) -> None:
        """Continue exactly as the searcher that wrote a file; Tune calls it on `Tuner.restore`.

        Raises:
            RequestError: the file is no such state; or a choice has values that are no data, such
                as classes, and `Tuner.restore` was given no `param_space`.
        """
        try:
            state = from_bytes(Path(checkpoint_path).read_bytes())
        except ValueError as error:
            raise RequestError(f"{checkpoint_path}: {error}") from error
        if state.get("schema") != _STATE_SCHEMA:
            raise ConfigError("schema", state.get("schema"), str(_STATE_SCHEMA))
        if self._trials is None and state["space"] is not None:
            self._metric, self._mode = state["goal"]
            self._begin(_from_data(state["space"]), state["planned"])
        self._suggested = state["suggested"]
        self._known().load_state_dict(state["trials"])

    def _known(self) -> TrialOptimizer:
        if self._trials is None:
            raise RequestError(
                "the searcher knows no search space; expected a Tuner with param_space"
            )
        return self._trials

    def _score(self, value: float) -> float:
        return float(value) if self._mode == "max" else -float(value)


def is_score(value: object) -> TypeGuard[float]:
    """Tell whether a trial's result is a number that an optimiser takes."""
    try:
        return not isinstance(value, str | bool) and abs(float(value)) <= LARGEST_RETURN  # type: ignore[arg-type]  # tried
    except (TypeError, ValueError, OverflowError):
        return False


def _as_data(space: SearchSpace) -> dict[str, Any] | None:
    """Return a search space as data; None where a choice has values that are none."""
    kept = {name: vars(found) for name, found in space.items()}
    try:
        to_bytes(kept)
    except TypeError:
        return None
    return kept


def _from_data(kept: Mapping[str, Any]) -> SearchSpace:
    return {
        name: Choice(**found) if "values" in found else Range(**found)
        for name, found in kept.items()
    }


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by path as nested mappings."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *outer, last = name.split("/")
        place = nested
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = value
    return nested


def space_of(config: Mapping[str, Any]) -> dict[str, Range | Choice]:
    """Return the search space in a `param_space` of Tune; names are paths, such as "net/width".

    Raises:
        RequestError: a parameter has a distribution that is no range and no choice.
    """
    return {"/".join(path): _parameter(path, found) for path, found in _domains(config).items()}


def _domains(config: Mapping[str, Any]) -> dict[tuple[str, ...], Domain]:
    """Return what is to be chosen, by its path in nested mappings."""
    _, domains, grids = parse_spec_vars(dict(config))
    if grids:
        raise RequestError(f"{_path(grids[0][0])} is a grid search; expected tune.choice(...)")
    for path, _ in domains:
        if not all(isinstance(key, str) and "/" not in key for key in path):
            raise RequestError(
                f"{_path(path)} is in a list or has / in its name; expected names in mappings"
            )
    if not domains:
        raise RequestError("param_space has nothing to choose; expected such as tune.uniform(0, 1)")
    return dict(sorted(domains))


def _path(keys: tuple[Any, ...]) -> str:
    return "param_space " + "/".join(map(str, keys))


def _at(parameters: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path in nested mappings; None where there is none."""
    found: Any = parameters
    for key in path.split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _parameter(path: tuple[str, ...], domain: Domain) -> Range | Choice:
    """Return a parameter of the search space with the distribution of a domain of Tune."""
    sampler: Any = domain.get_sampler()  # type: ignore[no-untyped-call]
    step = None
    if isinstance(sampler, Quantized):
        sampler, step = sampler.sampler, sampler.q
    if isinstance(domain, Categorical) and isinstance(sampler, Uniform):
        return Choice(tuple(domain.categories))
    bounds: Any = domain
    numeric = isinstance(domain, Float | Integer) and isinstance(sampler, Uniform | LogUniform)
    if not numeric or not (isfinite(bounds.lower) and isfinite(bounds.upper)):
        raise RequestError(f"{_path(path)} is {domain}; expected a range with bounds, or a choice")
    low, high = bounds.lower, bounds.upper
    whole = isinstance(domain, Integer)
    if step is not None:  # Tune rounds to multiples of it; bounds are included
        low, high = ceil(round(low / step, 9)) * step, floor(round(high / step, 9)) * step
    elif whole:
        step, high = 1, high - 1
    logarithmic = isinstance(sampler, LogUniform)
    return Range(low=low, high=high, log=logarithmic, step=step, whole=whole)
