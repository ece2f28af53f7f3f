"""Spaces of named parameters, and their optimiser, which Optuna's and Tune's adapters share."""

import numpy as np
import pytest

from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.search_space import (
    Choice,
    Range,
    SearchSpace,
    dimension,
    from_cube,
    holds,
    to_cube,
)
from rolecast.trial_optimizer import Finished, TrialOptimizer

TRIAL_SPACE: SearchSpace = {
    "rate": Range(low=1e-5, high=1.0, log=True),
    "momentum": Range(low=0.0, high=1.0, step=0.25),
    "x": Range(low=-5.0, high=5.0),
    "layers": Range(low=1, high=8, step=1, whole=True),
    "even": Range(low=4, high=8, step=4, whole=True),
    "units": Range(low=8, high=512, log=True, step=1, whole=True),
    "activation": Choice(("tanh", "relu", None)),
    "on": Choice((True, False)),
}


def test_values_survive_the_way_through_the_cube() -> None:
    random = np.random.default_rng(0)
    for _ in range(100):
        values = from_cube(random.random(dimension(TRIAL_SPACE)), TRIAL_SPACE)
        point = to_cube(values, TRIAL_SPACE)
        assert holds(TRIAL_SPACE, values)
        assert ((point >= 0) & (point <= 1)).all()
        assert from_cube(point, TRIAL_SPACE) == pytest.approx(values)


def test_the_radius_narrows_over_the_trials_that_are_asked_for() -> None:
    found = TrialOptimizer(
        "local_gp", TRIAL_SPACE, seed=0, settings={"evaluations": 24}, random_trials=12
    )
    draws = np.random.default_rng(0).random((12, dimension(TRIAL_SPACE)))
    for trial in range(24):
        values = found.give(trial, draws[trial]) if trial < 12 else found.suggest(trial)
        found.tell({trial: Finished(values, -(values["x"] ** 2))})
    found.suggest("beyond")
    search = found._optimizer
    assert isinstance(search, LocalSearch)
    assert search.radius == pytest.approx(search._defaults.final_radius)
