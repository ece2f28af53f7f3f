"""Settings of COMIX and of COVDN, whose mixer is a sum, and the algorithms that they build."""

from types import MappingProxyType
from typing import ClassVar

from rolecast.baselines.comix.learner import COMIXLearner
from rolecast.baselines.comix.module import COMIXModule
from rolecast.baselines.rllib.algorithm import OffPolicy
from rolecast.baselines.rllib.cross_entropy import CrossEntropySettings
from rolecast.baselines.teams import MixingSettings, TeamConfig
from rolecast.core.errors import ConfigError
from rolecast.core.validation import POSITIVE_INTEGER, Rules, at_least, one_of, without


class COMIXConfig(MixingSettings, TeamConfig):
    """COMIX: what acts is a utility of observation and action, in which each agent searches.

    Example:
        >>> config = COMIXConfig().environment("pred_prey_3").training(cem_samples=32)
        >>> config.cem_elites
        6
    """

    NAME = "comix"
    MODULE = COMIXModule
    LEARNER = COMIXLearner
    REFUSED_OPTIONS = ("agent_id", "share_policy")
    RULES: ClassVar[Rules] = MappingProxyType(
        {
            **without(TeamConfig.RULES, "actor_lr", "critic_hidden"),
            "mixer": one_of("monotonic", "sum"),
            **MixingSettings.RULES,
            "cem_samples": POSITIVE_INTEGER,
            "cem_elites": at_least(2),
            "cem_iterations": POSITIVE_INTEGER,
        }
    )

    mixer: str
    """How utilities become one value; one that each agent can maximise for itself."""

    cem_samples: int
    """Actions tried in each round of the search for the best."""

    cem_elites: int
    """Best of them, to which the next round is fitted."""

    cem_iterations: int
    """Rounds."""

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or COMIX)
        search = CrossEntropySettings()
        self.cem_samples = search.samples
        self.cem_elites = search.elites
        self.cem_iterations = search.iterations
        self.mixer = "monotonic"
        self.mixing_embedding = 64
        self.mixing_hypernet = 64

    def check_settings(self) -> None:
        """Refuse values that cannot be.

        Raises:
            ConfigError: names the setting, its value and what was expected.
        """
        super().check_settings()
        if self.cem_elites > self.cem_samples:
            field = f"{type(self).__name__}.cem_elites"
            raise ConfigError(field, self.cem_elites, f"at most cem_samples, {self.cem_samples}")


class COMIX(OffPolicy):
    """RLlib's Algorithm of COMIX."""

    CONFIG = COMIXConfig


class COVDNConfig(COMIXConfig):
    """COVDN: COMIX whose joint value is the sum of the utilities.

    Example:
        >>> COVDNConfig().environment("pred_prey_3").mixer
        'sum'
    """

    NAME = "covdn"

    def __init__(self, algo_class: type | None = None) -> None:
        """Set the defaults."""
        super().__init__(algo_class or COVDN)
        self.mixer = "sum"


class COVDN(OffPolicy):
    """RLlib's Algorithm of COVDN."""

    CONFIG = COVDNConfig
