"""The algorithms by name: what `rolecast compare` and its experiments call them."""

from collections.abc import Mapping
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
        "iddpg": "rolecast.baselines.maddpg.config:IDDPGConfig",
        "intrinsic_ppo": "rolecast.baselines.intrinsic_ppo.config:IntrinsicPPOConfig",
        "ippo": "rolecast.baselines.ppo.config:IPPOConfig",
        "iql": "rolecast.baselines.qmix.config:IQLConfig",
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
