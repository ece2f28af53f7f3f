"""An experiment as a user writes one: a file, with a small learner of its own.

The learner climbs: it keeps a change of its weights if one episode paid more. It can be told to
be killed once, or to fail always, so that what happens then can be looked at.
"""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import unknown_name
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.envs.spec import BatchedTask, TaskSpec
from rolecast.platform.rollout.rollout import rollout
from rolecast.platform.tuning.experiment import Experiment
from rolecast.platform.tuning.learner import LearningMethod, Progress
from rolecast.platform.tuning.methods import LearnerMethod, SearchMethod
from rolecast.policies.protocol import Policy
from rolecast.policies.registry import make_policy

SETTINGS: Final = ("step", "trouble", "note")


@dataclass
class HillClimber:
    """One change of the weights an episode."""

    task: BatchedTask
    actor: Policy
    settings: Mapping[str, Any]
    seed: int
    best: float = float("-inf")
    weights: Float = field(default_factory=lambda: np.zeros(0))
    episodes: int = 0
    env_steps: int = 0

    def __post_init__(self) -> None:
        self.weights = self.actor.space.weights(np.full(self.parameters, 0.5))

    @property
    def parameters(self) -> int:
        return self.actor.space.size

    def train(self, env_steps: int) -> Progress:
        raw, paid = [], []
        while self.env_steps < env_steps:
            rng = np.random.default_rng([self.seed, self.episodes])
            change = rng.normal(size=self.parameters) * float(self.settings.get("step", 0.1))
            result = rollout(self.task, self.actor, (self.weights + change)[None], [self.episodes])
            if result.observed_returns[0, 0] > self.best:
                self.best, self.weights = result.observed_returns[0, 0], self.weights + change
            raw.append(float(result.returns[0, 0]))
            paid.append(float(result.observed_returns[0, 0]))
            self.episodes += 1
            self.env_steps += result.env_steps
        self.get_in_trouble()
        return Progress(env_steps=self.env_steps, returns=raw, observed_returns=paid)

    def get_in_trouble(self) -> None:
        """Fail as told, after half of 3000 steps."""
        trouble = self.settings.get("trouble")
        if trouble is None or self.env_steps < 1500:
            return
        note = Path(self.settings.get("note", ""))
        if trouble == "broken":
            raise OSError("the ladder broke")
        if not note.exists():
            note.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def policy(self) -> tuple[Policy, Float]:
        return self.actor, self.weights[None]

    def save(self, folder: Path) -> None:
        np.savez(folder / "climber.npz", w=self.weights, s=[self.best, self.episodes])

    def restore(self, folder: Path) -> None:
        saved = np.load(folder / "climber.npz")
        self.weights, self.best, self.episodes = (
            saved["w"],
            float(saved["s"][0]),
            int(saved["s"][1]),
        )
        self.env_steps = self.episodes * self.task.spec.horizon

    def close(self) -> None:
        self.task.close()


class Climbing:
    """Makes hill climbers."""

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        for name in settings:
            if name not in SETTINGS:
                raise unknown_name("setting of method 'climb'", name, SETTINGS)

    def start(
        self, task: str, settings: Mapping[str, Any], *, seed: int, workers: int, env_steps: int
    ) -> LearningMethod:
        made = make_task(task)
        return HillClimber(made, make_policy("mlp", made, hidden=[4]), settings, seed)


METHODS: Final = {"climb": Climbing()}

EXPERIMENT: Final = Experiment(
    name="climbing",
    tasks=("pred_prey_3",),
    rewards=("sparse=5",),
    methods=(
        SearchMethod(
            optimizer="cmaes",
            policy="mlp",
            policy_options={"hidden": [4]},
            episodes=4,
            batch_size=3,
        ),
        LearnerMethod(algorithm="climb"),
    ),
    seeds=1,
    env_steps=3_000,
    points=5,
    test_episodes=20,
    final_test_episodes=30,
    retries=1,
)
