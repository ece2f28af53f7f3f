"""Settings of off-policy algorithms, in RLlib's own form of a config."""

from types import MappingProxyType
from typing import Any, ClassVar, Self

from rolecast.baselines.rllib.networks import SIZES
from rolecast.baselines.rllib.runner import JointEnvRunner
from rolecast.baselines.rllib.settings import NamedSettings
from rolecast.core.validation import (
    COUNT,
    COUNT_OR_ZERO,
    FLAG,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    UNIT,
    WIDTHS,
    Rules,
    one_of,
    or_none,
)


class OffPolicyConfig(NamedSettings):
    """What all off-policy algorithms here can be told; a method adds its own to `RULES`.

    Set by `training(...)`, as RLlib's are; checked when the algorithm is built.
    """

    RULES: ClassVar[Rules] = MappingProxyType(
        {
            "size": one_of(*SIZES),
            "hidden": or_none(WIDTHS),
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
    RLLIB_RULES: ClassVar[Rules] = MappingProxyType(
        {
            "gamma": UNIT,
            "train_batch_size_per_learner": COUNT,
            "num_envs_per_env_runner": COUNT,
            "grad_clip": or_none(POSITIVE),
            "rollout_fragment_length": COUNT,
        }
    )
    TUNED = ("gamma", "grad_clip", "lr", "train_batch_size_per_learner")

    critic_hidden: tuple[int, ...]
    """Widths of the critics' hidden layers."""

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
        from rolecast.baselines.rllib.algorithm import OffPolicy

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
        super().training(**settings)
        if "lr" in settings:
            self.actor_lr = settings.get("actor_lr", settings["lr"])
            self.critic_lr = settings.get("critic_lr", settings["lr"])
        return self
