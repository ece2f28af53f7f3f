from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rolecast.core.errors import RequestError
from rolecast.core.seeds import Purpose, episode_seeds
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod

EXPERIMENT = Experiment(
    name="two",
    tasks=("pred_prey_3", "hopper?horizon=500"),
    rewards=("dense", "sparse=5&delay=1"),
    methods=(
        SearchMethod(optimizer="cmaes", evaluations=1000),
        LearnerMethod(algorithm="ppo", settings={"size": "small"}),
        LearnerMethod(
            algorithm="ppo", label="ppo_xl", rewards=("sparse=5&delay=1",), tasks=("pred_prey_3",)
        ),
    ),
    seeds=2,
    env_steps=10_000,
)


def test_trials_are_the_product_a_seed_at_a_time() -> None:
    trials = EXPERIMENT.trials()
    assert len(trials) == 2 * (2 * 2 * 2 + 1)
    assert [plan.seed for plan in trials] == [0] * 9 + [1] * 9
    assert [plan.trial for plan in trials[:5]] == [
        "pred_prey_3-dense-cmaes-seed0",
        "pred_prey_3-dense-ppo-seed0",
        "pred_prey_3-delay=1_sparse=5-cmaes-seed0",
        "pred_prey_3-delay=1_sparse=5-ppo-seed0",
        "pred_prey_3-delay=1_sparse=5-ppo_xl-seed0",
    ]
    assert trials[5].trial == "hopper_horizon=500-dense-cmaes-seed0"
    assert (trials[0].policy, trials[1].policy, trials[4].policy) == ("hom", "small", "")


def test_an_experiment_comes_back_from_json() -> None:
    assert Experiment.from_json(EXPERIMENT.to_json()) == EXPERIMENT


def test_a_share_of_an_experiment_has_that_share_of_every_budget() -> None:
    small = EXPERIMENT.scaled(budget_fraction=0.05, seeds=1)
    assert (small.env_steps, small.test_episodes, small.final_test_episodes) == (500, 10, 50)
    assert small.methods[0].evaluations == 50  # type: ignore[union-attr]
    assert (small.seeds, small.points) == (1, EXPERIMENT.points)
    assert EXPERIMENT.scaled() == EXPERIMENT


def test_trials_are_scored_on_the_development_set_unless_a_table_says_otherwise() -> None:
    sealed = replace(EXPERIMENT, held_out_set="sealed")
    assert EXPERIMENT.scored_as_searches
    assert not sealed.scored_as_searches
    assert not replace(EXPERIMENT, held_out_seed=1).scored_as_searches
    expected = episode_seeds(0, Purpose.HELD_OUT, 0, 9)
    np.testing.assert_array_equal(EXPERIMENT.held_out_seeds(9), expected)
    assert not set(sealed.held_out_seeds(9)) & set(expected)


def test_an_experiment_of_before_the_sealed_set_is_of_the_development_set() -> None:
    values = EXPERIMENT.to_json()
    del values["held_out_set"]
    assert Experiment.from_json(values) == EXPERIMENT


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"held_out_set": "test"}, "Experiment.held_out_set is 'test'; expected"),
        ({"name": "a b"}, "Experiment.name is 'a b'"),
        ({"tasks": ()}, "Experiment.tasks is (); expected a tuple of names, at least one"),
        ({"tasks": ("pred_prey_3", "pred_prey_3")}, "expected no name twice"),
        ({"tasks": ("pred_prey_3", "a?x=1", "a_x=1")}, "differ in a folder"),
        ({"rewards": ("dens",)}, "did you mean 'dense'?"),
        ({"rewards": ("dense", "sparse=1")}, "expected no name twice"),
        ({"rewards": ("dense",)}, "of method 'ppo_xl': 'delay=1&sparse=5' does not exist"),
        ({"methods": ("ppo",)}, "expected a tuple of SearchMethod and LearnerMethod values"),
        ({"seeds": 0}, "Experiment.seeds is 0; expected an integer >= 1"),
        ({"env_steps": 1e5}, "Experiment.env_steps is 100000.0; expected an integer >= 1"),
        ({"paper": "tabel4"}, "'tabel4' does not exist; did you mean 'table4'?"),
        ({"workers": -1}, "Experiment.workers is -1; expected an integer >= 0"),
    ],
)
def test_a_wrong_setting_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        replace(EXPERIMENT, **changes)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"algorithm": ""}, "LearnerMethod.algorithm is ''; expected a name"),
        ({"settings": {"net": object()}}, "expected JSON values"),
        ({"settings": [1]}, "expected a mapping of settings"),
        ({"tasks": "pred_prey_3"}, "expected a tuple of names"),
    ],
)
def test_a_wrong_learner_is_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        LearnerMethod(**{"algorithm": "ppo", **settings})
    assert sentence in str(refused.value)


def test_a_wrong_search_is_one_sentence() -> None:
    with pytest.raises(RequestError, match="episodes is 0; expected an integer >= 1"):
        SearchMethod(episodes=0)


@pytest.mark.parametrize("share", [0.0, 1.5, "half"])
def test_a_share_outside_its_range_is_refused(share: Any) -> None:
    with pytest.raises(RequestError, match=r"expected a number in \(0, 1\]"):
        EXPERIMENT.scaled(budget_fraction=share)


def test_a_setting_of_another_version_is_refused() -> None:
    values = EXPERIMENT.to_json() | {"seed": 3}
    with pytest.raises(RequestError, match="did you mean 'seeds'"):
        Experiment.from_json(values)


def test_a_share_is_cut_without_the_last_digits_of_a_float() -> None:
    whole = replace(EXPERIMENT, env_steps=100)
    for percent in range(1, 101):
        assert whole.scaled(budget_fraction=percent / 100).env_steps == percent
