"""Settings of off-policy algorithms, in RLlib's own form of a config."""

from collections.abc import Mapping
from inspect import signature
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from rolecast.baselines.joint.module import JointModule
from rolecast.baselines.joint.networks import SIZES
from rolecast.baselines.joint.runner import JointEnvRunner
from rolecast.baselines.rules import (
    COUNT,
    COUNT_OR_ZERO,
    FLAG,
    FRACTION,
    NOT_NEGATIVE,
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
        "train_batch_size_per_learner": COUNT,
        "num_envs_per_env_runner": COUNT,
        "rollout_fragment_length": COUNT,
    }
)
"""RLlib's own settings that matter here, and that are checked as ours are."""

TRAINING: Final = ("gamma", "grad_clip", "lr", "train_batch_size_per_learner")
"""Those of RLlib's own `training` that mean something to these learners."""


class OffPolicyConfig(AlgorithmConfig):
    """What all off-policy algorithms here can be told; a method adds its own to `RULES`.

    Set by `training(...)`, as RLlib's are; checked when the algorithm is built.
    """

    NAME: ClassVar[str]
    """Name in `rolecast.baselines.registry`."""

    TEAMS: ClassVar[bool] = False
    """Whether the method takes tasks of several agents."""

    MODULE: ClassVar[type[JointModule]]
    """The networks."""

    LEARNER: ClassVar[type]
    """The losses."""

    RULES: ClassVar[Rules] = MappingProxyType(
        {
            "size": one_of(*SIZES),
            "hidden": WIDTHS,
            "critic_hidden": WIDTHS,
            "actor_lr": POSITIVE,
            "critic_lr": POSITIVE,
            "tau": FRACTION,
            "policy_delay": COUNT,
            "noise_process": one_of("gaussian", "ornstein_uhlenbeck"),
            "exploration_noise": NOT_NEGATIVE,
            "random_steps": COUNT_OR_ZERO,
            "num_steps_sampled_before_learning_starts": COUNT_OR_ZERO,
            "updates_per_step": POSITIVE,
            "replay_capacity": COUNT,
            "replay_in_checkpoints": FLAG,
        }
    )
    """Every setting that is ours, and the values it may have."""

    size: str
    """Of the policy's network, one of `SIZES`: "small", "paper", "xl"."""

    hidden: tuple[int, ...] | None
    """Widths of the policy's hidden layers, instead of those of `size`; None for these."""

    paper_hidden: tuple[int, ...]
    """Widths of the policy of the algorithm's authors."""

    critic_hidden: tuple[int, ...]
    """Widths of the critics' hidden layers; None for the default of the method."""

    actor_lr: float
    """Learning rate of the policy."""

    critic_lr: float
    """Learning rate of the critics."""

    tau: float
    """Share of the distance that targets move at each update of theirs."""

    policy_delay: int
    """Critic updates for each update of the policy and the targets."""

    noise_process: str
    """Noise on actions while sampling: "gaussian", or "ornstein_uhlenbeck"."""

    exploration_noise: float
    """Its deviation, in the unit of actions, which lie in [-1, 1]."""

    random_steps: int
    """Env steps at the start whose actions are uniform."""

    num_steps_sampled_before_learning_starts: int
    """Env steps before the first update."""

    updates_per_step: float
    """Updates for each env step from then on; a joint step of n agents is one."""

    replay_capacity: int
    """Transitions that the replay keeps."""

    replay_in_checkpoints: bool
    """Whether checkpoints hold the replay; without it a restored run begins to fill a new one."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults.

        Args:
            algo_class: the algorithm to build; None for `OffPolicy`.
        """
        from rolecast.baselines.joint.algorithm import OffPolicy

        super().__init__(algo_class=algo_class or OffPolicy)
        self.env_runner_cls: Any = JointEnvRunner
        self.num_env_runners = 0
        self.num_envs_per_env_runner = 1
        self.rollout_fragment_length = 8
        self.min_sample_timesteps_per_iteration = 1000
        self.train_batch_size_per_learner = 256
        self.gamma = 0.99
        self.size = "paper"
        self.hidden = None
        self.paper_hidden = (256, 256)
        self.critic_hidden = (256, 256)
        self.actor_lr = self.critic_lr = 3e-4
        self.tau = 0.005
        self.policy_delay = 1
        self.noise_process = "gaussian"
        self.exploration_noise = 0.1
        self.random_steps = 1000
        self.num_steps_sampled_before_learning_starts = 1000
        self.updates_per_step = 1.0
        self.replay_capacity = 1_000_000
        self.replay_in_checkpoints = True

    def training(self, **settings: Any) -> Self:
        """Set what concerns learning.

        Args:
            settings: fields of this class, or what RLlib's own `training` takes, of which `gamma`,
                `grad_clip` and `train_batch_size_per_learner` matter here, and `lr`, which is that
                of policy and critics where they are given none of their own.

        Raises:
            RequestError: there is no such setting; names the nearest.
        """
        known = {*self.RULES, *signature(AlgorithmConfig.training).parameters} - {"self"}
        for name in settings:
            if name not in known:
                raise unknown_name(f"setting of {self.NAME}", name, known)
        super().training(**{name: settings[name] for name in settings if name not in self.RULES})
        if "lr" in settings:
            self.actor_lr = self.critic_lr = settings["lr"]
        for name in self.RULES:
            if name in settings:
                setattr(self, name, settings[name])
        return self

    def tuned(self, settings: Mapping[str, Any]) -> Self:
        """Set by name what a comparison may change: `training`'s, and how episodes are sampled.

        Raises:
            RequestError: there is no such setting, or its value cannot be.
        """
        sampling = ("num_envs_per_env_runner", "rollout_fragment_length")
        known = {*self.RULES, *TRAINING, *sampling}
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
        own = {name: getattr(self, name) for name in (*self.RULES, *RLLIB_RULES)}
        check(type(self).__name__, own, {**RLLIB_RULES, **self.RULES})

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
