"""What rolecast is compared with: RLlib algorithms, other optimisers of many dimensions.

Each algorithm's config is a name here, imported when it is asked for: `from rolecast.baselines
import TD3Config`.
"""

from typing import Any

from rolecast.baselines.registry import ALGORITHMS, algorithm_config

_CONFIG_NAMES = {place.partition(":")[2]: name for name, place in ALGORITHMS.items()}

__all__ = sorted(_CONFIG_NAMES)


def __getattr__(name: str) -> Any:
    if name in _CONFIG_NAMES:
        return algorithm_config(_CONFIG_NAMES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_CONFIG_NAMES)
