"""Optimisers by name: read-only tables here, third parties by entry point."""

from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError, unknown_name
from rolecast.platform.optimizers.cmaes import CmaesConfig
from rolecast.platform.optimizers.dss_gp_ucb.config import DssGpUcbConfig
from rolecast.platform.optimizers.gp_ucb import GpUcbConfig
from rolecast.platform.optimizers.local_gp.config import LocalGpConfig
from rolecast.platform.optimizers.protocol import Optimizer, OptimizerConfig
from rolecast.platform.optimizers.random import RandomConfig

ENTRY_POINTS: Final = "rolecast.optimizers"
"""Group of entry points that name further config classes."""

OPTIMIZERS: Final[Mapping[str, type[OptimizerConfig]]] = MappingProxyType(
    {
        "dss_gp_ucb": DssGpUcbConfig,
        "local_gp": LocalGpConfig,
        "gp_ucb": GpUcbConfig,
        "cmaes": CmaesConfig,
        "random": RandomConfig,
    }
)
"""The project's own, and yardsticks."""

BASELINES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "turbo": "rolecast.baselines.hdbo.turbo:TurboConfig",
        "logei": "rolecast.baselines.hdbo.plain_gp:LogEiConfig",
        "linebo": "rolecast.baselines.hdbo.linebo:LineBoConfig",
        "alebo": "rolecast.baselines.hdbo.alebo:AleboConfig",
        "baxus": "rolecast.baselines.hdbo.baxus:BaxusConfig",
        "saasbo": "rolecast.baselines.hdbo.saasbo:SaasboConfig",
        "treebo": "rolecast.baselines.hdbo.treebo:TreeboConfig",
        "rducb": "rolecast.baselines.hdbo.rducb:RducbConfig",
        "gibo": "rolecast.baselines.hdbo.gibo:GiboConfig",
        "pgpe": "rolecast.baselines.evolution.pgpe:PgpeConfig",
        "snes": "rolecast.baselines.evolution.snes:SnesConfig",
        "openai_es": "rolecast.baselines.evolution.openai_es:OpenAiEsConfig",
        "ars": "rolecast.baselines.evolution.ars:ArsConfig",
    }
)
"""Competitors: name to where the config class is, imported when first asked for."""


def optimizer_names() -> list[str]:
    """Return all names, of this project and of installed third parties."""
    installed = (entry.name for entry in entry_points(group=ENTRY_POINTS))
    return sorted({*OPTIMIZERS, *BASELINES, *installed})


def optimizer_config_class(name: str) -> type[OptimizerConfig]:
    """Return the config class of a name.

    Raises:
        RequestError: no optimiser has this name; offers the nearest.
    """
    if name in OPTIMIZERS:
        return OPTIMIZERS[name]
    if name in BASELINES:
        found: type[OptimizerConfig] = EntryPoint(name, BASELINES[name], ENTRY_POINTS).load()
        return found
    for entry in entry_points(group=ENTRY_POINTS, name=name):
        loaded: type[OptimizerConfig] = entry.load()
        return loaded
    raise unknown_name("optimizer", name, optimizer_names())


def optimizer_config(name: str, **settings: Any) -> OptimizerConfig:
    """Build the config of an optimiser.

    Args:
        name: from `optimizer_names()`.
        settings: fields of its config class.
    Raises:
        RequestError: unknown name or setting, with the nearest, or a value out of range.
    """
    config_class = optimizer_config_class(name)
    known = [field.name for field in fields(config_class)]  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            raise unknown_name(f"setting of optimizer {name!r}", setting, known)
    return config_class(**settings)


def make_optimizer(name: str, *, dimension: int, seed: int = 0, **settings: Any) -> Optimizer:
    """Build an ask/tell optimiser of the unit cube, for any black box.

    Args:
        name: from `optimizer_names()`.
        dimension: D.
        seed: of all its random choices.
        settings: fields of its config class.
    Raises:
        RequestError: unknown name or setting, with the nearest, or a value out of range.
    Example:
        >>> optimizer = make_optimizer("random", dimension=3, seed=1)
        >>> optimizer.ask(2).shape
        (2, 3)
    """
    for field, value, least in (("dimension", dimension, 1), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise ConfigError(field, value, f"an integer >= {least}")
    return optimizer_config(name, **settings).build(dimension=int(dimension), seed=int(seed))
