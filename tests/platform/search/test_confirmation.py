from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rolecast.core.types import Float
from rolecast.platform.search.confirmation import confirmation_batch, winner
from rolecast.platform.search.planning.budget import Budget
from rolecast.platform.search.records.batch_summary import BatchSummary
from rolecast.platform.search.records.history import Batch, Kind

BUDGET = Budget(unit="env_steps", total=1000, episodes=2, episode_steps=5, confirm_share=0.02)


def run_of(incumbents: Sequence[float]) -> list[Batch]:
    """Return batches of a candidate each, all of the same return."""
    return [
        Batch(
            index=index,
            kind=Kind.SEARCH,
            first=index,
            spent=0.0,
            candidates=np.zeros((1, 1)),
            episodes_of=np.array([index]),
            episode_returns=np.zeros((1, 2)),
            observed_returns=np.zeros((1, 2)),
            env_steps=np.array([10 * (index + 1)]),
            wall_time_s=0.0,
            incumbent=np.array([incumbent]),
        )
        for index, incumbent in enumerate(incumbents)
    ]


def late_batch(returns: Float, *, used: int = 900, kind: Kind = Kind.SEARCH) -> Batch:
    """Return a batch of candidates 0.1, 0.2, ... with returns [q, E], incumbent 0.95."""
    count = len(returns)
    return replace(
        run_of([0.95])[0],
        kind=kind,
        candidates=np.arange(1.0, count + 1.0)[:, None] / 10.0,
        episodes_of=np.arange(count),
        episode_returns=np.zeros_like(returns),
        observed_returns=returns,
        env_steps=np.linspace(used - 50, used, count).astype(np.int64),
    )


def summary(batches: Sequence[Batch], budget: Budget = BUDGET) -> BatchSummary:
    seen = BatchSummary(budget)
    for batch in batches:
        seen.add(batch)
    return seen


def contenders(batches: list[Batch], budget: Budget) -> list[float]:
    seen = summary(batches, budget)
    return [float(each[0]) for each in (seen.incumbent, *seen.earlier_incumbents())]


def best_evaluated(*batches: Batch) -> list[float]:
    found = summary(batches).best_evaluated()
    return [round(float(candidate[0]), 6) for candidate in found]


def test_the_incumbents_of_now_and_of_earlier_are_confirmed() -> None:
    assert contenders(run_of([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), BUDGET) == [9, 8, 6]


def test_an_incumbent_is_confirmed_once() -> None:
    assert contenders(run_of([0, 1, 2, 3, 4, 5, 5, 7, 7, 7]), BUDGET) == [7, 5]
    assert contenders(run_of([3.0]), BUDGET) == [3]


def test_the_summary_of_any_number_of_batches_names_the_incumbents_of_all() -> None:
    rng = np.random.default_rng(3)
    for length in range(1, 120, 7):
        incumbents = np.repeat(rng.integers(0, 40, size=length), rng.integers(1, 4, size=length))
        batches = run_of([float(each) for each in incumbents])
        end = BUDGET.used(batches[-1].spent_after)
        expected = [batches[-1].incumbent[0]]
        for share in (0.9, 0.75):
            before = [b for b in batches if BUDGET.used(b.spent_after) <= share * end]
            if before and before[-1].incumbent[0] not in expected:
                expected.append(before[-1].incumbent[0])
        assert contenders(batches, BUDGET) == expected


def test_every_rival_gets_its_turns() -> None:
    rows = confirmation_batch(summary(run_of([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])), 8)
    assert rows.ravel().tolist() == [9, 8, 6, 9, 8, 6, 9, 8]


def test_an_earlier_incumbent_is_kept_only_where_it_leads_clearly() -> None:
    seen = summary(run_of([2, 2, 2, 2, 2, 2, 9]))
    rows = confirmation_batch(seen, 4)
    level = np.array([[0.0, 2.0], [1.0, 3.0]] * 2)
    assert winner(rows, level, seen) == 9
    assert winner(rows, level + np.array([[0.0], [9.0]] * 2), seen) == 2
    assert winner(rows, level - np.array([[0.0], [9.0]] * 2), seen) == 9


def test_one_episode_each_decides_nothing() -> None:
    seen = summary(run_of([2, 2, 2, 2, 2, 2, 9]))
    rows = confirmation_batch(seen, 2)
    assert winner(rows, np.array([[1.0], [100.0]]), seen) == 9


CLEAR = np.array([[40.0, 42.0], [10.0, 12.0], [60.0, 62.0], [20.0, 22.0], [50.0, 52.0]])
"""Candidates that differ by more than their errors, best 0.3, 0.5 and 0.1."""


def test_the_best_evaluated_are_confirmed_where_candidates_differ_by_more_than_errors() -> None:
    assert best_evaluated(late_batch(CLEAR)) == [0.3, 0.5, 0.1]
    assert best_evaluated(late_batch(CLEAR + np.array([-40.0, 40.0]))) == []
    better = late_batch(CLEAR + 15.0, used=960)
    assert best_evaluated(late_batch(CLEAR), better) == [0.3, 0.5, 0.1]
    assert best_evaluated(late_batch(CLEAR, used=400)) == []
    assert best_evaluated(late_batch(CLEAR, kind=Kind.DESIGN)) == []
    rows = confirmation_batch(summary([late_batch(CLEAR)]), 5).ravel()
    np.testing.assert_allclose(rows, [0.95, 0.3, 0.5, 0.1, 0.95])


def test_an_evaluated_candidate_is_kept_where_it_leads_by_a_standard_error() -> None:
    seen = summary([late_batch(CLEAR)])
    rows = confirmation_batch(seen, 4)
    fresh = np.array([[50.0, 52.0], [49.0, 51.0], [53.0, 55.0], [0.0, 110.0]])
    assert winner(rows, fresh, seen) == 0.5
    assert winner(rows, fresh + np.array([[9.0], [0.0], [0.0], [0.0]]), seen) == 0.95
    assert winner(rows, fresh - np.array([[0.0], [0.0], [2.0], [0.0]]), seen) == 0.95


def test_new_episodes_show_whether_evaluations_of_one_episode_were_luck() -> None:
    seen = summary([late_batch(CLEAR[:, :1])])
    rows = confirmation_batch(seen, 16)
    new = np.tile([[50.0], [49.0], [52.0], [9.0]], (4, 1))
    error = np.array([[1.0]] * 8 + [[-1.0]] * 8)
    assert winner(rows, new + error, seen) == 0.5
    assert winner(rows, new + 40.0 * error, seen) == 0.95


def test_candidates_that_fail_make_the_others_no_better() -> None:
    rng = np.random.default_rng(0)
    returns = rng.normal(50.0, 8.0, size=(20, 8))
    returns[3] -= 100.0
    assert best_evaluated(late_batch(returns)) == []


def test_few_new_episodes_tell_no_evaluations_of_one_apart() -> None:
    seen = summary([late_batch(CLEAR[:, :1])])
    new = np.array([[50.0], [49.0], [52.0], [9.0]])
    few = np.concatenate([new + 1.0, new - 1.0])
    assert winner(confirmation_batch(seen, 8), few, seen) == 0.95
    more = np.concatenate([few, new + 1.0])
    assert winner(confirmation_batch(seen, 12), more, seen) == 0.5


def test_what_an_earlier_confirmation_kept_is_compared_when_the_search_went_on() -> None:
    kept = replace(late_batch(CLEAR, kind=Kind.CONFIRM), incumbent=np.array([0.7]))
    seen = summary([kept, *run_of([9.0])])
    assert confirmation_batch(seen, 2).ravel().tolist() == [9.0, 0.7]
