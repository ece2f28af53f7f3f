"""Samples steps in the order in which they happened, as estimates of what followed need it."""

from dataclasses import dataclass

import numpy as np

from rolecast.baselines.rllib.episodes import Step
from rolecast.baselines.rllib.runner import JointEnvRunner
from rolecast.baselines.rllib.sampler import Act, Sampler
from rolecast.baselines.rllib.transitions import EndedEpisode
from rolecast.core.types import Float32


@dataclass(frozen=True, kw_only=True)
class StepsFragment:
    """What a runner brings back from one round."""

    samples: dict[str, Float32]
    """Arrays [T, B, ...], named as the fields of `rolecast.baselines.ppo.learner.Steps`."""

    ended: list[EndedEpisode]
    """Episodes that ended on the way."""

    @property
    def env_steps(self) -> int:
        """Joint steps of running episodes."""
        return int(self.samples["live"].sum())


class StepsSampler(Sampler):
    """A sampler that keeps steps and episodes apart, and actions as they were drawn.

    Tasks are given actions clipped to [-1, 1]; a learner needs the probability of those drawn.
    """

    def record(self, act: Act, steps: int) -> StepsFragment:
        """Advance all episodes by some steps.

        Args:
            act: chooses actions, of any size.
            steps: T >= 1.
        """
        spec, (batch, *_) = self.spec, self._shape
        shapes = {
            "observations": (spec.agents, spec.observation_size),
            "actions": (spec.agents, spec.action_size),
            "rewards": (spec.agents,),
            "next_observations": (spec.agents, spec.observation_size),
            "states": (self._state_size,),
            "next_states": (self._state_size,),
            "terminated": (),
            "ended": (),
            "live": (),
        }
        samples = {
            name: np.empty((steps, batch, *shape), dtype=np.float32)
            for name, shape in shapes.items()
        }
        ended: list[EndedEpisode] = []
        for t in range(steps):
            self._ensure_running()
            live = ~self._resting
            samples["observations"][t] = self._observations
            samples["states"][t] = self._states()
            step, actions = self._advance(act)
            over = live & step.done
            for name, rows in (
                ("actions", actions),
                ("rewards", step.rewards),
                ("next_observations", step.observations),
                ("next_states", self._states()),
                ("terminated", step.terminated),
                ("ended", over | ~live),
                ("live", live),
            ):
                samples[name][t] = rows
            ended += [episode for _, episode in self._end(over)]
        return StepsFragment(samples=samples, ended=ended)

    def _take(self, actions: Float32) -> Step:
        return super()._take(np.clip(actions, -1.0, 1.0))


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
