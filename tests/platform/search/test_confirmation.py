import numpy as np

from rolecast.platform.search.confirmation import confirmation_batch, winner
from rolecast.platform.search.planning.budget import Budget
from rolecast.platform.search.records.batch_summary import BatchSummary
from rolecast.platform.search.records.history import Batch, Kind


def run_of(incumbents: list[float]) -> list[Batch]:
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


BUDGET = Budget(unit="env_steps", total=1000, episodes=2, episode_steps=5, confirm_share=0.02)


def contenders(batches: list[Batch], budget: Budget) -> list[float]:
    seen = BatchSummary(budget)
    for batch in batches:
        seen.add(batch)
    return [float(incumbent[0]) for incumbent in seen.incumbents()]


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
    rows = confirmation_batch([np.array([place]) for place in (1.0, 2.0, 3.0)], 8)
    assert rows.ravel().tolist() == [1, 2, 3, 1, 2, 3, 1, 2]


def test_an_earlier_incumbent_is_kept_only_where_it_leads_clearly() -> None:
    rows = confirmation_batch([np.array([0.9]), np.array([0.2])], 4)
    level = np.array([[0.0, 2.0], [1.0, 3.0]] * 2)
    assert winner(rows, level) == 0.9
    assert winner(rows, level + np.array([[0.0], [9.0]] * 2)) == 0.2
    assert winner(rows, level - np.array([[0.0], [9.0]] * 2)) == 0.9


def test_one_episode_each_decides_nothing() -> None:
    rows = confirmation_batch([np.array([0.9]), np.array([0.2])], 2)
    assert winner(rows, np.array([[1.0], [100.0]])) == 0.9
