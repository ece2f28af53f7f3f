"""Settings of PPO for one agent or a team: RLlib's own, and those of networks and normalisation."""

from collections.abc import Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any, ClassVar, Self

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.algorithms.ppo.ppo import PPOConfig as RLlibPPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from rolecast.baselines.joint.networks import SIZES
from rolecast.baselines.ppo.learner import PPOLearner
from rolecast.baselines.ppo.module import PPOModule
from rolecast.baselines.ppo.runner import PPOEnvRunner
from rolecast.baselines.rules import (
    COUNT,
    FLAG,
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    UNIT,
    WIDTHS,
    Rules,
    check,
    one_of,
)
from rolecast.envs.errors import ConfigError, unknown_name

RLLIB_RULES: Rules = MappingProxyType(
    {
        "gamma": UNIT,
        "lambda_": UNIT,
        "clip_param": POSITIVE,
        "num_epochs": COUNT,
        "minibatch_size": COUNT,
        "train_batch_size_per_learner": COUNT,
        "num_envs_per_env_runner": COUNT,
        "vf_loss_coeff": NOT_NEGATIVE,
        "kl_coeff": NOT_NEGATIVE,
    }
)
"""RLlib's own settings that matter here, and that are checked as ours are."""


class PPOConfig(RLlibPPOConfig):
    """RLlib's PPO with the settings of its authors, one policy shared by all agents.

    `train_batch_size_per_learner` and `minibatch_size` count joint steps: of n agents, each has n
    rows. What differs from the authors is in the folder's README.

    Example:
        >>> config = PPOConfig().environment("pred_prey_3").training(size="small", lr=1e-3)
        >>> config.size, config.clip_param
        ('small', 0.2)
    """

    NAME: ClassVar[str] = "ppo"
    """Name in `rolecast.baselines.registry`."""

    TEAMS: ClassVar[bool] = True
    """It takes tasks of several agents."""

    MODULE: ClassVar[type[PPOModule]] = PPOModule
    """The networks."""

    LEARNER: ClassVar[type[PPOLearner]] = PPOLearner
    """The losses."""

    RULES: ClassVar[Rules] = MappingProxyType(
        {
            "size": one_of(*SIZES),
            "hidden": WIDTHS,
            "critic_hidden": WIDTHS,
            "centralised_critic": FLAG,
            "initial_log_std": NUMBER,
            "normalise_observations": FLAG,
            "value_decay": UNIT,
            "adam_epsilon": POSITIVE,
        }
    )
    """Every setting that is ours, and the values it may have."""

    env_runner_cls: Any
    lr: Any
    grad_clip: Any
    num_envs_per_env_runner: Any
    minibatch_size: Any
    train_batch_size_per_learner: Any

    size: str
    """Of the policy's network, one of `SIZES`: "small", "paper", "xl"."""

    hidden: tuple[int, ...] | None
    """Widths of the policy's hidden layers, instead of those of `size`; None for these."""

    paper_hidden: tuple[int, ...]
    """Widths of the policy of the algorithm's authors."""

    critic_hidden: tuple[int, ...] | None
    """Widths of the critic's hidden layers; None for 64, 64, or 400, 400 at size "xl"."""

    centralised_critic: bool
    """Whether the critic sees the observations of all agents (MAPPO), or each agent's own."""

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
        from rolecast.baselines.ppo.algorithm import PPO

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
        self.initial_log_std = 0.0
        self.normalise_observations = True
        self.value_decay = 0.9
        self.adam_epsilon = 1e-5

    def training(self, **settings: Any) -> Self:
        """Set what concerns learning.

        Args:
            settings: fields of this class, or what the `training` of RLlib's PPO takes.

        Raises:
            RequestError: there is no such setting; names the nearest.
        """
        known = {*self.RULES, *rllib_training_settings()}
        for name in settings:
            if name not in known:
                raise unknown_name(f"setting of {self.NAME}", name, known)
        super().training(**{name: settings[name] for name in settings if name not in self.RULES})
        for name in self.RULES:
            if name in settings:
                setattr(self, name, settings[name])
        return self

    def tuned(self, settings: Mapping[str, Any]) -> Self:
        """Set by name what a comparison may change: `training`'s, and episodes side by side.

        Raises:
            RequestError: there is no such setting, or its value cannot be.
        """
        sampling = ("num_envs_per_env_runner", "rollout_fragment_length")
        known = {*self.RULES, *rllib_training_settings(), *sampling}
        for name in settings:
            if name not in known:
                raise unknown_name(f"setting of {self.NAME}", name, known)
        self.env_runners(**{name: settings[name] for name in sampling if name in settings})
        self.training(**{name: settings[name] for name in settings if name not in sampling})
        self.check_settings()
        return self

    def check_settings(self) -> None:
        """Refuse values that cannot be.

        Raises:
            ConfigError: names the setting, its value and what was expected.
        """
        owner = type(self).__name__
        own = {name: getattr(self, name) for name in (*self.RULES, *RLLIB_RULES)}
        check(owner, own, {**RLLIB_RULES, **self.RULES})
        if self.minibatch_size > self.train_batch_size_per_learner:
            expected = f"at most train_batch_size_per_learner, {self.train_batch_size_per_learner}"
            raise ConfigError(f"{owner}.minibatch_size", self.minibatch_size, expected)

    def validate(self) -> None:
        """Refuse settings that cannot be, ours and RLlib's.

        Raises:
            ConfigError: a setting of ours, or more than one learner.
            ValueError: a setting of RLlib's, in its own words.
        """
        self.check_settings()
        super().validate()
        if self.num_learners > 1:
            field = f"{type(self).__name__}.num_learners"
            raise ConfigError(field, self.num_learners, "0 or 1: batches are not divided")

    def get_default_rl_module_spec(self) -> RLModuleSpec:
        """Return the networks, with all of our settings as their `model_config`."""
        given = {name: getattr(self, name) for name in (*self.RULES, "paper_hidden")}
        return RLModuleSpec(module_class=self.MODULE, model_config=given)

    def get_default_learner_class(self) -> type:
        """Return the losses."""
        return self.LEARNER


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


def rllib_training_settings() -> tuple[str, ...]:
    """Return the settings that the `training` of RLlib's PPO takes."""
    return tuple(
        name
        for owner in (RLlibPPOConfig, AlgorithmConfig)
        for name, parameter in signature(owner.training).parameters.items()
        if name != "self" and parameter.kind is parameter.KEYWORD_ONLY
    )
