"""RLlib's PPO for one agent or a team: its settings, and rounds over arrays of joint steps."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Final

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
from rolecast.baselines.ppo.module import PPOModule
from rolecast.baselines.ppo.sampler import PPOEnvRunner
from rolecast.baselines.rllib.networks import NETWORK_SIZES
from rolecast.baselines.rllib.rounds import JointAlgorithm
from rolecast.baselines.rllib.settings import SAMPLING_SETTINGS, NamedSettings
from rolecast.baselines.rllib.transitions import StepsFragment
from rolecast.core.errors import ConfigError
from rolecast.core.types import Float32
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    FINITE_NUMBER,
    LAYER_WIDTHS,
    NOT_NEGATIVE,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    UNIT_INTERVAL,
    Rule,
    Rules,
    one_of,
    or_none,
    or_schedule,
)

UNREAD_BY_PPO: Final[Mapping[str, object]] = MappingProxyType(
    {"use_gae": True, "use_critic": True, "grad_clip_by": "global_norm"}
)
"""Settings of RLlib's PPO with a single value here, and that value."""


class PPOConfig(NamedSettings, ppo.PPOConfig):
    """RLlib's PPO with the settings of its authors, one policy shared by all agents.

    `train_batch_size_per_learner` and `minibatch_size` count joint steps: of n agents, each has n
    rows. What differs from the authors is in the folder's README.

    Example:
        >>> config = PPOConfig().environment("pred_prey_3").training(size="small", lr=1e-3)
        >>> config.size, config.clip_param
        ('small', 0.2)
    """

    NAME = "ppo"
    TEAMS = True
    MODULE = PPOModule
    LEARNER: ClassVar[type[PPOLearner]] = PPOLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {
            "size": one_of(*NETWORK_SIZES),
            "hidden": or_none(LAYER_WIDTHS),
            "critic_hidden": or_none(LAYER_WIDTHS),
            "centralised_critic": BOOLEAN_VALUE,
            "use_state": BOOLEAN_VALUE,
            "initial_log_std": FINITE_NUMBER,
            "normalise_observations": BOOLEAN_VALUE,
            "value_decay": UNIT_INTERVAL,
            "adam_epsilon": POSITIVE_NUMBER,
        }
    )
    RLLIB_RULES: ClassVar[Rules] = MappingProxyType(
        {
            "gamma": UNIT_INTERVAL,
            "lambda_": UNIT_INTERVAL,
            "lr": or_schedule(POSITIVE_NUMBER),
            "clip_param": POSITIVE_NUMBER,
            "vf_clip_param": Rule(
                lambda value: value == math.inf or POSITIVE_NUMBER.allows(value),
                "a number > 0, or inf",
            ),
            "entropy_coeff": or_schedule(NOT_NEGATIVE),
            "grad_clip": or_none(POSITIVE_NUMBER),
            "num_epochs": POSITIVE_INTEGER,
            "minibatch_size": POSITIVE_INTEGER,
            "train_batch_size_per_learner": POSITIVE_INTEGER,
            "num_envs_per_env_runner": POSITIVE_INTEGER,
            "vf_loss_coeff": NOT_NEGATIVE,
            "use_kl_loss": BOOLEAN_VALUE,
            "kl_coeff": NOT_NEGATIVE,
            "kl_target": POSITIVE_NUMBER,
        }
    )
    TUNED = tuple(name for name in RLLIB_RULES if name not in SAMPLING_SETTINGS)

    env_runner_cls: Any
    lr: Any
    grad_clip: Any
    num_envs_per_env_runner: Any
    minibatch_size: Any
    train_batch_size_per_learner: Any

    use_kl_loss: Any
    """Whether the loss has a penalty on the KL divergence from the policy that acted."""

    kl_coeff: Any
    """Weight of that penalty at the start; of effect only with `use_kl_loss`."""

    kl_target: Any
    """KL divergence to which the weight is adapted; of effect only with `use_kl_loss`."""

    critic_hidden: tuple[int, ...] | None
    """Widths of the critic's hidden layers; None for 64, 64, or 400, 400 at size "xl"."""

    centralised_critic: bool
    """Whether the critic sees the observations of all agents (MAPPO), or each agent's own."""

    use_state: bool
    """Input of a centralised critic: the task's state, where it has one. False: all observations.
    It has no effect without a centralised critic."""

    initial_log_std: float
    """Logarithm of the actions' deviation at first; actions lie in [-1, 1]."""

    normalise_observations: bool
    """Whether the networks read observations by running mean and deviation."""

    value_decay: float
    """How much of the running mean and deviation of value targets outlives one batch."""

    adam_epsilon: float
    """Epsilon of Adam."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults.

        Args:
            algo_class: the algorithm to build; None for `PPO`.
        """
        super().__init__(algo_class=algo_class or PPO)  # type: ignore[no-untyped-call]  # RLlib's
        self.env_runner_cls = PPOEnvRunner
        self.num_env_runners = 0
        self.num_envs_per_env_runner = 8
        self.train_batch_size_per_learner = 2048
        self.gamma, self.lambda_ = 0.99, 0.95
        self.lr = 3e-4
        self.num_epochs, self.minibatch_size = 10, 64
        self.clip_param, self.vf_clip_param = 0.2, float("inf")
        self.use_kl_loss = False
        self.vf_loss_coeff, self.entropy_coeff = 0.5, 0.0
        self.grad_clip = 0.5
        self.size = "paper"
        self.hidden = self.critic_hidden = None
        self.paper_hidden = (64, 64)
        self.centralised_critic = False
        self.use_state = True
        self.initial_log_std = 0.0
        self.normalise_observations = True
        self.value_decay = 0.9
        self.adam_epsilon = 1e-5

    @property
    def reads_state(self) -> bool:
        """Whether the critic reads the task's state."""
        return self.centralised_critic and self.use_state

    def check_settings(self) -> None:
        """Refuse values that cannot be.

        Raises:
            ConfigError: names the setting, its value and what was expected.
        """
        super().check_settings()
        for name, read in UNREAD_BY_PPO.items():
            if getattr(self, name) != read:
                expected = f"{read!r}: this PPO has nothing else"
                raise ConfigError(f"{type(self).__name__}.{name}", getattr(self, name), expected)
        if self.minibatch_size > self.train_batch_size_per_learner:
            field = f"{type(self).__name__}.minibatch_size"
            expected = f"at most train_batch_size_per_learner, {self.train_batch_size_per_learner}"
            raise ConfigError(field, self.minibatch_size, expected)
        if not self.explore and not self.in_evaluation:
            expected = "True: PPO learns from actions that were drawn"
            raise ConfigError(f"{type(self).__name__}.explore", self.explore, expected)


class MAPPOConfig(PPOConfig):
    """PPO for teams, with a critic that sees what all agents see: MAPPO, Yu et al. 2022.

    Example:
        >>> MAPPOConfig().environment("pred_prey_3").centralised_critic
        True
    """

    NAME = "mappo"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class)
        self.centralised_critic = True


class IPPOConfig(PPOConfig):
    """Independent PPO for teams: `PPOConfig` by the name that teams know it by (Yu et al. 2022).

    Example:
        >>> IPPOConfig().environment("pred_prey_3").centralised_critic
        False
    """

    NAME = "ippo"


class PPO(JointAlgorithm, ppo.PPO):
    """Alternates rounds of sampling and of epochs over what was sampled."""

    CONFIG = PPOConfig

    def round_steps(self) -> int:
        """Return T of a whole batch, which RLlib's `rollout_fragment_length` does not cut."""
        batch: int = self.settings.total_train_batch_size
        return -(-batch // self.joint_step())

    def take_round(self) -> None:
        """Sample a fragment from every runner, then learn from all of them together.

        What the budget has left may be less than a minibatch; nothing is learned from it then.
        """
        cut = self.next_steps() < self.round_steps()
        with self.metrics.log_time((TIMERS, ENV_RUNNER_SAMPLING_TIMER)):
            fragments: list[StepsFragment] = self.sample_all()
        env_steps = sum(fragment.env_steps for fragment in fragments)
        self.log_round(env_steps, [end for fragment in fragments for end in fragment.ended])
        self.env_steps += env_steps
        if cut and env_steps < self.settings.minibatch_size:
            return
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
