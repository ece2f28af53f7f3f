"""Forecast of a search's wall time for a number of workers, from costs measured on this machine.

A batch is cut as the search cuts it, and its chunks are dealt to whoever is idle first: the model
is a simulation of that, with the cost of an episode, of a message and of the optimiser. A batch so
light that the search keeps it in its own process is dealt to the threads of this one.
"""

import heapq
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.seeds import Purpose, derived_seed, episode_seeds
from rolecast.core.threads import OneThread, available_cores
from rolecast.core.types import Float
from rolecast.platform.rollout.chunks import cut, evaluate_chunk
from rolecast.platform.rollout.sizes import DIRECT_WORKERS, DISPATCHED_WORKERS, LIGHT_BATCH_S
from rolecast.platform.search.planning import policy_hints
from rolecast.platform.search.planning.budget import Spent
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.search.session import BatchRequest, EvaluatedBatch, LocalSession

MESSAGE_S: Final = 0.0006
"""Time of the driver for one chunk: sent, its answer taken (`rolecast bench scaling`)."""

DISPATCHED_MESSAGE_S: Final = 0.00006
"""The same where dispatchers take the chunks, a call each."""

RETURN_S: Final = 0.002
"""Latency of a call to an idle actor and back on one machine (`rolecast bench scaling`)."""

PROBE_EPISODES: Final = 1024
"""Episodes of a compiled task that are timed."""

PROBE_S: Final = 4.0
"""Least time that the optimiser is timed, unless the search ends before; and that of the other
episodes, which are played one by one."""

LARGER_BATCH: Final = 4
"""Candidates of a batch that feeds idle workers, times those of the plan."""

LEAST_BATCHES: Final = 10
"""Batches that a search with larger ones has at least: it learns from one to the next."""

LARGER_BATCH_GAIN: Final = 1.2
"""Least factor by which a search with larger batches is faster, for it to be worth a word."""

HIGH_EFFICIENCY: Final = 0.8
"""Efficiency from which on nothing is said to limit a search."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What parts of a search cost, in seconds."""

    episode_s: float
    """An episode, one beside others, on one core."""

    optimizer_s: float
    """The optimiser's time for a batch: tell and ask."""

    structure_s: float = 0.0
    """Time in which the structure of the policy is found, once."""

    message_s: float = MESSAGE_S
    """Time of the driver for a chunk."""

    return_s: float = RETURN_S
    """Latency of a call and its answer; more between machines."""


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
    """Wall time of all batches, and of finding the structure."""

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
    batches = _batches(plan)
    fixed_s = costs.structure_s + batches * costs.optimizer_s
    alone_s = fixed_s + batches * _episodes(plan) * costs.episode_s
    found = []
    for count in workers:
        sizes = _chunk_sizes(plan, max(count, 1), costs.episode_s)
        dealt, busy = _dealt(plan, costs, count)
        batch_s = sum(sizes) * costs.episode_s if count == 0 else makespan(sizes, dealt, busy)
        total_s = fixed_s + batches * batch_s
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
    _, optimizer_s = _optimizer(larger, _structure(larger)[0])
    costs = replace(costs, optimizer_s=optimizer_s)
    (expected,) = forecast(larger, costs, [planned.workers])
    if planned.total_s < LARGER_BATCH_GAIN * expected.total_s:
        return None
    return size, expected


def _dealt(plan: Plan, costs: Costs, workers: int) -> tuple[Costs, int]:
    """Return the costs with those of a chunk as it is dealt, and how many compute."""
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


def measure(plan: Plan) -> Costs:
    """Return costs measured in this process.

    Episodes are those of the first batch that the optimiser asks for, where a robot may stand that
    falls at once by other weights. The optimiser is timed on random returns.
    """
    structure, structure_s = _structure(plan)
    first, optimizer_s = _optimizer(plan, structure)
    return Costs(
        episode_s=_episode_s(plan, first), optimizer_s=optimizer_s, structure_s=structure_s
    )


def _batches(plan: Plan) -> int:
    return max(1, -(-plan.budget.search_fits(Spent()) // plan.batch_size))


def _episodes(plan: Plan) -> int:
    return plan.batch_size * plan.episodes


def _chunk_sizes(plan: Plan, workers: int, episode_s: float) -> list[int]:
    shape = plan.batch_size, plan.episodes
    chunks = cut(
        np.zeros((shape[0], 1)),
        np.zeros(shape, dtype=np.uint64),
        [""] * shape[0],
        compiled=plan.compiled,
        workers=workers,
        episode_s=episode_s,
    )
    return [chunk.seeds.size for chunk in chunks]


def _episode_s(plan: Plan, candidates: Float) -> float:
    """Return the seconds of an episode of some candidates [q, D], as the optimiser asks first."""
    number, seconds, episodes = 0, 0.0, 0
    while seconds < PROBE_S:
        count = PROBE_EPISODES if plan.compiled else 1
        seeds = episode_seeds(plan.seed, Purpose.SEARCH, number, count)[None]
        place = number % len(candidates)
        probe = candidates[place : place + 1]
        (chunk, *_) = cut(probe, seeds, ["a probe"], compiled=plan.compiled)
        result = evaluate_chunk(plan.task, plan.policy, chunk)
        number += 1
        if number == 1:  # compiles, and loads the simulator
            continue
        seconds, episodes = seconds + result.seconds, episodes + chunk.seeds.size
        if plan.compiled:
            break
    return seconds / episodes


def _structure(plan: Plan) -> tuple[Mapping[str, Any] | None, float]:
    """Return the policy's structure in observations that are noise, and the seconds it took."""
    if plan.design is None:
        return None, 0.0
    spec, rng = plan.task.spec, np.random.default_rng(plan.seed)
    shape = policy_hints.RECORDED_OBSERVATIONS, spec.agents, spec.observation_size
    start = time.perf_counter()
    with OneThread()():
        structure = policy_hints.find_structure(
            plan.optimizer, plan.policy, plan.design, rng.normal(size=shape)
        )
    return structure, time.perf_counter() - start


def _optimizer(plan: Plan, structure: Mapping[str, Any] | None) -> tuple[Float, float]:
    """Return the first batch [q, D] that the optimiser asks for, and its mean time for a batch.

    It is told returns that are noise.
    """
    config = policy_hints.with_structure(plan.optimizer, structure)
    seed = derived_seed(plan.seed, Purpose.OPTIMIZER)
    session = LocalSession(config, dimension=plan.dimension, seed=seed)
    rng = np.random.default_rng(seed)
    first: Float | None = None
    batches = _batches(plan)
    told: EvaluatedBatch | None = None
    start = time.perf_counter()
    times = []
    for batch in range(batches):
        wanted = BatchRequest(q=plan.batch_size, spent=batch / batches)
        reply = session.tell_and_ask(told, wanted)
        first = reply.candidates if first is None else first
        times.append(reply.ask_s + reply.tell_s)
        told = EvaluatedBatch(
            returns=rng.normal(size=plan.batch_size),
            stderrs=np.ones(plan.batch_size),
            nodes={name: rng.normal(size=(plan.batch_size, 1)) for name in plan.observed_metrics},
        )
        if time.perf_counter() - start > PROBE_S:
            break
    session.close()
    if first is None:
        raise RunError("the optimiser asks for no first batch")
    return first, float(np.mean(times[len(times) // 4 :]))


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
