"""The algorithms by name: what `rolecast compare` and its experiments call them."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from rolecast.core.errors import unknown_name

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "comix": "rolecast.baselines.comix.config:COMIXConfig",
        "covdn": "rolecast.baselines.comix.config:COVDNConfig",
        "ddpg": "rolecast.baselines.ddpg.config:DDPGConfig",
        "facmac": "rolecast.baselines.facmac.config:FACMACConfig",
        "g2anet": "rolecast.baselines.g2anet.config:G2ANetConfig",
        "iddpg": "rolecast.baselines.maddpg.config:IDDPGConfig",
        "intrinsic_ppo": "rolecast.baselines.intrinsic_ppo.config:IntrinsicPPOConfig",
        "ippo": "rolecast.baselines.ppo.config:IPPOConfig",
        "iql": "rolecast.baselines.qmix.config:IQLConfig",
        "isac": "rolecast.baselines.masac.config:ISACConfig",
        "maddpg": "rolecast.baselines.maddpg.config:MADDPGConfig",
        "mappo": "rolecast.baselines.ppo.config:MAPPOConfig",
        "masac": "rolecast.baselines.masac.config:MASACConfig",
        "matd3": "rolecast.baselines.matd3.config:MATD3Config",
        "ppo": "rolecast.baselines.ppo.config:PPOConfig",
        "qmix": "rolecast.baselines.qmix.config:QMIXConfig",
        "sac": "rolecast.baselines.sac.config:SACConfig",
        "td3": "rolecast.baselines.td3.config:TD3Config",
        "vdn": "rolecast.baselines.qmix.config:VDNConfig",
    }
)
"""Name to where its config class is; only what is asked for is imported, as each loads RLlib."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmFacts:
    """Facts about an algorithm that are told without loading RLlib."""

    summary: str
    """Description in one line."""

    teams: bool = True
    """Whether it takes tasks of several agents."""

    discrete: bool = False
    """Whether it needs Discrete actions of every agent."""

    suited: bool = False
    """Whether its defaults depend on the length of episodes; see `TeamConfig.suit`."""


ALGORITHM_FACTS: Final[Mapping[str, AlgorithmFacts]] = MappingProxyType(
    {
        "comix": AlgorithmFacts(
            summary="QMIX for continuous actions, by the cross-entropy method", suited=True
        ),
        "covdn": AlgorithmFacts(
            summary="VDN for continuous actions, by the cross-entropy method", suited=True
        ),
        "ddpg": AlgorithmFacts(summary="deep deterministic policy gradient", teams=False),
        "facmac": AlgorithmFacts(
            summary="actor-critic with a factored central critic", suited=True
        ),
        "g2anet": AlgorithmFacts(
            summary="MADDPG whose agents attend to each other as they act", suited=True
        ),
        "iddpg": AlgorithmFacts(
            summary="independent DDPG: each agent has its own critic", suited=True
        ),
        "intrinsic_ppo": AlgorithmFacts(summary="PPO with a learned intrinsic reward"),
        "ippo": AlgorithmFacts(summary="independent PPO: each agent has its own critic"),
        "iql": AlgorithmFacts(summary="independent Q-learning", discrete=True),
        "isac": AlgorithmFacts(
            summary="independent SAC: each agent has its own critics", suited=True
        ),
        "maddpg": AlgorithmFacts(summary="DDPG with a central critic for each agent", suited=True),
        "mappo": AlgorithmFacts(summary="PPO with a central critic"),
        "masac": AlgorithmFacts(summary="soft actor-critic with a central critic", suited=True),
        "matd3": AlgorithmFacts(summary="TD3 with a central critic", suited=True),
        "ppo": AlgorithmFacts(summary="proximal policy optimisation"),
        "qmix": AlgorithmFacts(summary="Q-learning with a monotonic mixer", discrete=True),
        "sac": AlgorithmFacts(summary="soft actor-critic", teams=False),
        "td3": AlgorithmFacts(summary="twin delayed DDPG", teams=False),
        "vdn": AlgorithmFacts(summary="Q-learning with the sum of utilities", discrete=True),
    }
)
"""Facts by name; a test compares them with the config classes."""


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
