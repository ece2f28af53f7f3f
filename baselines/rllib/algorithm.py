"""RLlib's Algorithm of all off-policy methods here: sample, keep, update, in turn."""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.utils.metrics import (
    ENV_RUNNER_SAMPLING_TIMER,
    LEARNER_RESULTS,
    LEARNER_UPDATE_TIMER,
    SYNCH_WORKER_WEIGHTS_TIMER,
    TIMERS,
)

from rolecast.baselines.rllib.config import OffPolicyConfig
from rolecast.baselines.rllib.learner import OffPolicyLearner
from rolecast.baselines.rllib.replay import Batch, ReplayRing
from rolecast.baselines.rllib.rounds import PROGRESS, JointAlgorithm
from rolecast.baselines.rllib.transitions import Fragment, joined

REPLAY: Final = "replay"
"""Component of a checkpoint that holds the replay."""

UPDATES: Final = "num_updates_lifetime"
"""Result under `learners/default_policy`: updates so far."""


class OffPolicy(JointAlgorithm):
    """Alternates rounds of sampling and of updates on what the replay keeps."""

    @classmethod
    def get_default_config(cls) -> AlgorithmConfig:
        """Return the settings of no method in particular."""
        return OffPolicyConfig()

    def setup(self, config: Any) -> None:
        """Make runners, learner and replay."""
        super().setup(config)
        settings = self.settings
        seed = 0 if settings.seed is None else int(settings.seed)
        self.ring = ReplayRing(settings.replay_capacity, seed)
        self._owed = 0.0

    @property
    def settings(self) -> OffPolicyConfig:
        """The config, as what it is."""
        assert isinstance(self.config, OffPolicyConfig)
        return self.config

    def get_state(
        self, components: Any = None, *, not_components: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return the state of a `JointAlgorithm`, the replay, and the updates owed."""
        state = super().get_state(components, not_components=not_components, **kwargs)
        if self._check_component(REPLAY, components, not_components):
            state[REPLAY] = self.ring.get_state() if self.settings.replay_in_checkpoints else None
        if PROGRESS in state:
            state[PROGRESS]["owed"] = self._owed
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on where an algorithm stood, in the middle of its episodes."""
        super().set_state(state)
        if state.get(REPLAY) is not None:
            self.ring.set_state(state[REPLAY])
        if PROGRESS in state:
            self._owed = float(state[PROGRESS]["owed"])

    def take_round(self) -> None:
        """Sample a fragment from every runner, then take the updates that are owed."""
        settings = self.settings
        with self.metrics.log_time((TIMERS, ENV_RUNNER_SAMPLING_TIMER)):
            fragments: list[Fragment] = self.sample_all()
        transitions = joined([fragment.transitions for fragment in fragments])
        self.log_round(len(transitions), [e for fragment in fragments for e in fragment.ended])
        self.ring.add(transitions)
        self.env_steps += len(transitions)
        if self.env_steps < settings.num_steps_sampled_before_learning_starts:
            return
        self._owed += len(transitions) * settings.updates_per_step
        updates = int(self._owed)
        if not updates or not len(self.ring):
            return
        self._owed -= updates
        with self.metrics.log_time((TIMERS, LEARNER_UPDATE_TIMER)):
            self._update(updates)
        with self.metrics.log_time((TIMERS, SYNCH_WORKER_WEIGHTS_TIMER)):
            self.send_weights()

    def _update(self, updates: int) -> None:
        """Take updates on batches drawn from the ring."""
        size = self.settings.train_batch_size_per_learner
        batches: Iterable[Batch] = (self.ring.draw(size) for _ in range(updates))
        if self.learner_group.is_remote:
            batches = list(batches)
        answers = self.learner_group.foreach_learner(partial(_take_updates, batches=batches))
        results = [answer.get() for answer in answers]
        for result in results:
            if isinstance(result, Exception):
                raise result
        self.metrics.aggregate(results, key=LEARNER_RESULTS)
        self.metrics.log_value(
            (LEARNER_RESULTS, DEFAULT_MODULE_ID, UPDATES), updates, reduce="lifetime_sum"
        )


def _take_updates(learner: OffPolicyLearner[Any], batches: Iterable[Batch]) -> dict[str, Any]:
    return learner.update_fast(batches)
