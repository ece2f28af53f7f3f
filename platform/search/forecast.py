"""Forecast of a search's wall time for a number of workers, from costs measured on this machine.

A batch is cut as the search cuts it, and its chunks are dealt to whoever is idle first: the model
is a simulation of that, with the cost of an episode, of a message and of the optimiser. A batch so
light that the search keeps it in its own process is dealt to the threads of this one.
"""

import heapq
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from rolecast.core.threads import available_cores
from rolecast.platform.rollout.chunks import cut
from rolecast.platform.rollout.sizes import DIRECT_WORKERS, DISPATCHED_WORKERS, LIGHT_BATCH_S
from rolecast.platform.search.costs import Costs, optimizer_time
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.planning.plan import Plan

DISPATCHED_MESSAGE_S: Final = 0.00006
"""Time of the driver for one chunk where dispatchers take the chunks, a call each."""

LARGER_BATCH: Final = 4
"""Candidates of a batch that feeds idle workers, times those of the plan."""

LEAST_BATCHES: Final = 10
"""Batches that a search with larger ones has at least: it learns from one to the next."""

LARGER_BATCH_GAIN: Final = 1.2
"""Least factor by which a search with larger batches is faster, for it to be worth a word."""

HIGH_EFFICIENCY: Final = 0.8
"""Efficiency from which on nothing is said to limit a search."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Expected times of a search with W workers, without its start and its held-out test."""

    workers: int
    """W; 0: one thread of this process."""

    batches: int
    """Batches of the search."""

    chunks: int
    """Chunks of a batch."""

    batch_s: float
    """Wall time in which the episodes of a batch run."""

    optimizer_s: float
    """The optimiser's time for a batch."""

    total_s: float
    """Wall time of all batches, of the confirmation, and of finding the structure."""

    full_length_s: float
    """The same where each episode has its full length, as those of a robot that stays up."""

    speed_up: float
    """Times as fast as with one thread of this process."""

    efficiency: float
    """Speed-up over W."""

    limit: str
    """What keeps the efficiency down; empty where it is high."""

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return asdict(self)


def forecast(plan: Plan, costs: Costs, workers: Sequence[int]) -> list[Forecast]:
    """Return a forecast for each number of workers."""
    full = plan.budget.episode_steps
    steps = costs.episode_steps
    first = replace(plan, budget=replace(plan.budget, episode_steps=max(1, round(steps))))
    found = _forecast(first, costs, workers)
    longest = _forecast(plan, replace(costs, episode_s=costs.episode_s * full / steps), workers)
    return [
        replace(each, full_length_s=last.total_s) for each, last in zip(found, longest, strict=True)
    ]


def _forecast(plan: Plan, costs: Costs, workers: Sequence[int]) -> list[Forecast]:
    """Return forecasts where every episode has the length in the plan's budget."""
    batches = plan.batches
    confirmed = plan.budget.confirmation_fits(Spent())
    fixed_s = costs.structure_s + batches * costs.optimizer_s
    episodes = (batches * plan.batch_size + confirmed) * plan.episodes
    alone_s = fixed_s + episodes * costs.episode_s
    found = []
    for count in workers:
        dealt, busy = _dealt(plan, costs, count)
        sizes = _chunk_sizes(plan, plan.batch_size, max(count, 1), costs.episode_s)
        batch_s = makespan(sizes, dealt, busy)
        last = _chunk_sizes(plan, confirmed, max(count, 1), costs.episode_s)
        total_s = fixed_s + batches * batch_s + makespan(last, dealt, busy) if count else alone_s
        efficiency = alone_s / total_s / max(count, 1)
        limit = (
            ""
            if efficiency >= HIGH_EFFICIENCY
            else _limit(sizes, dealt, batch_s, fixed_s / batches, workers=count, busy=busy)
        )
        found.append(
            Forecast(
                workers=count,
                batches=batches,
                chunks=len(sizes),
                batch_s=batch_s,
                optimizer_s=costs.optimizer_s,
                total_s=total_s,
                full_length_s=total_s,
                speed_up=alone_s / total_s,
                efficiency=efficiency,
                limit=limit,
            )
        )
    return found


def with_larger_batches(plan: Plan, costs: Costs, planned: Forecast) -> tuple[int, Forecast] | None:
    """Return the batch size and the forecast of a search whose larger batches feed idle workers.

    The search itself never chooses by the number of workers, on which no result may depend.

    Args:
        plan: the search.
        costs: its costs; the optimiser is timed again.
        planned: its forecast for some workers.
    Returns:
        None where it is not faster, where nobody is idle, or where too few batches would be left.
    """
    if not planned.limit or planned.workers < 2:
        return None
    affordable = plan.budget.search_fits(Spent()) // LEAST_BATCHES
    size = min(LARGER_BATCH * plan.batch_size, affordable)
    if size <= plan.batch_size:
        return None
    larger = replace(plan, batch_size=size)
    costs = replace(costs, optimizer_s=optimizer_time(larger))
    (expected,) = forecast(larger, costs, [planned.workers])
    if planned.total_s < LARGER_BATCH_GAIN * expected.total_s:
        return None
    return size, expected


def _dealt(plan: Plan, costs: Costs, workers: int) -> tuple[Costs, int]:
    """Return the costs with those of a chunk as it is dealt, and how many compute."""
    if workers == 0:
        return _without_messages(costs), 1
    if plan.compiled and _episodes(plan) * costs.episode_s < LIGHT_BATCH_S:
        return _without_messages(costs), plan.config.threads or available_cores()
    if not plan.compiled or workers <= DIRECT_WORKERS:
        return costs, workers
    dispatchers = -(-workers // DISPATCHED_WORKERS)  # which deal side by side
    message_s = max(costs.message_s / dispatchers, DISPATCHED_MESSAGE_S)
    return replace(costs, message_s=message_s), workers


def _without_messages(costs: Costs) -> Costs:
    return replace(costs, message_s=0.0, return_s=0.0)


def makespan(sizes: Sequence[int], costs: Costs, workers: int) -> float:
    """Return the wall time of a batch: the driver deals chunks in order, an idle worker takes one.

    Args:
        sizes: episodes of each chunk.
        costs: of an episode and of messages.
        workers: W >= 1.
    """
    idle = [0.0] * min(workers, len(sizes))
    driver = end = 0.0
    for size in sizes:
        driver = max(driver, heapq.heappop(idle)) + costs.message_s
        ready = driver + costs.return_s + size * costs.episode_s
        end = max(end, ready)
        heapq.heappush(idle, ready - costs.return_s)  # the next chunk waits in the worker already
    return end


def _episodes(plan: Plan) -> int:
    return plan.batch_size * plan.episodes


def _chunk_sizes(plan: Plan, evaluations: int, workers: int, episode_s: float) -> list[int]:
    """Return the episodes of each chunk of so many evaluations; none of none."""
    if not evaluations:
        return []
    shape = evaluations, plan.episodes
    chunks = cut(
        np.zeros((shape[0], 1)),
        np.zeros(shape, dtype=np.uint64),
        [""] * shape[0],
        compiled=plan.compiled,
        workers=workers,
        episode_s=episode_s,
    )
    return [chunk.seeds.size for chunk in chunks]


def _limit(
    sizes: Sequence[int], costs: Costs, batch_s: float, fixed_s: float, *, workers: int, busy: int
) -> str:
    """Return the greatest of what keeps workers waiting, in words.

    Args:
        sizes: episodes of each chunk.
        costs: of these.
        batch_s: wall time of a batch.
        fixed_s: what is not shared, by batch.
        workers: W.
        busy: threads of this process where a batch stays there, else W.
    """
    work = sum(sizes) * costs.episode_s / busy
    uneven = makespan(sizes, _without_messages(costs), busy) - work
    lost = {
        "the optimiser, for which workers wait between batches": fixed_s,
        "batches so light that they stay in this process": work * (1.0 - busy / workers),
        "a batch of too few episodes for so many workers": uneven,
        "messages to the workers": batch_s - work - uneven,
    }
    return max(lost, key=lambda name: lost[name])
