"""What the learners of teams share: defaults, their authors' settings, and the team's reward."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from rolecast.baselines.rllib.algorithm import OffPolicyConfig
from rolecast.baselines.rllib.learner import Net, OffPolicyLearner
from rolecast.core.validation import NOT_NEGATIVE, POSITIVE_NUMBER, Rules

AUTHORS_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "predator_prey": MappingProxyType(
            {
                "gamma": 0.85,
                "actor_lr": 0.01,
                "critic_lr": 0.01,
                "adam_epsilon": 0.01,
                "grad_clip": 0.5,
                "tau": 0.001,
                "train_batch_size_per_learner": 800,
                "updates_per_step": 0.04,
                "replay_capacity": 125_000,
                "noise_process": "gaussian",
                "exploration_noise": 0.1,
                "random_steps": 0,
                "num_steps_sampled_before_learning_starts": 800,
            }
        ),
        "mujoco": MappingProxyType(
            {
                "gamma": 0.99,
                "actor_lr": 0.001,
                "critic_lr": 0.001,
                "adam_epsilon": 0.01,
                "grad_clip": 0.5,
                "tau": 0.001,
                "train_batch_size_per_learner": 100,
                "updates_per_step": 1.0,
                "replay_capacity": 1_000_000,
                "noise_process": "gaussian",
                "exploration_noise": 0.1,
                "random_steps": 10_000,
                "num_steps_sampled_before_learning_starts": 1_000,
                "critic_hidden": (400, 400),
            }
        ),
    }
)
"""Settings that the authors of FACMAC ran all four methods with, by kind of task: for `training`.

Policies of MuJoCo tasks were 400-400, which is `size="xl"`. Source: the code published with Peng et
al. (2021), configurations `*_pp` and `*_mamujoco`; 32 episodes of 25 steps are a batch of 800.
"""

LONG_HORIZON: Final = 100
"""Steps beyond which episodes are long: too long for predator-prey's discount, 0.85, which halves
what comes 4 steps later."""


class TeamConfig(OffPolicyConfig):
    """Settings of an off-policy learner for teams.

    Updates are smaller and more frequent than by the authors' settings for predator-prey. They
    use as many transitions for each env step. Exploration has correlated noise. With independent
    noise, an untrained team meets no prey in 99 of 100 episodes.
    """

    TEAMS = True
    RULES: ClassVar[Rules] = MappingProxyType(
        {**OffPolicyConfig.RULES, "adam_epsilon": POSITIVE_NUMBER}
    )

    adam_epsilon: float
    """Epsilon of Adam; a large one, such as 0.01, shortens the steps of small gradients."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults that all share."""
        super().__init__(algo_class)
        self.num_envs_per_env_runner = 8
        self.train_batch_size_per_learner = 256
        self.updates_per_step = 0.125
        self.gamma = 0.85
        self.actor_lr = self.critic_lr = 1e-3
        self.adam_epsilon = 1e-8
        self.grad_clip: Any = 0.5
        self.tau = 0.01
        self.noise_process = "ornstein_uhlenbeck"
        self.exploration_noise = 0.3
        self.random_steps = 0
        self.num_steps_sampled_before_learning_starts = 1000
        self.paper_hidden = self.critic_hidden = (64, 64)

    def suit(self, horizon: int) -> Self:
        """Take the settings that the authors had for tasks of about this length.

        Args:
            horizon: of the task, in steps; up to `LONG_HORIZON` the defaults stay, beyond it those
                for MuJoCo's bodies hold.
        """
        if horizon <= LONG_HORIZON:
            return self
        self.paper_hidden = (400, 400)
        return self.training(**AUTHORS_SETTINGS["mujoco"])


class TeamLearner(OffPolicyLearner[Net]):
    """An off-policy learner whose optimisers have an epsilon of their own."""

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register one Adam for each parameter group."""
        super().configure_optimizers_for_module(module_id, config)
        for optimizer, _ in self._groups.values():
            for group in optimizer.param_groups:
                group["eps"] = self.config.adam_epsilon


ACTION_PENALTY: Final[Rules] = MappingProxyType({"action_penalty": NOT_NEGATIVE})
"""Setting of learners with an actor: weight of its mean squared action in its loss."""
