"""What the parts of a search cost, measured in this process."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RunError
from rolecast.core.seeds import Purpose, derived_seed, episode_seeds
from rolecast.core.threads import OneThread
from rolecast.core.types import Float
from rolecast.platform.rollout.chunks import cut, evaluate_chunk
from rolecast.platform.search.planning import policy_hints
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.search.session import BatchRequest, EvaluatedBatch, LocalSession

MESSAGE_S: Final = 0.0006
"""Time of the driver for one chunk: sent, its answer taken (`rolecast bench scaling`)."""

RETURN_S: Final = 0.002
"""Latency of a call to an idle actor and back on one machine (`rolecast bench scaling`)."""

PROBE_EPISODES: Final = 1024
"""Episodes of a compiled task that are timed."""

PROBE_S: Final = 4.0
"""Least time that the optimiser is timed, unless the search ends before; and that of the other
episodes, which are played one by one."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What parts of a search cost, in seconds."""

    episode_s: float
    """An episode, one beside others, on one core."""

    episode_steps: float
    """Env steps of that episode."""

    optimizer_s: float
    """The optimiser's time for a batch: tell and ask."""

    structure_s: float = 0.0
    """Time in which the structure of the policy is found, once."""

    message_s: float = MESSAGE_S
    """Time of the driver for a chunk."""

    return_s: float = RETURN_S
    """Latency of a call and its answer; more between machines."""


def measure(plan: Plan) -> Costs:
    """Return costs measured in this process.

    Episodes are those of the first batch that the optimiser asks for, where a robot may stand that
    falls at once by other weights. The optimiser is timed on random returns.
    """
    structure, structure_s = _structure(plan)
    first, optimizer_s = _optimizer(plan, structure)
    episode_s, episode_steps = _episode(plan, first)
    return Costs(
        episode_s=episode_s,
        episode_steps=episode_steps,
        optimizer_s=optimizer_s,
        structure_s=structure_s,
    )


def optimizer_time(plan: Plan) -> float:
    """Return the optimiser's mean seconds for a batch of a plan."""
    return _optimizer(plan, _structure(plan)[0])[1]


def _episode(plan: Plan, candidates: Float) -> tuple[float, float]:
    """Return seconds and env steps of an episode of candidates [q, D], asked for first."""
    number, seconds, episodes, steps = 0, 0.0, 0, 0
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
        steps += int(result.lengths.sum())
        if plan.compiled:
            break
    return seconds / episodes, steps / episodes


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
    batches = plan.batches
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
