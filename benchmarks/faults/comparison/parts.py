"""What a simulated comparison is made of: its experiment, a learner, and the score of a policy."""

import hashlib
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np

from rolecast.benchmarks.faults.disk import SimulatedDisk
from rolecast.benchmarks.faults.parts import (
    TASK_SPEC,
    SearchKind,
    SimulatedBackend,
    SimulatedEvaluator,
    SimulatedTask,
    plan_of,
)
from rolecast.benchmarks.faults.world import World
from rolecast.core.errors import RunError
from rolecast.core.types import Float, Seeds
from rolecast.platform.search.planning.plan import Plan
from rolecast.platform.tuning.experiment import Experiment, TrialPlan
from rolecast.platform.tuning.learner import Progress
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.platform.tuning.record import TrialFolder
from rolecast.platform.tuning.runners import LearnerRunner, MethodRunner, SearchRunner
from rolecast.platform.tuning.trial import TrialRun
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

EXPERIMENT: Final = Experiment(
    name="simulated",
    tasks=(TASK_SPEC.id,),
    methods=(
        SearchMethod(label="witness", optimizer="random"),
        SearchMethod(label="random", optimizer="random"),
        LearnerMethod(label="learner", algorithm="ppo"),
    ),
    seeds=1,
    env_steps=60,
    points=3,
    test_episodes=2,
    final_test_episodes=3,
)
"""Two searches and a learner; what they really run is said here."""

COMPARED_SEARCHES: Final = {
    "witness": SearchKind(optimizer="witness", evaluations=15),
    "random": SearchKind(optimizer="random", evaluations=12, normalise=True),
}
"""Search of each label."""

TRAINING_S: Final = 5.0
"""Longest time of training to a point, and of scoring."""

STATE_FILES: Final = ("digest", "steps")
"""Files of a learner's state, each useless without the other."""


class SimulatedLearner:
    """A learner that is the digest of all its training; one lost step changes all that follows."""

    def __init__(self, world: World, disk: SimulatedDisk, seed: int) -> None:
        self._world, self._disk = world, disk
        self._digest = hashlib.blake2b(b"learner %d" % seed).digest()
        self._steps = 0

    @property
    def parameters(self) -> int:
        """Number of parameters of its policy."""
        return _policy().space.dimension

    def train(self, env_steps: int) -> Progress:
        """Learn until this total of steps."""
        self._world.reach("learner: train")
        self._world.spend(TRAINING_S * float(self._world.rng.random()))
        returns = []
        while self._steps < env_steps:
            self._steps += TASK_SPEC.horizon
            self._digest = hashlib.blake2b(self._digest).digest()
            returns.append(self._digest[0] / 256.0)
        self._world.reach("learner: trained")
        return Progress(env_steps=self._steps, returns=returns, observed_returns=returns)

    def policy(self) -> tuple[Policy, Float]:
        """Return its policy, and weights drawn from the digest."""
        rng = np.random.default_rng(np.frombuffer(self._digest, dtype=np.uint64))
        return _policy(), rng.random((1, self.parameters))

    def save(self, folder: Path) -> None:
        """Write the state, in two files that nobody has asked to be durable."""
        state = self._digest.hex(), f"{self._steps} {self._digest.hex()}"
        for name, text in zip(STATE_FILES, state, strict=True):
            self._disk.create(folder / name, text.encode())

    def restore(self, folder: Path) -> None:
        """Continue from a state.

        Raises:
            RunError: it is not whole.
        """
        digest, steps = (self._disk.read(folder / name).decode() for name in STATE_FILES)
        if steps.split()[1:] != [digest]:
            raise RunError(f"the learner of {folder} is not whole")
        self._digest, self._steps = bytes.fromhex(digest), int(steps.split()[0])

    def close(self) -> None:
        """Nothing to release."""


@cache
def _policy() -> Policy:
    return make_policy("linear", SimulatedTask())


def trial_run(plan: TrialPlan, work: TrialFolder, world: World, disk: SimulatedDisk) -> TrialRun:
    """Return the real trial of a plan, with simulated parts."""
    start = partial(_runner, plan, work, world, disk)
    return TrialRun(EXPERIMENT, work, start, partial(_score, world))


def _runner(plan: TrialPlan, work: TrialFolder, world: World, disk: SimulatedDisk) -> MethodRunner:
    """Return the real runner of a search or a learner."""

    def backend(_: Plan) -> SimulatedBackend:
        return SimulatedBackend(world, SimulatedEvaluator(world))

    if plan.method in COMPARED_SEARCHES:
        search = plan_of(COMPARED_SEARCHES[plan.method], str(work.run), plan.seed)
        return SearchRunner(search, backend, EXPERIMENT.points, work)
    return LearnerRunner(SimulatedLearner(world, disk, plan.seed), EXPERIMENT, work)


def _score(
    world: World, policy: Policy, weights: Float, seeds: Seeds
) -> tuple[float, float | None]:
    """Return numbers that depend on weights and seeds alone."""
    del policy
    world.reach("score")
    world.spend(TRAINING_S * float(world.rng.random()))
    phases = (seeds >> np.uint64(11)).astype(np.float64) / 2.0**53
    returns = np.sin(9.0 * weights.sum() + 3.0 * phases)
    return float(returns.mean()), float(returns.std(ddof=1))
