"""The env runner of PPO: RLlib's for joint steps, with steps kept in their order."""

from rolecast.baselines.ppo.sampler import StepsFragment, StepsSampler
from rolecast.baselines.rllib.runner import JointEnvRunner


class PPOEnvRunner(JointEnvRunner):
    """Samples a batched task with the module's actions."""

    sampler: StepsSampler

    def make_env(self) -> None:
        """Make the task, and the sampler over it; see `JointEnvRunner.make_env`."""
        super().make_env()
        self.sampler = StepsSampler(self.env, self.config.num_envs_per_env_runner, self._stream)

    def collect(self, steps: int, env_steps: int, stride: int) -> StepsFragment:  # type: ignore[override]  # steps in their order, not transitions
        """Return what some exploring steps of all episodes bring.

        Args:
            steps: T.
            env_steps: of all runners before.
            stride: env steps that all runners take in one step of this one.
        """
        self.num_env_steps_sampled_lifetime = env_steps
        return self.sampler.record(self._explorer(env_steps, stride), steps)
