"""Optimisers by name: read-only tables, and entry points for third parties."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from rolecast.core.errors import ConfigError, RequestError, unknown_name
from rolecast.core.lazy_table import LazyTable, Registry
from rolecast.core.validation import check, one_of, plain
from rolecast.platform.optimizers.protocol import NeedsPolicy, Optimizer, OptimizerConfig

ENTRY_POINTS: Final = "rolecast.optimizers"
"""Entry-point group of config classes of third parties."""

OPTIMIZERS: Final[LazyTable[type[OptimizerConfig]]] = LazyTable(
    {
        "dss_gp_ucb": "rolecast.platform.optimizers.dss_gp_ucb.config:DssGpUcbConfig",
        "local_gp": "rolecast.platform.optimizers.local_gp.config:LocalGpConfig",
        "gp_ucb": "rolecast.platform.optimizers.gp_ucb:GpUcbConfig",
        "duets": "rolecast.platform.optimizers.duets.config:DuetsConfig",
        "cmaes": "rolecast.platform.optimizers.cmaes:CmaesConfig",
        "random": "rolecast.platform.optimizers.random:RandomConfig",
    }
)
"""Config classes of this project's optimisers, with random search and CMA-ES."""

CONFIGURATIONS: Final[Mapping[str, Mapping[str, type[OptimizerConfig]]]] = MappingProxyType(
    {
        "dss_gp_ucb": LazyTable(
            {
                "local": "rolecast.platform.optimizers.dss_gp_ucb.config:DssGpUcbConfig",
                "paper": "rolecast.platform.optimizers.dss_gp_ucb.config:PaperDssGpUcbConfig",
            }
        )
    }
)
"""Config classes of one name, chosen by its setting `configuration`."""

OPTIMIZER_SETTINGS: Final = Path(__file__).with_name("settings.csv")
"""What `told_settings` reads: of all optimisers of this project, in all configurations."""

RENAMED_SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"heed_start": "restart_at_centre", "levelling": "outcome_transform"}
)
"""Old names of settings, accepted for one more release, and their new names."""

BASELINES: Final[LazyTable[type[OptimizerConfig]]] = LazyTable(
    {
        "turbo": "rolecast.baselines.hdbo.turbo:TurboConfig",
        "logei": "rolecast.baselines.hdbo.logei:LogEiConfig",
        "spherical_linear": "rolecast.baselines.hdbo.spherical_linear:SphericalLinearConfig",
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
"""Competitors: name and place of the config class, which is imported on first use."""


CAUSAL_SEARCHES: Final[LazyTable[type[OptimizerConfig]]] = LazyTable(
    {
        "mcbo": "rolecast.platform.optimizers.mcbo.config:McboConfig",
        "eifn": "rolecast.baselines.causal.function_network:EifnConfig",
        "eicbo": "rolecast.baselines.causal.set_processes:EicboConfig",
        "cbo": "rolecast.baselines.causal.set_processes:CboConfig",
        "causal_gp_ucb": "rolecast.baselines.causal.reward_process:CausalGpUcbConfig",
        "causal_random": "rolecast.baselines.causal.uniform:CausalRandomConfig",
    }
)
"""Searches of interventions in a causal graph, apart from those of any black box."""


OPTIMIZER_METHODS: Final = ("ask", "tell", "best", "state_dict", "load_state_dict")
"""Of the protocol `Optimizer`."""

_OPTIMIZER_REGISTRY: Final = Registry(
    "optimizer", ENTRY_POINTS, OPTIMIZERS, BASELINES, CAUSAL_SEARCHES
)

optimizer_names = _OPTIMIZER_REGISTRY.names
optimizer_summary = _OPTIMIZER_REGISTRY.summary
optimizer_config_class = _OPTIMIZER_REGISTRY.load


def optimizer_config(name: str, **settings: Any) -> OptimizerConfig:
    """Build the config of an optimiser.

    Args:
        name: from `optimizer_names()`.
        settings: fields of its config class.
    Raises:
        RequestError: unknown name or setting, with the nearest, or a value out of range.
    """
    settings = plain(settings)
    config_class = _chosen_class(name, settings)
    known = setting_names(config_class)
    settings = _with_new_names(settings, known)
    for setting, value in settings.items():
        _require_configuration(name, config_class, setting, value)
        if setting not in known:
            raise unknown_name(f"setting of optimizer {name!r}", setting, known)
    return config_class(**settings)


def setting_names(config_class: type[OptimizerConfig]) -> list[str]:
    """Return the names of the settings of a config class, in their order."""
    return [field.name for field in fields(config_class)]  # type: ignore[arg-type]  # by contract


def with_evaluations(
    name: str, settings: Mapping[str, Any], evaluations: int | None
) -> dict[str, Any]:
    """Return settings with the evaluations of a black box, for an optimiser that plans by them.

    Args:
        name: of the optimiser.
        settings: given by the user; what they say of it holds.
        evaluations: planned; None where nobody knows.
    Raises:
        RequestError: no optimiser has this name, or the settings name no configuration of it.
    """
    planned = evaluations is not None and "evaluations" in setting_names(
        _chosen_class(name, settings)
    )
    return {"evaluations": evaluations, **settings} if planned else dict(settings)


def _with_new_names(settings: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return settings by their new names.

    Raises:
        ConfigError: a setting is given by both of its names.
    """
    renamed: dict[str, Any] = {}
    for setting, value in settings.items():
        name = RENAMED_SETTINGS.get(setting, setting)
        name = name if name in known and setting not in known else setting
        if name != setting and name in settings:
            raise ConfigError(setting, value, f"{name} alone, which is its new name")
        renamed[name] = value
    return renamed


def _chosen_class(name: str, settings: Mapping[str, Any]) -> type[OptimizerConfig]:
    """Return the config class of a name and of its setting `configuration`, where it has one."""
    if name not in CONFIGURATIONS or settings.get("configuration") is None:
        return optimizer_config_class(name)
    classes = CONFIGURATIONS[name]
    rules = {"configuration": one_of(*classes)}
    check(OPTIMIZERS[name].__name__, {"configuration": settings["configuration"]}, rules)
    return classes[settings["configuration"]]


def _require_configuration(
    name: str, config_class: type[OptimizerConfig], setting: str, value: object
) -> None:
    """Refuse a setting that only another configuration of the optimiser has.

    Raises:
        ConfigError: names that configuration.
    """
    if setting in setting_names(config_class):
        return
    for configuration, other in CONFIGURATIONS.get(name, {}).items():
        if setting in setting_names(other):
            field = f"{config_class.__name__}.{setting}"
            expected = f"configuration {configuration!r}, which alone has this setting"
            raise ConfigError(field, value, expected)


def make_optimizer(name: str, *, dimension: int, seed: int = 0, **settings: Any) -> Optimizer:
    """Build an ask/tell optimiser of the unit cube, for any black box.

    Args:
        name: from `optimizer_names()`.
        dimension: D.
        seed: seed of all random choices.
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
    config = optimizer_config(name, **settings)
    if isinstance(config, NeedsPolicy):
        config.require_black_box()
    return checked_optimizer(name, config.build(dimension=int(dimension), seed=int(seed)))


def checked_optimizer(name: str, optimizer: Optimizer) -> Optimizer:
    """Return an optimiser that has all methods of `Optimizer`.

    Raises:
        RequestError: it lacks some; as one of another package may.
    """
    lacking = [each for each in OPTIMIZER_METHODS if not callable(getattr(optimizer, each, None))]
    if lacking:
        raise RequestError(
            f"optimizer {name!r} lacks {', '.join(lacking)}; "
            f"expected the methods {', '.join(OPTIMIZER_METHODS)}"
        )
    return optimizer
