"""Loggers by name, for `--log`."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from rolecast.core.errors import RequestError, require_known
from rolecast.core.lazy_table import LazyTable
from rolecast.platform.search.loggers.protocol import TrialCallback

_ALWAYS_WRITTEN: Final = "tensorboard"
"""Written whatever is asked for: reports read a search's diagnostics from it."""

LOGGER_TABLE: Final = LazyTable[type[TrialCallback]](
    {
        "mlflow": "rolecast.platform.search.loggers.mlflow:MlflowLogger",
        "wandb": "rolecast.platform.search.loggers.wandb:WandbLogger",
    }
)
"""By name, which is also that of the package that a logger needs, and of the extra."""


def named_loggers(names: Sequence[str]) -> list[TrialCallback]:
    """Return the loggers of names, new ones.

    Raises:
        RequestError: a name is unknown, or its package is not installed.
    """
    wanted = [each.strip() for each in names]
    require_known("logger", wanted, {*LOGGER_TABLE, _ALWAYS_WRITTEN})
    for name in wanted:
        if name in LOGGER_TABLE and find_spec(name) is None:
            raise RequestError(
                f"logger {name!r} needs the package {name}; "
                f"expected it installed: pip install 'rolecast[{name}]'"
            )
    return [LOGGER_TABLE[name]() for name in dict.fromkeys(wanted) if name in LOGGER_TABLE]
