"""Which trials run now: values of one field are alternatives, several fields hold together."""

import itertools

import pytest

from rolecast.core.errors import RequestError
from rolecast.platform.tuning.experiment import TrialPlan
from rolecast.platform.tuning.selection import Selection, selected

PLANS = tuple(
    TrialPlan(
        trial=f"{reward}-{method}-{seed}",
        task="pred_prey_3",
        reward=reward,
        method=method,
        policy="",
        seed=seed,
    )
    for seed, reward, method in itertools.product(
        range(3), ("dense", "sparse=25"), ("facmac", "cmaes")
    )
)


@pytest.mark.parametrize(
    ("only", "count"),
    [
        (None, 12),
        (["method=facmac"], 6),
        (["method=facmac", "method=cmaes"], 12),
        (["reward=sparse=25", "seed=0", "seed=2"], 4),
        (["task=pred_prey_3", "method=cmaes", "reward=dense", "seed=1"], 1),
        (lambda plan: plan.seed > 0, 8),
    ],
)
def test_a_trial_is_chosen_if_each_named_field_has_a_named_value(
    only: Selection | None, count: int
) -> None:
    chosen = selected(PLANS, only)
    assert len(chosen) == count
    assert chosen == [plan for plan in PLANS if plan in chosen]


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        (["methods=facmac"], "field of a trial 'methods' does not exist; did you mean 'method'"),
        (["facmac"], "field of a trial 'facmac' does not exist"),
        (["method=facmak"], "method of the experiment 'facmak' does not exist; did you mean"),
        (["seed=3"], "seed of the experiment '3' does not exist"),
        (["reward=spars=25"], "did you mean 'sparse'"),
    ],
)
def test_what_no_trial_has_is_refused(only: list[str], sentence: str) -> None:
    with pytest.raises(RequestError, match=sentence):
        selected(PLANS, only)


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        (["seed=0", "method=cmaes"], "only is seed=0, method=cmaes; expected what holds"),
        (lambda plan: plan.seed > 2, "only is the given function; expected what holds"),
    ],
    ids=["conditions", "function"],
)
def test_what_no_trial_meets_is_refused(only: Selection, sentence: str) -> None:
    with pytest.raises(RequestError, match=sentence):
        selected([PLANS[0], PLANS[-1]], only)
