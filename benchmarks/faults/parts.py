"""What a simulated search is made of: its plan, and who computes in place of processes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rolecast.benchmarks.faults.witness import WitnessConfig
from rolecast.benchmarks.faults.world import ProcessLost, World
from rolecast.core.types import Float, Seeds
from rolecast.envs.spec import TaskSpec
from rolecast.platform.optimizers.protocol import OptimizerConfig
from rolecast.platform.optimizers.registry import optimizer_config
from rolecast.platform.rollout.chunks import Chunk, ChunkResult
from rolecast.platform.rollout.evaluator import Evaluator, Stream
from rolecast.platform.search.planning.budget import Budget
from rolecast.platform.search.planning.config import SearchConfig
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.search.progress import ProgressSnapshot
from rolecast.platform.search.session import (
    BatchRequest,
    EvaluatedBatch,
    LocalSession,
    OptimizerReply,
)
from rolecast.policies.registry import make_policy

TASK_SPEC: Final = TaskSpec(
    id="simulated", agents=1, observation_size=2, action_size=1, horizon=5, homogeneous_agents=True
)
"""Sizes of a task that is only ever computed by `SimulatedEvaluator`."""

SMALL_PIECE: Final = 300
"""Bytes of a few batches, so that journals and tables of a schedule have several parts."""

EPISODE_COUNT: Final = 2
BATCH_SIZE: Final = 3

CALL_S: Final = 2e-3
"""Time of a call of the optimiser."""

SHORTEST_BATCH_S: Final = 0.02
LONGEST_BATCH_S: Final = 20.0
"""Between these lies the duration of a batch, log-uniform: some checkpoints are due, some not."""


@dataclass(frozen=True, kw_only=True)
class SearchKind:
    """One of the searches on which schedules strike."""

    optimizer: str
    """`witness`, or a name of the registry."""

    unit: str = "evaluations"
    """Of the budget."""

    design: int = 0
    """Candidates of an initial design."""

    normalise: bool = False
    """Whether the policy normalises observations."""

    evaluations: int = 30
    """The budget, or as many episodes' steps."""

    actors: bool = False
    """Whether rollout actors of a cluster compute, or this process."""

    fewer_episodes: bool = False
    """Whether the optimiser chooses the number of episodes."""


SEARCH_KINDS: Final = (
    SearchKind(optimizer="witness"),
    SearchKind(optimizer="witness", unit="env_steps", normalise=True, fewer_episodes=True),
    SearchKind(optimizer="witness", design=4, normalise=True),
    SearchKind(optimizer="witness", design=4, unit="env_steps", evaluations=45),
    SearchKind(optimizer="random", normalise=True),
    SearchKind(optimizer="cmaes", evaluations=42),
    SearchKind(optimizer="witness", actors=True),
    SearchKind(optimizer="witness", actors=True, normalise=True, design=4, fewer_episodes=True),
)
"""Schedules take them in turn."""


class SimulatedTask:
    """A task that has sizes and is never stepped."""

    spec = TASK_SPEC

    def reset(self, seeds: Seeds) -> Float:
        """Not called."""
        raise NotImplementedError

    def step(self, actions: Float) -> tuple[Float, Float, NDArray[np.bool_], Mapping[str, Float]]:
        """Not called."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to release."""


@cache
def plan_of(kind: SearchKind, out: str, seed: int = 0) -> Plan:
    """Return the plan of a kind of search into a folder."""
    task = SimulatedTask()
    options: dict[str, Any] = {"normalise": "running"} if kind.normalise else {}
    policy = make_policy("linear", task, **options)
    cost = EPISODE_COUNT * TASK_SPEC.horizon if kind.unit == "env_steps" else 1
    config = SearchConfig(
        task=TASK_SPEC.id,
        policy="linear",
        policy_options=options,
        optimizer="random" if kind.optimizer == "witness" else kind.optimizer,
        episodes=EPISODE_COUNT,
        batch_size=BATCH_SIZE,
        seed=seed,
        fewer_episodes=kind.fewer_episodes,
        out=out,
        test_episodes=3,
        env_steps=kind.evaluations * cost if kind.unit == "env_steps" else None,
        evaluations=kind.evaluations if kind.unit == "evaluations" else None,
    )
    optimizer: OptimizerConfig = WitnessConfig(design=kind.design)
    if kind.optimizer != "witness":
        optimizer = optimizer_config(kind.optimizer)
    design = np.random.default_rng(5).random((kind.design, policy.space.dimension))
    return Plan(
        config=config,
        source=TASK_SPEC.id,
        task=task,
        policy=policy,
        optimizer=optimizer,
        budget=Budget(
            unit="env_steps" if kind.unit == "env_steps" else "evaluations",
            total=kind.evaluations * cost,
            episodes=EPISODE_COUNT,
            episode_steps=TASK_SPEC.horizon,
            confirm_share=config.confirm_share,
        ),
        episodes=EPISODE_COUNT,
        batch_size=BATCH_SIZE,
        test_episodes=3,
        design=design if kind.design else None,
    )


def computed(chunk: Chunk) -> ChunkResult:
    """Return what a chunk gives: numbers that depend on weights and seeds alone."""
    phases = (chunk.seeds >> np.uint64(11)).astype(np.float64) / 2.0**53
    places = (chunk.candidates * np.arange(1, chunk.candidates.shape[1] + 1)).sum(axis=1)
    returns = np.sin(7.0 * places[:, None] + 3.0 * phases)
    lengths: NDArray[np.int64] = 1 + (chunk.seeds % np.uint64(TASK_SPEC.horizon)).astype(np.int64)
    observed = np.stack([phases, np.square(phases)], axis=-1)[..., None, :]
    steps = lengths[..., None, None].astype(np.float64)
    each = [np.ones_like(observed), observed, np.square(observed)]
    sums: Float = np.concatenate(each, axis=-2) * steps
    return ChunkResult(
        returns=returns,
        observed_returns=returns,
        lengths=lengths,
        metrics={"phase": phases},
        observations=observed[0][: chunk.record] if chunk.record else None,
        sums=None if chunk.statistics is None else sums,
        seconds=1e-3 * chunk.seeds.size,
    )


class SimulatedEvaluator:
    """Computes chunks at once, in simulated time."""

    workers = 1
    busy_s = 0.0
    nodes: Mapping[str, int] = {}

    def __init__(self, world: World) -> None:
        self._world = world

    def evaluate(self, chunks: Sequence[Chunk]) -> list[ChunkResult]:
        """Compute all chunks."""
        self._world.reach("evaluate")
        ratio = LONGEST_BATCH_S / SHORTEST_BATCH_S
        self._world.spend(SHORTEST_BATCH_S * ratio ** float(self._world.rng.random()))
        results = [computed(chunk) for chunk in chunks]
        self._world.reach("evaluated")
        return results

    def stream(self) -> Stream:
        """Refuse: a search that depends on time has no undisturbed history."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to release."""


class SimulatedSession(LocalSession):
    """An optimiser in a process that may be lost before and after each answer."""

    def __init__(self, config: OptimizerConfig, world: World, *, dimension: int, seed: int) -> None:
        world.reach("optimiser: build")
        super().__init__(config, dimension=dimension, seed=seed)
        self._world = world

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self._world.reach("optimiser: restore")
        super().restore(state)

    def tell_and_ask(
        self, told: EvaluatedBatch | None, wanted: BatchRequest | None, *, keep: bool = False
    ) -> OptimizerReply:
        """Tell, keep, ask."""
        self._world.reach("optimiser: call")
        self._world.spend(CALL_S)
        reply = super().tell_and_ask(told, wanted, keep=keep)
        self._world.reach("optimiser: answer")
        return replace(reply, ask_s=CALL_S / 2, tell_s=CALL_S / 2)


class SimulatedBackend:
    """Evaluator and optimiser of a simulated search."""

    losses: tuple[type[Exception], ...] = (ProcessLost,)
    workers = 1

    def __init__(self, world: World, evaluator: Evaluator) -> None:
        self._world, self.evaluator = world, evaluator

    def optimizer(self, config: OptimizerConfig, *, dimension: int, seed: int) -> SimulatedSession:
        """Return a new optimiser."""
        return SimulatedSession(config, self._world, dimension=dimension, seed=seed)

    def export(self, run: str, figures: ProgressSnapshot) -> None:
        """Show nothing."""

    def close(self) -> None:
        """End the actors."""
        self.evaluator.close()
