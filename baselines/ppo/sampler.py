"""Samples steps in the order in which they happened, with actions as they were drawn."""

import numpy as np

from rolecast.baselines.rllib.episodes import Flags, Step
from rolecast.baselines.rllib.runner import JointEnvRunner
from rolecast.baselines.rllib.sampler import Sampler
from rolecast.baselines.rllib.transitions import StepsFragment
from rolecast.core.types import Float32


class StepsSampler(Sampler):
    """A sampler that keeps actions as they were drawn: a learner needs their probability.

    Tasks are given actions clipped to [-1, 1].
    """

    def _take(self, actions: Float32, played: Flags) -> Step:
        return super()._take(np.clip(actions, -1.0, 1.0), played)


class PPOEnvRunner(JointEnvRunner):
    """Samples a batched task with the module's actions."""

    sampler: StepsSampler

    def make_sampler(self, *, states: bool) -> StepsSampler:
        """Return the sampler of training episodes, with or without the task's states."""
        batch = self.config.num_envs_per_env_runner
        return StepsSampler(self.env, batch, self._stream, states=states)

    def collect(self, steps: int, env_steps: int, stride: int) -> StepsFragment:  # type: ignore[override]  # steps in their order, not transitions
        """Return what some exploring steps of all episodes bring.

        Args:
            steps: T.
            env_steps: of all runners before.
            stride: env steps that all runners take in one step of this one.
        """
        self.num_env_steps_sampled_lifetime = env_steps
        return self.sampler.record(self._explorer(env_steps, stride), steps)
