from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rolecast.platform.search.costs import Costs, measure
from rolecast.platform.search.forecast import (
    LEAST_BATCHES,
    forecast,
    makespan,
    with_larger_batches,
)
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan, make_plan

FREE = Costs(episode_s=0.01, episode_steps=25.0, optimizer_s=0.0, message_s=0.0, return_s=0.0)
"""Costs of a cluster whose messages take no time."""


def costs_of(*, episode_s: float, optimizer_s: float = 0.0, **settings: float) -> Costs:
    """Costs of episodes as long as those of `pred_prey_3`."""
    given = {"episode_steps": 25.0, **settings}
    return Costs(episode_s=episode_s, optimizer_s=optimizer_s, **given)


def plan_of(**settings: object) -> Plan:
    given = {"task": "pred_prey_3", "optimizer": "random", "policy": "mlp"}
    return make_plan(SearchConfig.from_json({**given, **settings}))


def test_equal_chunks_take_as_many_rounds_as_workers_need() -> None:
    assert makespan([4] * 12, FREE, 1) == pytest.approx(0.48)
    assert makespan([4] * 12, FREE, 5) == pytest.approx(3 * 0.04)
    assert makespan([4] * 12, FREE, 100) == pytest.approx(0.04)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(1, 70))
def test_a_batch_takes_at_least_its_share_and_its_longest_chunk(
    sizes: list[int], workers: int
) -> None:
    """And at most both together: Graham's bound of list scheduling."""
    found, work = makespan(sizes, FREE, workers), 0.01 * sum(sizes) / workers
    longest = 0.01 * max(sizes)
    assert found >= max(work, longest) - 1e-9
    assert found <= work + longest + 1e-9


def test_messages_of_one_driver_bound_the_speed_of_many_workers() -> None:
    costs = costs_of(episode_s=1e-4, message_s=0.001, return_s=0.0)
    assert makespan([1] * 1000, costs, 1000) == pytest.approx(1.0001)


def test_the_limit_that_is_named_is_the_one_that_was_built_in() -> None:
    plan = plan_of(evaluations=600, episodes=256, batch_size=60)
    slow_driver = costs_of(episode_s=1e-4, message_s=0.2, return_s=0.0)
    slow_optimizer = costs_of(episode_s=1e-4, optimizer_s=9.0)
    assert "messages" in forecast(plan, slow_driver, [8])[0].limit
    assert "optimiser" in forecast(plan, slow_optimizer, [8])[0].limit
    few = plan_of(evaluations=600, episodes=1, batch_size=20, task="gym:CartPole-v1")
    assert "too few episodes" in forecast(few, costs_of(episode_s=1.0), [64])[0].limit


@pytest.mark.parametrize(("threads", "share"), [(None, 2), (1, 1)])
def test_a_light_batch_of_a_compiled_task_stays_on_threads_of_this_process(
    monkeypatch: pytest.MonkeyPatch, threads: int | None, share: int
) -> None:
    """Of 480 episodes that take 5 ms together; messages to 64 workers would take 40 ms."""
    monkeypatch.setattr("rolecast.platform.search.forecast.available_cores", lambda: 2)
    plan = plan_of(evaluations=600, episodes=8, batch_size=60, threads=threads)
    costs = costs_of(episode_s=1e-5)
    alone, many = forecast(plan, costs, [0, 64])
    assert many.batch_s == pytest.approx(alone.batch_s / share, rel=0.05)
    assert many.limit == "batches so light that they stay in this process"
    (slow,) = forecast(plan, costs_of(episode_s=1e-5, optimizer_s=9.0), [64])
    assert "optimiser" in slow.limit
    (heavy,) = forecast(plan, costs_of(episode_s=1e-3), [64])
    assert "messages" in heavy.limit
    other = plan_of(evaluations=600, episodes=8, batch_size=60, task="gym:CartPole-v1")
    assert forecast(other, costs, [64])[0].batch_s > 0.03


def test_dispatchers_deal_side_by_side_to_many_workers() -> None:
    """Of a compiled task: 1,000 workers have 8 of them; no other task has any."""
    costs = costs_of(episode_s=1e-4, message_s=0.01, return_s=0.0)
    plan = plan_of(evaluations=6000, episodes=256, batch_size=1000)
    (few, many) = forecast(plan, costs, [64, 1000])
    assert few.batch_s == pytest.approx(0.01 * few.chunks, rel=0.1)
    assert many.batch_s == pytest.approx(0.01 / 8 * many.chunks, rel=0.1)
    other = plan_of(evaluations=6000, episodes=2, batch_size=1000, task="gym:CartPole-v1")
    (alone,) = forecast(other, costs, [1000])
    assert alone.batch_s == pytest.approx(0.01 * alone.chunks, rel=0.1)


def test_one_thread_is_the_unit_and_costs_once_paid_are_not_shared() -> None:
    plan = plan_of(evaluations=600, episodes=256, batch_size=60)
    costs = costs_of(episode_s=1e-4, optimizer_s=0.1, structure_s=2.0, message_s=0.0, return_s=0.0)
    alone, two, many = forecast(plan, costs, [0, 2, 10_000])
    batches = -(-plan.budget.affordable(Spent()) // 60)
    assert alone.batches == pytest.approx(batches, abs=1)
    assert alone.speed_up == alone.efficiency == 1.0
    confirmed = plan.budget.confirmation_fits(Spent())
    assert confirmed > 0
    whole = 2.0 + alone.batches * (0.1 + 60 * 256e-4) + confirmed * 256e-4
    assert alone.total_s == pytest.approx(whole)
    assert alone.total_s > two.total_s > many.total_s > 2.0 + alone.batches * 0.1


def test_a_budget_in_env_steps_is_played_whatever_an_episode_lasts() -> None:
    """A hopper that falls after 25 steps of 1,000 was forecast to be done in a fortieth of it."""
    plan = plan_of(env_steps=100_000, task="hopper", policy="linear", batch_size=8, episodes=1)
    costs = costs_of(episode_s=0.025)
    (alone,) = forecast(plan, costs, [0])
    assert alone.total_s == pytest.approx(100.0, rel=0.1)
    assert alone.full_length_s == pytest.approx(100.0, rel=0.1)
    (slow,) = forecast(plan, replace(costs, optimizer_s=1.0), [0])
    assert slow.total_s > 4 * slow.full_length_s
    plan.task.close()


def test_a_budget_in_evaluations_takes_longer_with_episodes_of_full_length() -> None:
    plan = plan_of(evaluations=300, task="gym:CartPole-v1", batch_size=10, episodes=2)
    costs = costs_of(episode_s=0.01)
    (alone,) = forecast(plan, costs, [0])
    assert alone.total_s == pytest.approx(600 * 0.01, rel=0.05)
    assert alone.full_length_s == pytest.approx(500 / 25 * alone.total_s)


def test_costs_are_those_of_the_plan() -> None:
    costs = measure(plan_of(evaluations=40, episodes=8, batch_size=20))
    assert 1e-7 < costs.episode_s < 0.01
    assert costs.structure_s == 0.0
    assert costs.episode_steps == 25.0
    found = forecast(plan_of(evaluations=40), costs, [1, 2])
    assert np.isfinite([each.total_s for each in found]).all()


def test_larger_batches_are_named_where_they_feed_idle_workers() -> None:
    """Of 20 candidates for 64 workers; one worker has enough to do, and random draws are free."""
    plan = plan_of(evaluations=900, episodes=1, batch_size=20, task="gym:CartPole-v1")
    costs = costs_of(episode_s=1.0)
    one, many = forecast(plan, costs, [1, 64])
    assert with_larger_batches(plan, costs, one) is None
    found = with_larger_batches(plan, costs, many)
    assert found is not None
    size, expected = found
    assert (size, expected.workers) == (80, 64)
    assert expected.batches == pytest.approx(many.batches / 4, abs=1)
    assert expected.total_s < 0.6 * many.total_s


@pytest.mark.parametrize(("evaluations", "size"), [(100, None), (300, 27)])
def test_larger_batches_leave_ten_of_them(evaluations: int, size: int | None) -> None:
    """A search of one batch returned its start, and was recommended."""
    plan = plan_of(evaluations=evaluations, episodes=1, batch_size=20, task="gym:CartPole-v1")
    costs = costs_of(episode_s=1.0)
    (many,) = forecast(plan, costs, [64])
    found = with_larger_batches(plan, costs, many)
    assert (None if found is None else found[0]) == size
    if found is not None:
        assert found[1].batches >= LEAST_BATCHES
