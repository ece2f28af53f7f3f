"""What the learners of teams share: defaults and their authors' settings."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from torch import nn

from rolecast.baselines.rllib.algorithm import OffPolicyConfig
from rolecast.baselines.rllib.environments import task_of
from rolecast.baselines.rllib.learner import Net, OffPolicyLearner
from rolecast.core.errors import ConfigError
from rolecast.core.validation import (
    BOOLEAN_VALUE,
    COUNT_OR_ZERO,
    NOT_NEGATIVE,
    POSITIVE_INTEGER,
    POSITIVE_NUMBER,
    Rules,
)

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
"""Settings that the authors of FACMAC ran all four methods with, by kind of task.

Policies of MuJoCo tasks were 400-400, which is `size="xl"`. Source: the code published with Peng et
al. (2021), configurations `*_pp` and `*_mamujoco`; 32 episodes of 25 steps are a batch of 800.
"""

SHORT_HORIZON: Final = 25
"""Steps of an episode of predator-prey, for which the default discount 0.85 was chosen."""

DISCOUNTED_PART: Final = (1.0 - 0.85) * SHORT_HORIZON
"""(1 - gamma) times the horizon there, without a unit."""

LONG_HORIZON: Final = 100
"""Steps beyond which episodes are long, and settings are those of the authors for MuJoCo."""


class TeamConfig(OffPolicyConfig):
    """Settings of an off-policy learner for teams.

    Updates are smaller and more frequent than by the authors' settings for predator-prey. They
    use as many transitions for each env step. Exploration has correlated noise. With independent
    noise, an untrained team meets no prey in 99 of 100 episodes.
    """

    TEAMS = True
    RULES: ClassVar[Rules] = MappingProxyType(
        {
            **OffPolicyConfig.RULES,
            "adam_epsilon": POSITIVE_NUMBER,
            "use_state": BOOLEAN_VALUE,
            "agent_id": BOOLEAN_VALUE,
            "share_policy": BOOLEAN_VALUE,
            "symmetries": BOOLEAN_VALUE,
        }
    )

    REFUSED_OPTIONS: ClassVar[tuple[str, ...]] = ()
    """Options of a policy that the method's cannot have: `agent_id`, `share_policy`."""

    suited: bool
    """Whether the settings suit the task's horizon already; set by `suit`."""

    use_state: bool
    """Input of centralised critics and mixers: the task's state, where it has one. False: all
    observations, laid end to end."""

    agent_id: bool
    """Whether the policy reads which agent it acts for, as n numbers beside the observation."""

    share_policy: bool
    """Whether all agents act with one network; otherwise each has one of its own."""

    symmetries: bool
    """Whether each transition of a batch is mapped by a symmetry that the task declares, drawn
    anew. Critics and mixers then read observations: a task's state has no declared symmetries."""

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
        self.suited = False
        self.adam_epsilon = 1e-8
        self.use_state = True
        self.agent_id = False
        self.share_policy = True
        self.symmetries = False
        self.grad_clip: Any = 0.5
        self.tau = 0.01
        self.noise_process = "ornstein_uhlenbeck"
        self.exploration_noise = 0.3
        self.random_steps = 0
        self.num_steps_sampled_before_learning_starts = 1000
        self.paper_hidden = self.critic_hidden = (64, 64)

    @classmethod
    def authors_settings(cls, kind: str) -> dict[str, Any]:
        """Return the settings of `AUTHORS_SETTINGS` that this method has: for `training`.

        Args:
            kind: of task: "predator_prey" or "mujoco".
        """
        given = AUTHORS_SETTINGS[kind]
        return {name: given[name] for name in given if name in (*cls.RULES, *cls.TUNED)}

    @property
    def reads_state(self) -> bool:
        """Whether critics and mixers read the task's state."""
        return self.use_state and not self.symmetries

    def suit(self, horizon: int) -> Self:
        """Take settings for episodes of this length, but for what the user has set.

        Up to 25 steps, predator-prey's, the defaults hold. Up to `LONG_HORIZON` the discount alone
        rises: gamma = 1 - `DISCOUNTED_PART` / horizon, so that 1 / (1 - gamma) is the same part of
        an episode as in predator-prey. Beyond, settings are the authors' for MuJoCo.

        Args:
            horizon: of the task, in steps. A task without one states the most steps that an episode
                may take: how long random episodes last says little about those of a good policy.
        """
        if horizon > LONG_HORIZON:
            self._default_to(self.authors_settings("mujoco"))
            self._default_to({"paper_hidden": (400, 400)})
        elif horizon > SHORT_HORIZON:
            self._default_to({"gamma": 1.0 - DISCOUNTED_PART / horizon})
        self.suited = True
        return self

    def validate(self) -> None:
        """Suit the task, then refuse settings that cannot be; see `NamedSettings.validate`."""
        if self.env is not None and not self.suited:
            task = task_of(self.env, self.env_config)
            task.close()
            self.suit(task.spec.horizon)
        super().validate()

    def check_settings(self) -> None:
        """Refuse values that cannot be.

        Raises:
            ConfigError: names the setting, its value and what was expected.
        """
        super().check_settings()
        usual = {"agent_id": False, "share_policy": True}
        for name in self.REFUSED_OPTIONS:
            if getattr(self, name) != usual[name]:
                field = f"{type(self).__name__}.{name}"
                raise ConfigError(
                    field, getattr(self, name), f"{usual[name]}: {self.NAME} has no other policy"
                )

    def _default_to(self, settings: Mapping[str, Any]) -> None:
        """Set what `training` was not told and nobody else has changed from the default."""
        defaults: Any = type(self)()
        for name, value in settings.items():
            kept = name in self.given_settings or getattr(self, name) != getattr(defaults, name)
            if not kept:
                setattr(self, name, value)


class ActionPenalty:
    """Setting of learners with a deterministic actor."""

    RULES: ClassVar[Rules] = MappingProxyType({"action_penalty": NOT_NEGATIVE})

    action_penalty: float
    """Weight of the mean squared action in the policy's loss."""


class MixingSettings:
    """Settings of a mixing network; which mixers there are is the method's."""

    RULES: ClassVar[Rules] = MappingProxyType(
        {"mixing_embedding": POSITIVE_INTEGER, "mixing_hypernet": COUNT_OR_ZERO}
    )

    mixing_embedding: int
    """Hidden units of the mixing network."""

    mixing_hypernet: int
    """Hidden units between the state and the mixing weights; 0 for a linear map."""


class TeamLearner(OffPolicyLearner[Net]):
    """An off-policy learner whose optimisers have an epsilon of their own."""

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """Register one Adam for each parameter group."""
        super().configure_optimizers_for_module(module_id, config)
        for optimizer, _ in self._groups.values():
            for group in optimizer.param_groups:
                group["eps"] = self.config.adam_epsilon


class ValueLearner(TeamLearner[Net]):
    """A team learner without an actor's loss: agents act by the utilities that it learns."""

    def parameter_groups(self) -> dict[str, tuple[Sequence[nn.Parameter], float]]:
        """Return utility and mixer as one group."""
        net = self.net
        both = [*net.actor.parameters(), *net.critic.parameters()]
        return {"critic": (both, self.config.critic_lr)}
