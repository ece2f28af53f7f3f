"""What is timed when learners are: our algorithms, RLlib's own SAC, and bare torch.

A side takes updates when it is called, and says how many. Whole loops take a step in the task for
each update; the baselines are reached by name, as the arrows of the design have it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from rolecast.benchmarks.speed.bare_torch import BARE_LEARNERS, Memory

TIMED_TASK: Final = "Pendulum-v1"
OBSERVED, ACTED = 3, 1
TEAM_TASK: Final = "pred_prey_3"
TRAIN_BATCH: Final = 256
WARM_UP: Final = 300
"""Env steps before the first update."""

CALL_UPDATES: Final = 24
"""Updates, or env steps, of one call of a side."""

LOOP, ALONE, BARE_LOOP, STOCK = "whole loop", "learner alone", "bare torch", "RLlib's SAC"


@dataclass(frozen=True, kw_only=True)
class LearningLoop:
    """One way to learn."""

    algorithm: str
    """Its name among our algorithms; "sac" for RLlib's."""

    hidden: tuple[int, ...]
    """Widths of all networks; empty for a team's defaults."""

    what: str
    """LOOP, ALONE, BARE_LOOP or STOCK."""

    take: Callable[[], int]
    """Takes some updates, warmed up before; returns how many, or env steps for a team's LOOP."""

    @property
    def name(self) -> str:
        """Unique in all that is measured."""
        nets = "-".join(map(str, self.hidden)) or "default nets"
        return f"{self.algorithm}, {nets}, {self.what}"


class Ours:
    """One of our algorithms on a task."""

    def __init__(self, name: str, task: str, settings: dict[str, Any]) -> None:
        """Build it, and go on until it updates; needs a Ray that runs.

        Args:
            name: of the algorithm.
            task: task id.
            settings: of its `training`.
        """
        registry = import_module("rolecast.baselines.registry")
        config = registry.algorithm_config(name)().environment(task).training(**settings)
        config.reporting(min_sample_timesteps_per_iteration=0).debugging(seed=1)
        self._algorithm: Any = config.build_algo()
        self._batch = config.train_batch_size_per_learner
        group = self._algorithm.learner_group
        (self._learner,) = (told.get() for told in group.foreach_learner(lambda local: local))
        while not self._learner.updates:
            self.whole()

    def whole(self) -> int:
        """Step in the task and learn as it does; return env steps."""
        algorithm, before = self._algorithm, self._algorithm.env_steps
        algorithm.pause_at = before + CALL_UPDATES
        algorithm.train()
        steps: int = algorithm.env_steps - before
        return steps

    def alone(self) -> int:
        """Take updates on draws from the replay; return how many."""
        buffer = self._algorithm.replay
        self._learner.update_fast(buffer.sample(self._batch) for _ in range(CALL_UPDATES))
        return CALL_UPDATES

    def close(self) -> None:
        """End it."""
        self._algorithm.stop()


class Stock:
    """RLlib's own SAC with its default replay and settings, but for networks and warm-up."""

    def __init__(self, hidden: tuple[int, ...]) -> None:
        """Build it, and go on until it updates; needs a Ray that runs.

        Args:
            hidden: widths of all networks.
        """
        from ray.rllib.algorithms.sac import SACConfig
        from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

        made: Any = SACConfig
        config = made().environment(TIMED_TASK)
        config.training(
            train_batch_size_per_learner=TRAIN_BATCH,
            num_steps_sampled_before_learning_starts=WARM_UP,
        )
        config.reporting(
            min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=CALL_UPDATES // 2
        )
        config.env_runners(num_env_runners=0).debugging(seed=1)
        config.rl_module(
            model_config=DefaultModelConfig(
                fcnet_hiddens=list(hidden), fcnet_activation="relu", head_fcnet_hiddens=[]
            )
        )
        self._algorithm: Any = config.build_algo()
        self._updates = 0
        while not self._updates:
            self.whole()
        self.whole()

    def whole(self) -> int:
        """Step in the task and learn as it does; return updates."""
        learnt = self._algorithm.train().get("learners")
        if not learnt:
            return 0
        rows = learnt["__all_modules__"]["num_env_steps_trained_lifetime"]
        before, self._updates = self._updates, round(rows / TRAIN_BATCH)
        return self._updates - before

    def close(self) -> None:
        """End it."""
        self._algorithm.stop()


def bare(name: str, hidden: tuple[int, ...]) -> LearningLoop:
    """Return an algorithm in bare torch."""
    update = BARE_LEARNERS[name](Memory(OBSERVED, ACTED, TRAIN_BATCH), hidden).update

    def take() -> int:
        for _ in range(CALL_UPDATES):
            update()
        return CALL_UPDATES

    take()
    return LearningLoop(algorithm=name, hidden=hidden, what=BARE_LOOP, take=take)
