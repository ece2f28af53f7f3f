"""One algorithm in one trial of a comparison: trained to a point, scored, saved, resumed."""

import logging
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from ray.rllib.core import (
    COMPONENT_LEARNER,
    COMPONENT_LEARNER_GROUP,
    COMPONENT_RL_MODULE,
    DEFAULT_MODULE_ID,
)
from ray.rllib.core.rl_module.rl_module import RLModule
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME

from rolecast.baselines.budget_shares import LARGEST_BUDGET_SHARES, within_shares
from rolecast.baselines.registry import algorithm_config
from rolecast.baselines.rllib.actor_policy import ActingNet, ActorPolicy
from rolecast.baselines.rllib.algorithm import OffPolicyConfig
from rolecast.baselines.rllib.augment import SymmetryAugmentation
from rolecast.baselines.rllib.environments import check_fit
from rolecast.baselines.rllib.episodes import state_size_of
from rolecast.baselines.rllib.runner import EPISODE_RETURNS, OBSERVED_RETURNS
from rolecast.baselines.rllib.transitions import transition_size
from rolecast.baselines.teams import TeamConfig
from rolecast.core.errors import RequestError
from rolecast.core.memory import require_room
from rolecast.core.types import Float
from rolecast.envs.registry import make_task
from rolecast.envs.spec import TaskSpec
from rolecast.platform.tuning.learner import Progress

CHECKPOINT_FOLDER: Final = "algorithm"
"""Folder of RLlib's checkpoint in that of the trial."""


def check_trial(name: str, task: TaskSpec, settings: Mapping[str, Any]) -> None:
    """Refuse settings or a task that an algorithm cannot have.

    Raises:
        RequestError: an unknown setting, a value out of its range, settings that RLlib refuses
            together, or a task that does not fit.
    """
    config = algorithm_config(name)().tuned(settings)
    _validate(config)
    with closing(make_task(task.id)) as made:
        check_fit(made, config.NAME, teams=config.TEAMS, discrete=config.DISCRETE)
    if getattr(config, "symmetries", False):
        SymmetryAugmentation.of_task(made.spec)


def check_replay(name: str, task: TaskSpec, settings: Mapping[str, Any], env_steps: int) -> None:
    """Refuse a trial whose replay memory cannot hold; one without a replay passes.

    A replay that is saved with a checkpoint is there twice while that is written.

    Args:
        name: of the algorithm.
        task: sizes.
        settings: as `check_trial` accepted them.
        env_steps: its whole budget.
    Raises:
        ConfigError: names `replay_capacity`, the memory that it needs, and what is free.
    """
    config = algorithm_config(name)().tuned(settings)
    if not isinstance(config, OffPolicyConfig):
        return
    if isinstance(config, TeamConfig):
        config.suit(task.horizon)
    state_size = 0
    if config.reads_state:
        with closing(make_task(task.id)) as made:
            state_size = state_size_of(made)
    copies = 2 if config.replay_in_checkpoints else 1
    transitions = copies * min(config.replay_capacity, env_steps)
    needed = np.dtype(np.float32).itemsize * transitions * transition_size(task, state_size)
    field = f"{type(config).__name__}.replay_capacity"
    require_room(field, config.replay_capacity, needed, "fewer")


def _validate(config: Any) -> None:
    """Validate a config as `build_algo` does, without RLlib's advice on its API stacks.

    Raises:
        RequestError: a setting of ours, or the first sentence of what RLlib says.
    """
    log = logging.getLogger("ray.rllib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        config.validate()
    except RequestError:
        raise
    except ValueError as error:
        first, *_ = re.split(r"(?<=[.!])\s", str(error), maxsplit=1)
        raise RequestError(first.rstrip(".!")) from error
    finally:
        log.setLevel(level)


def configured(name: str, task: str, settings: Mapping[str, Any]) -> Any:
    """Return the config of an algorithm for a task, with its authors' settings where none is given.

    A team's algorithm that was published with settings for short and for long tasks takes those
    that suit the task, as `build_algo` does.
    """
    config = algorithm_config(name)().environment(task).tuned(settings)
    if isinstance(config, TeamConfig):
        with closing(make_task(task)) as made:
            config.suit(made.spec.horizon)
    return config


def learnt_policy(name: str, folder: Path, settings: Mapping[str, Any]) -> ActorPolicy:
    """Return the policy that a trial has saved, without its algorithm.

    Args:
        name: of the algorithm.
        folder: as `LearnerTrial.save` was given; what it holds is run, by pickle.
        settings: of the algorithm.
    """
    kept = folder / CHECKPOINT_FOLDER / COMPONENT_LEARNER_GROUP / COMPONENT_LEARNER
    path = kept / COMPONENT_RL_MODULE / DEFAULT_MODULE_ID
    net = cast(ActingNet, RLModule.from_checkpoint(str(path.resolve())))
    return ActorPolicy(name, net, settings)


class LearnerTrial:
    """An RLlib algorithm of ours; see `rolecast.platform.tuning.learner.LearningMethod`."""

    def __init__(
        self,
        name: str,
        task: str,
        settings: Mapping[str, Any],
        *,
        seed: int,
        workers: int,
        env_steps: int,
    ) -> None:
        """Build the algorithm; see `MethodFactory.start`.

        Raises:
            RequestError: the budget is below one joint step of all episodes, or RLlib refuses the
                settings with this number of runners.
        """
        config = configured(name, task, settings)
        # Settings that the user gave stay.
        authors = {
            field: getattr(config, field)
            for field in LARGEST_BUDGET_SHARES
            if field in config.RULES and field not in settings
        }
        config.training(**within_shares(authors, env_steps))
        config.env_runners(num_env_runners=workers).debugging(seed=seed)
        joint_step = max(workers, 1) * config.num_envs_per_env_runner
        if joint_step > env_steps:
            raise RequestError(
                f"one joint step of all episodes is {joint_step} env steps "
                f"(num_envs_per_env_runner is {config.num_envs_per_env_runner}, env runners: "
                f"{max(workers, 1)}); expected at most the budget, {env_steps}"
            )
        # One call of `train` goes to the point that was asked for, and no further.
        config.reporting(min_sample_timesteps_per_iteration=0, min_time_s_per_iteration=0)
        self._name, self._settings = name, dict(settings)
        _validate(config)
        self._algorithm: Any = config.build_algo()
        self._algorithm.budget = env_steps
        self._env_steps = 0

    @property
    def parameters(self) -> int:
        """Number of parameters of the policy that acts."""
        modules = self._algorithm.get_module(DEFAULT_MODULE_ID).acting_modules()
        return sum(p.numel() for module in modules for p in module.parameters())

    def train(self, env_steps: int) -> Progress:
        """Learn until this total of env steps, or beyond it by one round of sampling at most."""
        earned: list[float] = []
        paid: list[float] = []
        self._algorithm.pause_at = env_steps
        while self._env_steps < env_steps:
            result = self._algorithm.train()[ENV_RUNNER_RESULTS]
            self._env_steps = int(result[NUM_ENV_STEPS_SAMPLED_LIFETIME])
            # RLlib hands over a series of one as its only item.
            earned += np.atleast_1d(result.get(EPISODE_RETURNS, [])).tolist()
            paid += np.atleast_1d(result.get(OBSERVED_RETURNS, [])).tolist()
        return Progress(env_steps=self._env_steps, returns=earned, observed_returns=paid)

    def policy(self) -> tuple[ActorPolicy, Float]:
        """Return the policy without exploration, and its weights [1, D]."""
        state = self._algorithm.learner_group.get_state(
            components=f"{COMPONENT_LEARNER}/{COMPONENT_RL_MODULE}", inference_only=True
        )
        net = self._algorithm.get_module(DEFAULT_MODULE_ID)
        net.set_state(state[COMPONENT_LEARNER][COMPONENT_RL_MODULE][DEFAULT_MODULE_ID])
        policy = ActorPolicy(self._name, net, self._settings)
        return policy, policy.weights

    def save(self, folder: Path) -> None:
        """Write RLlib's checkpoint, with replay and running episodes, into a folder that exists."""
        self._algorithm.save_to_path(str((folder / CHECKPOINT_FOLDER).resolve()))

    def restore(self, folder: Path) -> None:
        """Continue as the one that `save` was called on would have."""
        self._algorithm.restore_from_path(str((folder / CHECKPOINT_FOLDER).resolve()))
        results = (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME)
        self._env_steps = int(self._algorithm.metrics.peek(results, default=0))

    def close(self) -> None:
        """End the algorithm and its runners."""
        self._algorithm.stop()
