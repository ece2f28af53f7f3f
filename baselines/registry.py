"""The algorithms by name: what `rolecast compare` and its experiments call them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from rolecast.core.errors import unknown_name
from rolecast.envs.spec import TaskSpec

if TYPE_CHECKING:
    from rolecast.baselines.rllib.trial import LearnerTrial  # loads RLlib

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "comix": "rolecast.baselines.comix.config:COMIXConfig",
        "covdn": "rolecast.baselines.covdn.config:COVDNConfig",
        "ddpg": "rolecast.baselines.ddpg.config:DDPGConfig",
        "facmac": "rolecast.baselines.facmac.config:FACMACConfig",
        "intrinsic_ppo": "rolecast.baselines.intrinsic_ppo.config:IntrinsicPPOConfig",
        "maddpg": "rolecast.baselines.maddpg.config:MADDPGConfig",
        "mappo": "rolecast.baselines.ppo.config:MAPPOConfig",
        "ppo": "rolecast.baselines.ppo.config:PPOConfig",
        "sac": "rolecast.baselines.sac.config:SACConfig",
        "td3": "rolecast.baselines.td3.config:TD3Config",
    }
)
"""Name to where its config class is; only what is asked for is imported, as each loads RLlib."""


def algorithm_config(name: str) -> type[Any]:
    """Return the config class of an algorithm, RLlib's `AlgorithmConfig` in its own form.

    Raises:
        RequestError: no algorithm has this name.

    >>> algorithm_config("td3").__name__
    'TD3Config'
    """
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, ALGORITHMS)
    module, _, attribute = ALGORITHMS[name].partition(":")
    found: type[Any] = getattr(import_module(module), attribute)
    return found


@dataclass(frozen=True)
class AlgorithmMethod:
    """An algorithm as a comparison takes it: a `rolecast.platform.tuning.learner.MethodFactory`."""

    name: str

    def check(self, task: TaskSpec, settings: Mapping[str, Any]) -> None:
        """Refuse settings or a task that it cannot have.

        Raises:
            RequestError: an unknown setting, with the nearest, a value out of range, or spaces
                that do not fit.
        """
        from rolecast.baselines.rllib.trial import check_trial

        check_trial(self.name, task, settings)

    def start(
        self, task: str, settings: Mapping[str, Any], *, seed: int, workers: int, env_steps: int
    ) -> "LearnerTrial":
        """Begin a learner.

        Args:
            task: whole id, reward settings included.
            settings: as `check` accepted them.
            seed: of all its random choices.
            workers: processes beside this one that run episodes; 0 runs them here.
            env_steps: its whole budget.
        """
        from rolecast.baselines.rllib.trial import LearnerTrial

        return LearnerTrial(
            self.name, task, settings, seed=seed, workers=workers, env_steps=env_steps
        )


METHODS: Final[Mapping[str, AlgorithmMethod]] = MappingProxyType(
    {name: AlgorithmMethod(name) for name in ALGORITHMS}
)
"""Every algorithm as a learning method of a comparison."""
