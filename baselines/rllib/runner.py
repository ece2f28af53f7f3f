"""RLlib's env runner for joint transitions: arrays in, arrays out, no episode objects between."""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import ray
import torch
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import (
    EPISODE_LEN_MEAN,
    EPISODE_RETURN_MEAN,
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_EPISODES,
    WEIGHTS_SEQ_NO,
)

from rolecast.baselines.rllib.environments import (
    check_fit,
    joint_spaces,
    own_action_sizes,
    task_of,
)
from rolecast.baselines.rllib.episodes import state_size_of
from rolecast.baselines.rllib.sampler import Act, Sampler
from rolecast.baselines.rllib.settings import root_seed
from rolecast.baselines.rllib.transitions import EndedEpisode, Fragment, Transitions
from rolecast.core.patience import Patience
from rolecast.core.types import Float32
from rolecast.envs.rewards.task import set_patience
from rolecast.envs.spec import BatchedTask

OBSERVED_RETURN_MEAN: Final = "observed_return_mean"
"""Result under `env_runners`: mean return of episodes as paid to the learner."""

EPISODE_RETURNS: Final = "episode_returns"
"""Result under `env_runners`: returns as earned of all episodes that ended since the last one."""

OBSERVED_RETURNS: Final = "observed_returns"
"""The same as paid."""


class JointEnvRunner(EnvRunner, Checkpointable):
    """Samples a batched task with the module's actions."""

    config: Any
    env: Any
    module: Any

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        """Make the task and the module; see RLlib's `EnvRunner`."""
        super().__init__(config=config, **kwargs)
        torch.set_num_threads(1)
        # The only runner and the first of several are one and the same.
        index = max((self.worker_index or 0) - 1, 0)
        self._stream = (root_seed(self.config.seed), index, 0, int(self.config.in_evaluation))
        self._generator = torch.Generator().manual_seed(_noise_seed(self._stream))
        self._weights_seq_no = 0
        self._evaluation: Sampler | None = None
        self._evaluation_env: Any = None
        self._patience = Patience()
        self.make_env()
        self.make_module()

    def make_env(self) -> None:
        """Make the task, and the sampler over it.

        Raises:
            RequestError: there is no such task, or the algorithm cannot learn in it.
        """
        self.env = self._new_env()
        check_fit(
            self.env, self.config.NAME, teams=self.config.TEAMS, discrete=self.config.DISCRETE
        )
        states = bool(self.config.reads_state)
        self._spaces = joint_spaces(
            self.env.spec,
            state_size_of(self.env) if states else 0,
            own_action_sizes(self.env),
        )
        self.sampler = self.make_sampler(states=states)

    def _new_env(self) -> BatchedTask:
        """Return a new task, whose steps that hang are ended."""
        env = task_of(self.config.env, self.config.env_config)
        set_patience(env, self._patience)
        return env

    def make_sampler(self, *, states: bool) -> Sampler:
        """Return the sampler of training episodes, with or without the task's states."""
        batch = self.config.num_envs_per_env_runner
        return Sampler(self.env, batch, self._stream, states=states)

    def make_module(self) -> None:
        """Make the networks that act."""
        spec = self.config.get_multi_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()
        self._net = self.module[DEFAULT_MODULE_ID]
        self._net.eval()

    def get_spaces(self) -> dict[str, Any]:
        """Return the joint spaces under each name that RLlib asks for."""
        names = (INPUT_ENV_SPACES, INPUT_ENV_SINGLE_SPACES, DEFAULT_MODULE_ID)
        return dict.fromkeys(names, self._spaces)

    def collect(self, steps: int, env_steps: int, stride: int) -> Fragment:
        """Collect the transitions of steps in all episodes, exploring ones unless `explore` is off.

        Args:
            steps: T.
            env_steps: of all runners so far, which ends the uniform actions.
            stride: env steps that all runners take in one step of this one.
        """
        self.num_env_steps_sampled_lifetime = env_steps
        act = self._explorer(env_steps, stride) if self.config.explore else self._act_greedily
        return self.sampler.collect(act, steps)

    def sample(
        self,
        *,
        num_timesteps: float | None = None,
        num_episodes: int | None = None,
        explore: bool | None = None,
        force_reset: bool = False,
        **_: Any,
    ) -> list[Transitions]:
        """Sample as RLlib asks for it: a number of env steps, or of whole episodes.

        Whole episodes are run beside the running ones, which go on undisturbed.
        """
        explore = self.config.explore if explore is None else explore
        env_steps = self.num_env_steps_sampled_lifetime
        batch = self.config.num_envs_per_env_runner
        act = self._explorer(env_steps, batch) if explore else self._act_greedily
        if num_episodes is not None:
            episodes = self._evaluator().play(act, num_episodes)
            self._log(episodes, sum(episode.steps for episode in episodes))
            return []
        if force_reset:
            self.sampler.forget()
        # RLlib divides the rest of an evaluation of "auto" length: it may be no whole number.
        steps = num_timesteps or self.config.get_rollout_fragment_length() * batch
        fragment = self.sampler.collect(act, math.ceil(steps / batch))
        self.num_env_steps_sampled_lifetime += len(fragment.transitions)
        self._log(fragment.ended, len(fragment.transitions))
        return [fragment.transitions]

    def get_metrics(self) -> Any:
        """Return the metrics of `sample` since the last call."""
        return self.metrics.reduce()

    def assert_healthy(self) -> None:
        """Raise where the task or the module is missing."""
        assert self.env is not None
        assert self.module is not None

    def stop(self) -> None:
        """Close the task, and that of evaluation where there is one."""
        self._patience.close()
        self.env.close()
        if self._evaluation_env is not None:
            self._evaluation_env.close()

    def begin_life(self, life: int) -> None:
        """Use other seeds and noise from here on: earlier ones may have been played already."""
        self.sampler.begin_life(life)
        self._generator.manual_seed(_noise_seed((*self._stream[:2], life, *self._stream[3:])))

    def sampling_state(self) -> dict[str, Any]:
        """Return what `set_sampling_state` needs: running episodes and the noise's state."""
        return {
            "sampler": self.sampler.get_state(),
            "generator": self._generator.get_state().numpy(),
        }

    def set_sampling_state(self, state: Mapping[str, Any]) -> None:
        """Go on with another runner's episodes."""
        self.sampler.set_state(state["sampler"])
        self._generator.set_state(torch.from_numpy(np.asarray(state["generator"])))

    def get_state(
        self, components: Any = None, *, not_components: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Return RLlib's state of a runner; that of its episodes is `sampling_state`."""
        state: dict[str, Any] = {
            NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime
        }
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take weights, unless newer ones are here, and counts.

        Args:
            state: named so by RLlib, which passes it by keyword.
        """
        if COMPONENT_RL_MODULE in state:
            number = state.get(WEIGHTS_SEQ_NO, 0)
            if number == 0 or number > self._weights_seq_no:
                weights = state[COMPONENT_RL_MODULE]
                if isinstance(weights, ray.ObjectRef):
                    weights = ray.get(weights)
                self.module.set_state(weights)
            self._weights_seq_no = max(number, self._weights_seq_no)
        if NUM_ENV_STEPS_SAMPLED_LIFETIME in state:
            self.num_env_steps_sampled_lifetime = state[NUM_ENV_STEPS_SAMPLED_LIFETIME]

    def restore_weights(self, state: dict[str, Any]) -> None:
        """Take weights though newer ones are here, and all that come after them."""
        self._weights_seq_no = 0
        self.set_state(state)

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[()], dict[str, Any]]:
        """Return the arguments of another such runner."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """Return the module, which saves itself."""
        return [(COMPONENT_RL_MODULE, self.module)]

    def _explorer(self, env_steps: int, stride: int) -> Act:
        """Return exploring actions as a function, which counts its steps from `env_steps` on.

        In evaluation no step is one of the first, whose actions would be uniform.
        """
        step = env_steps

        def act(observations: Float32, memory: Float32) -> Float32:
            nonlocal step
            out = self._net.forward_exploration(
                {Columns.OBS: torch.from_numpy(observations)},
                step=None if self.config.in_evaluation else step,
                memory=torch.from_numpy(memory),
                generator=self._generator,
            )
            step += stride
            actions: Float32 = out[Columns.ACTIONS].numpy()
            return actions

        return act

    def _act_greedily(self, observations: Float32, _: Float32) -> Float32:
        out = self._net.forward_inference({Columns.OBS: torch.from_numpy(observations)})
        actions: Float32 = out[Columns.ACTIONS].numpy()
        return actions

    def _evaluator(self) -> Sampler:
        """Return a sampler with a task of its own."""
        if self._evaluation is None:
            self._evaluation_env = self._new_env()
            stream = (*self._stream[:3], 1 + self._stream[3])
            batch = self.config.num_envs_per_env_runner
            self._evaluation = Sampler(self._evaluation_env, batch, stream)
        return self._evaluation

    def _log(self, ended: list[EndedEpisode], steps: int) -> None:
        log_episodes(self.metrics, (), ended)
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, steps, reduce="sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum")


def _noise_seed(stream: tuple[int, ...]) -> int:
    """Return the seed of the exploration noise of a stream of episodes."""
    return int(np.random.SeedSequence(stream).generate_state(1)[0])


def log_episodes(metrics: Any, prefix: tuple[str, ...], ended: list[EndedEpisode]) -> None:
    """Log episodes that ended under the names that RLlib's have; returns are as earned."""
    metrics.log_value((*prefix, NUM_EPISODES), len(ended), reduce="sum")
    for episode in ended:
        for name, value in (
            (EPISODE_RETURN_MEAN, episode.earned),
            (OBSERVED_RETURN_MEAN, episode.paid),
            (EPISODE_LEN_MEAN, episode.steps),
        ):
            metrics.log_value((*prefix, name), value, window=100)
        metrics.log_value((*prefix, EPISODE_RETURNS), episode.earned, reduce="item_series")
        metrics.log_value((*prefix, OBSERVED_RETURNS), episode.paid, reduce="item_series")
