"""The sampler for Optuna passes Optuna's own tests of samplers, and searches better than chance."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

optuna = pytest.importorskip("optuna", reason="needs the extra: pip install 'rolecast[optuna]'")

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from rolecast.core.errors import RequestError
from rolecast.optuna import RolecastSampler, space_of
from rolecast.platform.optimizers.local_gp.search import LocalSearch
from rolecast.search_space import Choice, Range

optuna.logging.set_verbosity(optuna.logging.ERROR)

Direction = Literal["minimize", "maximize"]

SPACE: dict[str, BaseDistribution] = {
    "rate": FloatDistribution(1e-5, 1.0, log=True),
    "momentum": FloatDistribution(0.0, 1.0, step=0.25),
    "layers": IntDistribution(1, 8),
    "units": IntDistribution(8, 512, log=True),
    "activation": CategoricalDistribution(("tanh", "relu", None)),
}


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
class TestSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: RolecastSampler("local_gp", seed=0)


def test_distributions_become_ranges_and_choices() -> None:
    assert space_of(SPACE) == {
        "rate": Range(low=1e-5, high=1.0, log=True),
        "momentum": Range(low=0.0, high=1.0, step=0.25),
        "layers": Range(low=1, high=8, step=1, whole=True),
        "units": Range(low=8, high=512, log=True, step=1, whole=True),
        "activation": Choice(("tanh", "relu", None)),
    }


def bowl(trial: Any) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", 1e-3, 10, log=True)
    off = trial.suggest_categorical("on", [True, False]) is False
    return float((x - 2.0) ** 2 + np.log(y) ** 2 + off)


def best(sampler: BaseSampler, direction: Direction = "minimize") -> float:
    study = optuna.create_study(sampler=sampler, direction=direction)
    sign = 1.0 if direction == "minimize" else -1.0
    study.optimize(lambda trial: sign * bowl(trial), n_trials=60)
    return float(sign * study.best_value)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_it_beats_random_search(direction: Direction) -> None:
    """A local search may stay in the worse of two choices, so it is the median that counts."""
    found = [best(RolecastSampler("local_gp", seed=seed), direction) for seed in range(5)]
    by_chance = [best(RandomSampler(seed=seed), direction) for seed in range(5)]
    assert np.median(found) < min(by_chance)


def test_the_same_seed_asks_the_same() -> None:
    def asked(trials: int) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=RolecastSampler("local_gp", seed=3))
        study.optimize(bowl, n_trials=trials)
        return [trial.params for trial in study.trials]

    assert asked(12) == asked(12)


@pytest.mark.parametrize("name", ["local_gp", "cmaes"])
def test_a_process_a_trial_asks_what_one_process_asks(name: str) -> None:
    """A sampler of its own for each trial, and one that was pickled on the way."""

    def asked(renewed: Callable[[BaseSampler], BaseSampler]) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=RolecastSampler(name, seed=2, random_trials=4))
        for _ in range(14):
            study.optimize(bowl, n_trials=1)
            study.sampler = renewed(study.sampler)
        return [trial.params for trial in study.trials]

    once = asked(lambda sampler: sampler)
    assert len({tuple(params.items()) for params in once}) == 14
    assert asked(lambda _: RolecastSampler(name, seed=2, random_trials=4)) == once
    assert asked(lambda sampler: pickle.loads(pickle.dumps(sampler))) == once


def test_a_process_a_trial_asks_the_same_after_trials_that_were_not_asked_for() -> None:
    """One raised before its first parameter, one was fixed, one was added, one lacks y."""

    def objective(trial: Any) -> float:
        if trial.number == 6:
            raise OSError("nothing was asked")
        if trial.number == 9:
            return float(trial.suggest_float("x", -5, 5) ** 2)
        return bowl(trial)

    def asked(renewed: Callable[[BaseSampler], BaseSampler]) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=RolecastSampler("gp_ucb", seed=2, random_trials=4))
        for number in range(14):
            if number == 7:
                study.enqueue_trial({"x": 1.0, "y": 2.0, "on": True})
            if number == 8:
                study.add_trial(study.trials[0])
            study.optimize(objective, n_trials=1, catch=OSError)
            study.sampler = renewed(study.sampler)
        return [trial.params for trial in study.trials]

    assert asked(lambda _: RolecastSampler("gp_ucb", seed=2, random_trials=4)) == asked(
        lambda sampler: sampler
    )


@pytest.mark.parametrize("error", [optuna.TrialPruned, OSError])
def test_a_trial_that_was_pruned_or_failed_does_not_end_the_search(error: type[Exception]) -> None:
    """An epoch of DUETS ends with the last value of its points; the lost one counts as lowest."""

    def objective(trial: Any) -> float:
        distance = (trial.suggest_float("x", 0, 1) - 0.3) ** 2
        if trial.number == 6:
            raise error
        return float(distance)

    def asked(renewed: Callable[[BaseSampler], BaseSampler]) -> list[float]:
        study = optuna.create_study(sampler=duets())
        for _ in range(12):
            study.optimize(objective, n_trials=1, catch=OSError)
            study.sampler = renewed(study.sampler)
        return [trial.params["x"] for trial in study.trials]

    def duets() -> RolecastSampler:
        settings = {"agents": 2, "rounds": 4, "first_epoch": 2}
        return RolecastSampler("duets", seed=0, random_trials=2, **settings)

    once = asked(lambda sampler: sampler)
    assert len(set(once)) == 12
    assert asked(lambda _: duets()) == once


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_region_in_which_all_trials_are_pruned_is_left(jobs: int) -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        if x > 0.6:
            raise optuna.TrialPruned
        return float((x - 0.3) ** 2)

    settings = {"agents": 4, "rounds": 24, "first_epoch": 3}
    study = optuna.create_study(
        sampler=RolecastSampler("duets", seed=0, random_trials=4, batch=jobs, **settings)
    )
    study.optimize(objective, n_trials=96, n_jobs=jobs)
    states = [trial.state for trial in study.trials]
    assert states.count(optuna.trial.TrialState.PRUNED) > 4
    assert isinstance(study.sampler, RolecastSampler)
    assert study.sampler._optimizer is not None
    assert study.sampler._optimizer.state_dict()["optimizer"]["epoch"] > 2
    assert all(trial.params["x"] <= 0.6 for trial in study.trials[-8:])


def test_a_setting_of_a_dimension_waits_for_the_study() -> None:
    """And that of the evaluations is of all trials, but for the random ones."""
    seed: Any = np.int64(1)
    settings: dict[str, Any] = {"groups": (0, 0), "evaluations": 6}
    sampler = RolecastSampler("local_gp", random_trials=2, seed=seed, **settings)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_float("y", 0, 1), n_trials=4)
    assert len(study.trials) == 4
    assert sampler._optimizer is not None
    search = sampler._optimizer._optimizer
    assert isinstance(search, LocalSearch)
    assert search._config.evaluations == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimizer": "local_gpp"}, "'local_gpp' does not exist; did you mean 'local_gp'"),
        ({"evaluation": 60}, "'evaluation' does not exist; did you mean 'evaluations'"),
        ({"batch": 0}, "RolecastSampler.batch is 0; expected an integer >= 1"),
        ({"random_trials": -1}, "RolecastSampler.random_trials is -1; expected an integer >= 0"),
    ],
)
def test_a_wrong_sampler_is_refused_before_any_trial(settings: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        RolecastSampler(**settings)


def test_no_finished_trial_stays_pending() -> None:
    """Values of grids and choices lead back to other points than those that were asked for."""
    sampler = RolecastSampler("local_gp", seed=0, random_trials=2)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: bowl(trial) + trial.suggest_int("count", 0, 3), n_trials=12)
    study.ask().suggest_float("x", -5, 5)
    assert sampler._optimizer is not None
    assert len(sampler._optimizer.state_dict()["optimizer"]["pending"]) == 1


def test_a_penalty_beyond_what_an_optimizer_takes_is_not_told() -> None:
    study = optuna.create_study(sampler=RolecastSampler("local_gp", seed=0))
    study.optimize(lambda trial: 1e300 if trial.number == 1 else bowl(trial), n_trials=4)
    assert len(study.trials) == 4
    assert study.best_value < 1e300


def test_a_new_sampler_is_told_what_the_study_knows() -> None:
    study = optuna.create_study(sampler=RolecastSampler("local_gp", seed=0))
    study.optimize(bowl, n_trials=40)
    study.sampler = RolecastSampler("local_gp", seed=1)
    study.optimize(bowl, n_trials=20)
    sampler = study.sampler
    assert isinstance(sampler, RolecastSampler)
    assert sampler._optimizer is not None
    assert len(sampler._optimizer.state_dict()["optimizer"]["pending"]) <= 1
    later = [trial.value for trial in study.trials[40:] if trial.value is not None]
    assert np.median(later) < np.median([trial.value for trial in study.trials[:20]])


def test_the_page_runs_as_printed() -> None:
    page = Path(__file__).resolve().parent.parent / "docs" / "howto" / "optuna.md"
    (code,) = re.findall(r"^```py\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["study"].best_value < 0.05
