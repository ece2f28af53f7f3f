"""Settings of IQL, VDN and QMIX, and the algorithms that they build."""

from types import MappingProxyType
from typing import ClassVar, Final, Self

from ray.rllib.algorithms.algorithm_config import AlgorithmConfig

from rolecast.baselines.qmix.learner import ChoiceLearner
from rolecast.baselines.qmix.module import ChoiceModule
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.teams import MixingSettings, TeamConfig
from rolecast.core.validation import (
    POSITIVE_INTEGER,
    UNIT_INTERVAL,
    Rules,
    one_of,
    without,
)

UNREAD_SETTINGS: Final = (
    "actor_lr",
    "critic_hidden",
    "random_steps",
    "exploration_noise",
    "noise_process",
)
"""Settings of other team learners: here is no actor, no critic, and no noise on actions."""


class QMIXConfig(MixingSettings, TeamConfig):
    """QMIX for tasks whose agents choose among the same few actions.

    Example:
        >>> config = QMIXConfig().environment("pettingzoo:mpe2.simple_spread_v3?N=3")
        >>> config.mixer
        'monotonic'
    """

    NAME = "qmix"
    DISCRETE = True
    MODULE = ChoiceModule
    LEARNER = ChoiceLearner
    RULES: ClassVar[Rules] = MappingProxyType(
        {
            **without(TeamConfig.RULES, *UNREAD_SETTINGS),
            "mixer": one_of("monotonic", "sum", "none"),
            **MixingSettings.RULES,
            "epsilon_steps": POSITIVE_INTEGER,
            "final_epsilon": UNIT_INTERVAL,
        }
    )

    mixer: str
    """Way from utilities to one value: "monotonic" (QMIX), "sum" (VDN), or "none" (IQL)."""

    epsilon_steps: int
    """Env steps in which the share of uniform choices falls from 1 to `final_epsilon`."""

    final_epsilon: float
    """Share of uniform choices from then on."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or QMIX)
        greedy = AlgorithmConfig.overrides(explore=False)  # type: ignore[no-untyped-call]  # RLlib's
        self.evaluation(evaluation_config=greedy)
        self.mixer = "monotonic"
        self.mixing_embedding = 32
        self.mixing_hypernet = 64
        self.epsilon_steps = 50_000
        self.final_epsilon = 0.05
        self.gamma = 0.99
        self.actor_lr = self.critic_lr = 5e-4
        self.grad_clip = 10.0

    def suit(self, horizon: int) -> Self:
        """Keep the settings, which were published for episodes of any length."""
        self.suited = True
        return self


class QMIX(OffPolicy):
    """RLlib's Algorithm of QMIX."""

    CONFIG = QMIXConfig


class VDNConfig(QMIXConfig):
    """VDN: QMIX whose joint value is the sum of the utilities.

    Example:
        >>> VDNConfig().mixer
        'sum'
    """

    NAME = "vdn"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or VDN)
        self.mixer = "sum"


class VDN(OffPolicy):
    """RLlib's Algorithm of VDN."""

    CONFIG = VDNConfig


class IQLConfig(QMIXConfig):
    """Independent Q-learning: each agent learns the value of its own choice from its own reward.

    With one agent it is double Q-learning (DQN).

    Example:
        >>> IQLConfig().environment("gym:CartPole-v1").mixer
        'none'
    """

    NAME = "iql"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or IQL)
        self.mixer = "none"


class IQL(OffPolicy):
    """RLlib's Algorithm of independent Q-learning."""

    CONFIG = IQLConfig
