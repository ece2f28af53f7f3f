"""RLlib's PPO, fed with arrays of joint steps."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from ray.rllib.algorithms.ppo import ppo
from ray.rllib.utils.metrics import (
    ENV_RUNNER_SAMPLING_TIMER,
    LEARNER_RESULTS,
    LEARNER_UPDATE_TIMER,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    SYNCH_WORKER_WEIGHTS_TIMER,
    TIMERS,
)

from rolecast.baselines.ppo.learner import PPOLearner
from rolecast.baselines.ppo.sampler import StepsFragment
from rolecast.baselines.rllib.rounds import JointAlgorithm
from rolecast.core.types import Float32

if TYPE_CHECKING:
    from rolecast.baselines.ppo.config import PPOConfig


class PPO(JointAlgorithm, ppo.PPO):
    """Alternates rounds of sampling and of epochs over what was sampled."""

    @classmethod
    def get_default_config(cls) -> "PPOConfig":
        """Return the default settings."""
        from rolecast.baselines.ppo.config import PPOConfig

        return PPOConfig()

    def take_round(self) -> None:
        """Sample a fragment from every runner, then learn from all of them together."""
        with self.metrics.log_time((TIMERS, ENV_RUNNER_SAMPLING_TIMER)):
            fragments: list[StepsFragment] = self.sample_all()
        env_steps = sum(fragment.env_steps for fragment in fragments)
        self.log_round(env_steps, [end for fragment in fragments for end in fragment.ended])
        self.env_steps += env_steps
        with self.metrics.log_time((TIMERS, LEARNER_UPDATE_TIMER)):
            self._learn(side_by_side(fragments))
        with self.metrics.log_time((TIMERS, SYNCH_WORKER_WEIGHTS_TIMER)):
            self.send_weights()

    def _learn(self, samples: Mapping[str, Float32]) -> None:
        """Run all epochs over samples of all runners."""
        timesteps = {NUM_ENV_STEPS_SAMPLED_LIFETIME: self.env_steps}
        call = partial(_learn, samples=samples, timesteps=timesteps)
        results = [answer.get() for answer in self.learner_group.foreach_learner(call)]
        for result in results:
            if isinstance(result, Exception):
                raise result
        self.metrics.aggregate(results, key=LEARNER_RESULTS)


def side_by_side(fragments: Sequence[StepsFragment]) -> dict[str, Float32]:
    """Return the samples of all runners as those of one, their episodes side by side."""
    return {
        name: np.concatenate([fragment.samples[name] for fragment in fragments], axis=1)
        for name in fragments[0].samples
    }


def _learn(
    learner: PPOLearner, samples: Mapping[str, Float32], timesteps: Mapping[str, int]
) -> Any:
    return learner.learn(samples, timesteps)
